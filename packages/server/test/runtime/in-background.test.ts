import { expect, test } from 'vitest';
import { inBackground, onBackgroundError } from '../../src/runtime/in-background.ts';
import { eventually } from '../support/eventually.ts';

test('an error of work that nothing awaits is reported, and ends nothing', async () => {
  const reported: unknown[] = [];
  const stop = onBackgroundError((error) => reported.push(error));
  const error = new Error('the work failed');
  inBackground(Promise.reject(error));
  inBackground(undefined);
  await eventually(() => reported.length > 0);
  expect(reported).toEqual([error]);
  stop();
  inBackground(Promise.reject(error));
  await new Promise(setImmediate);
  expect(reported).toHaveLength(1);
});
