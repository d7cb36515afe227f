import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sessionId, tenantId } from '@convoke/contract';
import { expect, onTestFinished, test } from 'vitest';
import { openAgents } from '../../../src/agents/registry.ts';
import { readScript } from '../../../src/harness/scripted/script.ts';
import { openSessionFolders } from '../../../src/session-folders/session-folders.ts';
import { declaringHarness, recordingLog, temporaryFolder } from '../../support/agent-folders.ts';
import { allow, deny, play, say, stateOf, testClock, textOf } from './leg.ts';

const folder = fileURLToPath(new URL('../../../../../agents', import.meta.url));

async function demoAgent(name: string) {
  const log = recordingLog();
  const others = ['ai-sdk', 'code', 'stdio', 'acp', 'claude', 'a2a'];
  const harnesses = new Map([
    ['scripted', { read: readScript }],
    ...others.map((framework) => [framework, declaringHarness] as const),
  ]);
  const agents = await openAgents({
    folder,
    harnesses,
    log,
    watch: false,
  });
  onTestFinished(() => agents.close());
  expect(agents.problems()).toEqual([]);
  const agent = agents.find(name);
  if (agent === undefined) throw new Error(`there is no agent ${name}`);
  const prepared = await openSessionFolders({ dataDir: await temporaryFolder(), log }).prepare({
    tenantId: tenantId('ten_1'),
    sessionId: sessionId('sess_1'),
    agent,
    expected: false,
    files: [],
  });
  if (!prepared.found) throw new Error('no workspace');
  return { agent, prepared, sessionFolder: prepared.sessionFolder };
}

test('demo loads CLAUDE.md, a context file and a skill, without a warning', async () => {
  const { agent, prepared } = await demoAgent('demo');
  expect(agent.sessionFiles).toBe(true);
  expect(prepared).toMatchObject({
    claudeMd: { path: 'CLAUDE.md' },
    contextFiles: [{ path: 'docs/STYLE.md' }],
    skills: {
      skills: [{ name: 'write-note', path: '.agents/skills/write-note' }],
      warnings: [],
    },
  });
});

test('demo greets, asks for a name, asks for permission to write, writes, and thanks by name', async () => {
  const { agent, sessionFolder } = await demoAgent('demo');
  const greeting = await play({ agent, sessionFolder, prompt: 'Hi there' });
  expect(textOf(greeting)).toContain('Hi there');
  expect(greeting).toContainEqual(
    expect.objectContaining({
      type: 'user_question',
      question: 'What should I call you?',
      options: [{ label: 'Captain' }, { label: 'Friend', description: expect.any(String) }],
    }),
  );
  const named = await play({
    agent,
    sessionFolder,
    state: stateOf(greeting),
    answers: { 'step-1': say('Ada') },
  });
  const request = named.find((event) => event.type === 'permission_request');
  expect(request).toMatchObject({
    toolName: 'write_file',
    toolInput: { path: 'outputs/note.txt' },
  });
  const input = request?.toolInput ?? null;
  const thanked = await play({
    agent,
    sessionFolder,
    state: stateOf(named),
    answers: { 'step-3': allow(input) },
  });
  expect(textOf(thanked)).toContain('Thank you, Ada.');
  expect(await readFile(join(sessionFolder, 'outputs/note.txt'), 'utf8')).toBe(
    'Ada was here, in run 1.\n',
  );
  const refused = await play({
    agent,
    sessionFolder,
    state: stateOf(named),
    answers: { 'step-3': deny },
  });
  expect(textOf(refused)).toBe('denied');
});

test('echo repeats the prompt with the number of the run', async () => {
  const { agent } = await demoAgent('echo');
  expect(textOf(await play({ agent, prompt: 'Hi', runNumber: 3 }))).toBe('Hi (run 3)');
});

test('slow takes ten seconds', async () => {
  const { agent } = await demoAgent('slow');
  const clock = testClock();
  await play({ agent, clock });
  expect(clock.waits.reduce((sum, ms) => sum + ms, 0)).toBe(10_000);
});

test('fail fails', async () => {
  const { agent } = await demoAgent('fail');
  expect((await play({ agent })).at(-1)).toMatchObject({ outcome: 'error', code: 'agent_error' });
});
