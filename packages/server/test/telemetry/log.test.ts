import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const { href } = new URL('../../src/telemetry/log.ts', import.meta.url);

/** What a process that runs the code writes to standard error, a parsed and an original line. */
async function lineOf(code: string) {
  const script = `import { createLog } from '${href}'; const log = createLog({ level: 'info' }); ${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const line = await text(child.stderr);
  return { line, parsed: JSON.parse(line) as Record<string, unknown> };
}

test('a field cannot replace what the logger writes by itself', async () => {
  const fields = { level: 'nothing', time: 'never', msg: 'other', err: 'none', uid: 7 };
  const { line, parsed } = await lineOf(
    `log.error('went wrong', new Error('cause'), ${JSON.stringify(fields)})`,
  );
  expect(parsed).toEqual({
    level: 'error',
    time: expect.stringMatching(/^\d{4}-/),
    msg: 'went wrong',
    err: expect.objectContaining({ message: 'cause' }),
    uid: 7,
  });
  // Readers of JSON do not agree on which of two equal keys counts.
  for (const key of Object.keys(parsed)) expect(line.split(`"${key}":`)).toHaveLength(2);
});
