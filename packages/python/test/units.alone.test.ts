import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startPython } from './python.ts';

test('the core decides as it should', async () => {
  const folder = join(import.meta.dirname, 'units');
  const program = startPython(['-m', 'unittest', 'discover', '-s', folder]);
  const [said, [code]] = await Promise.all([text(program.stderr), once(program, 'exit')]);
  expect(said).toMatch(/Ran \d\d tests[^]*OK/);
  expect(code).toBe(0);
});
