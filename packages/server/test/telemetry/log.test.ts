import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const { href } = new URL('../../src/telemetry/log.ts', import.meta.url);

/** What a process that runs the code with a log writes to standard error. */
async function linesOf(code: string, options: { format?: 'text' } = {}) {
  const log = `createLog(${JSON.stringify({ level: 'info', ...options })})`;
  const script = `import { createLog } from '${href}'; const log = ${log}; ${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  return text(child.stderr);
}

test('a field cannot replace what the logger writes on its own', async () => {
  const fields = { level: 'nothing', time: 'never', msg: 'other', err: 'none', uid: 7 };
  const line = await linesOf(
    `log.error('went wrong', new Error('cause'), ${JSON.stringify(fields)})`,
  );
  const parsed = JSON.parse(line) as Record<string, unknown>;
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

test('as text a line has the time, the level, the message and its fields, and an error its stack', async () => {
  const lines = await linesOf(
    `log.info('agent greeter loaded'); log.error('went wrong', new Error('cause'), { run_id: 'run_1' })`,
    { format: 'text' },
  );
  expect(lines).toMatch(
    /^\d\d:\d\d:\d\d info {2}agent greeter loaded\n\d\d:\d\d:\d\d error went wrong \(run_id: run_1\)\n {2}Error: cause\n {6}at /,
  );
});

test('words of an agent control no terminal and turn no text around: they are shown as codes', async () => {
  const fields = { reason: 'a\u001b[2Jb\u009bc\u202ed\ne' };
  const lines = await linesOf(`log.warn('odd', ${JSON.stringify(fields)})`, { format: 'text' });
  expect(lines).toContain('odd (reason: a⟨U+001B⟩[2Jb⟨U+009B⟩c⟨U+202E⟩d⟨U+000A⟩e)\n');
});
