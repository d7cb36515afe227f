import { expect, test } from 'vitest';
import { fitted } from '../src/terminal/table.ts';

const ids = ['run_01m7fy2sxde0090qcfc8ptw3dq', 'run_01m7fy2sxde0090qcfc8ptw3dr'];
const head = ['RUN', 'STATUS', 'AGE', 'PROMPT', 'ERROR'];
const rows = ids.map((id) => [
  id,
  'failed',
  '3 min',
  'Write a very long poem',
  'model_error: refused',
]);

test('a table that fits is shown whole', () => {
  expect(fitted(head, rows, 200)).toEqual([
    'RUN                             STATUS  AGE    PROMPT                  ERROR',
    `${ids[0]}  failed  3 min  Write a very long poem  model_error: refused`,
    `${ids[1]}  failed  3 min  Write a very long poem  model_error: refused`,
  ]);
});

test('a narrow table shortens ids as far as they differ, then cuts texts, and keeps status and age', () => {
  const single = fitted(head, rows.slice(0, 1), 64);
  expect(single).toEqual([
    'RUN             STATUS  AGE    PROMPT           ERROR',
    'run_01m7fy2sxd  failed  3 min  Write a very l…  model_error: re…',
  ]);
  for (const line of single) expect(line.length).toBeLessThanOrEqual(64);
  const both = fitted(head, rows, 78);
  expect(both[1]).toMatch(/^run_01m7fy2sxde0090qcfc8ptw3dq {2}failed {2}3 min {2}Write a/);
  for (const line of both) expect(line.length).toBeLessThanOrEqual(78);
});

test('a terminal that is too narrow for anything gets lines that end in it', () => {
  for (const line of fitted(head, rows, 20)) expect(line.length).toBeLessThanOrEqual(20);
});
