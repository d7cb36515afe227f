// Programs that do not yield, and programs that only take long (D-479), in their real processes.
import { writeFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { readAgentFolder } from '../../../src/agents/agent-folder.ts';
import { temporaryFolder } from '../../support/agent-folders.ts';
import { type OpenStdio, playProgram } from '../stdio/leg.ts';
import { openCode } from './open-code.ts';

let code: OpenStdio;
beforeAll(async () => {
  requireSandbox();
  code = await openCode();
});
afterAll(() => code.close());

async function noticesOf(file: string, text: string) {
  const folder = join(await temporaryFolder(), 'looper');
  await mkdir(folder, { mode: 0o755 });
  await writeFile(join(folder, 'agent.yaml'), 'framework: code\n');
  await writeFile(join(folder, file), text);
  await chmod(folder, 0o755);
  const harnesses = new Map([['code', code.harness]]);
  const read = await readAgentFolder({ folder, name: 'looper', harnesses });
  if (!read.ok) throw new Error(read.reason);
  const { events, end } = await playProgram(code, read.agent, {
    // A program that blocks looks for this file.
    onEvent: (event) => event.type === 'custom' && writeFileSync(join(folder, 'noticed'), ''),
  });
  const notices = events.flatMap((event) => (event.type === 'custom' ? [event.data] : []));
  return { notices, outcome: end?.type === 'end' ? end.outcome : undefined };
}

const inTypeScript = (body: string) =>
  `import { existsSync } from 'node:fs';\nimport { setTimeout as wait } from 'node:timers/promises';\nimport { agent } from '@convoke/agent';\nexport default agent(async (ctx) => {\n${body}\n});\n`;
const inPython = (kind: string, body: string) =>
  `import asyncio, os, time\nfrom convoke_agent import agent\n\n@agent\n${kind} main(ctx):\n    ${body}\n`;
/** Long enough to be named, if it did not answer. */
const ms = 7500;

test('a loop without await is named and continues; one that waits, and a def that blocks, is not', async () => {
  const [loop, blocked, waiting, waitingInPython, def] = await Promise.all([
    noticesOf('agent.ts', inTypeScript('while (!existsSync(import.meta.dirname + "/noticed"));')),
    noticesOf(
      'agent.py',
      inPython(
        'async def',
        'while not os.path.exists(os.path.dirname(__file__) + "/noticed"): pass',
      ),
    ),
    noticesOf('agent.ts', inTypeScript(`await wait(${ms});`)),
    noticesOf('agent.py', inPython('async def', `await asyncio.sleep(${ms / 1000})`)),
    noticesOf('agent.py', inPython('def', `time.sleep(${ms / 1000})`)),
  ]);
  const noticeOf = (file: string) => [
    { message: `${file} has not yielded for 5 s: a loop without await?` },
  ];
  expect(loop).toEqual({ notices: noticeOf('agent.ts'), outcome: 'completed' });
  expect(blocked).toEqual({ notices: noticeOf('agent.py'), outcome: 'completed' });
  for (const quiet of [waiting, waitingInPython, def]) {
    expect(quiet).toEqual({ notices: [], outcome: 'completed' });
  }
});
