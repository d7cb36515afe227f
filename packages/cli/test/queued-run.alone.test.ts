// `convoke invoke --session` behind a run that waits: it says for what, and which commands end it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunRecord } from '@convoke/sdk';
import { expect, test } from 'vitest';
import { eventually } from '../../server/test/support/eventually.ts';
import { mainPath, manyProcessesMs, openCommandLine, ownEnvironment } from './command-line.ts';

const guide = `schema: 1
name: guide
description: Waits for a message, and then for a person
framework: scripted
script:
  - receive: { name: go, timeout: 1d }
  - ask: { question: "{{answer}}: which way?" }
  - say: "So {{answer}}."
`;

const { server, convoke } = await openCommandLine(async (place) => {
  await mkdir(join(place, 'agents/guide'));
  await writeFile(join(place, 'agents/guide/agent.yaml'), guide);
});

/** The run once this holds of it. */
const runThat = (id: string, holds: (run: RunRecord) => boolean) =>
  eventually(async () => {
    const run = await convoke.json<RunRecord>('runs', 'show', id);
    return holds(run) && run;
  }, manyProcessesMs);

test('a run behind one that waits says for what, and a script leaves it when that needs a person', {
  timeout: 6 * manyProcessesMs,
}, async () => {
  const first = await convoke.json<RunRecord>('invoke', 'guide', 'up', '--detach');
  await runThat(first.id, ({ open_waits: waits }) => waits === 1);
  const words = ['invoke', 'guide', 'down', '--session', first.session_id];
  const second = spawn(process.execPath, [mainPath, ...words], {
    cwd: server.place,
    env: ownEnvironment(convoke.settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(second, 'close') as Promise<[number]>;
  let said = '';
  let answered = '';
  second.stderr.on('data', (text: Buffer) => (said += text.toString()));
  second.stdout.on('data', (text: Buffer) => (answered += text.toString()));
  /** The command that it printed, without its first word and what a person fills in. */
  const printed = (start: string) =>
    eventually(() => {
      const [line] = said.split('\n').filter((each) => each.includes(`: convoke ${start}`));
      return line
        ?.replace(/^.*: convoke /, '')
        .replace(/ …$/, '')
        .split(' ');
    }, manyProcessesMs);

  const signal = await printed('runs signal');
  expect(said).toContain(`queued behind ${first.id}:\n  waits for the message go, until `);
  expect(said).toContain(`cancel it with: convoke runs cancel ${first.id}`);
  expect((await convoke.run([...signal, '--data', '"Left or right"'])).code).toBe(0);

  const answer = await printed('interactions answer');
  expect(answer.at(-1)).toBe('--answer');
  const [code] = await closed;
  expect([code, answered]).toEqual([7, '']);
  const [, left = ''] = /^follow the run with: convoke events \S+ (\S+) --follow/m.exec(said) ?? [];
  expect(await runThat(left, () => true)).toMatchObject({ status: 'queued' });
  expect((await convoke.run([...answer, 'left'])).code).toBe(0);
  expect(await runThat(first.id, ({ status }) => status === 'completed')).toMatchObject({
    output_text: 'So left.',
  });
  // The run that it has left continues.
  await runThat(left, ({ open_waits: waits }) => waits === 1);
  await convoke.json('runs', 'cancel', left);
});
