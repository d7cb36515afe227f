import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sessionId } from '@convoke/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { readAgentFolder } from '../../../src/agents/agent-folder.ts';
import type { Agent } from '../../../src/domain/agent.ts';
import type { Json } from '../../../src/domain/json.ts';
import { temporaryFolder } from '../../support/agent-folders.ts';
import { type OpenStdio, type Played, openStdio, playProgram } from './leg.ts';

const repository = fileURLToPath(new URL('../../../../..', import.meta.url));
let stdio: OpenStdio;

beforeAll(async () => {
  requireSandbox();
  stdio = await openStdio();
});
afterAll(() => stdio.close());

test('the shell agent of the guide repeats its prompt and writes a file', async () => {
  const agent = await agentOfGuide('echo-shell');
  const prompt = 'a "quoted" \\ word\nand $more';
  const { text, sessionFolder, end } = await playProgram(stdio, agent, { prompt });
  expect(end).toEqual({ type: 'end', outcome: 'completed' });
  expect(text).toBe(`You said:\n${prompt}\n`);
  expect(await readFile(join(sessionFolder, 'outputs/said.txt'), 'utf8')).toBe(`${prompt}\n`);
});

test('the Python agent of the guide asks a question, asks for permission, writes, and counts visits', async () => {
  const agent = await agentOfGuide('colours');
  const id = { sessionId: sessionId('sess_colours') };
  const asked = await playProgram(stdio, agent, id);
  expect(asked.text).toBe('This is visit 1.\n');
  expect(asked.events).toContainEqual(
    expect.objectContaining({
      type: 'user_question',
      options: [{ label: 'red' }, { label: 'blue' }],
    }),
  );
  const requesting = await playProgram(stdio, agent, {
    ...id,
    state: stateOf(asked),
    answers: { colour: { kind: 'question', values: ['blue'] } },
  });
  expect(requesting.end).toEqual({ type: 'end', outcome: 'waiting' });
  const input = { path: 'outputs/colour.txt', text: 'blue\n' };
  expect(requesting.events).toContainEqual({
    type: 'permission_request',
    ref: 'note',
    toolName: 'write_file',
    toolInput: input,
  });
  const refused = await playProgram(stdio, agent, {
    ...id,
    state: stateOf(requesting),
    answers: { note: { kind: 'permission', allow: false } },
  });
  expect(refused.text).toBe('Then I leave it.\n');
  await expect(readFile(join(refused.sessionFolder, input.path))).rejects.toThrow('ENOENT');
  const written = await playProgram(stdio, agent, {
    ...id,
    state: stateOf(requesting),
    answers: { note: { kind: 'permission', allow: true, input } },
  });
  expect(written.text).toBe('It is written down.\n');
  expect(await readFile(join(written.sessionFolder, input.path), 'utf8')).toBe('blue\n');
  const again = await playProgram(stdio, agent, { ...id, state: stateOf(written) });
  expect(again.text).toBe('This is visit 2.\n');
});

test('the shipped shell-hello greets and writes a file', async () => {
  const folder = join(repository, 'agents/shell-hello');
  const agent = await read(folder, 'shell-hello');
  const { text, sessionFolder, end } = await playProgram(stdio, agent, { prompt: 'Hi there' });
  expect(end).toEqual({ type: 'end', outcome: 'completed' });
  expect(text).toContain('You said: Hi there\n');
  expect(await readFile(join(sessionFolder, 'outputs/prompts.txt'), 'utf8')).toBe('Hi there\n');
});

/** Writes the files of the guide, as a reader would. */
async function agentOfGuide(name: string): Promise<Agent> {
  const guide = await readFile(join(repository, 'docs/guides/stdio-agents.md'), 'utf8');
  const root = await temporaryFolder();
  await chmod(root, 0o755);
  const fence = /^```\w+ (agents\/\S+)\n([\s\S]*?)^```/gm;
  for (const [, path = '', text = ''] of guide.matchAll(fence)) {
    const place = join(root, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, text);
    if (path.endsWith('.sh')) await chmod(place, 0o755);
  }
  return read(join(root, 'agents', name), name);
}

async function read(folder: string, name: string): Promise<Agent> {
  const harnesses = new Map([['stdio', stdio.harness]]);
  const result = await readAgentFolder({ folder, name, harnesses });
  if (!result.ok) throw new Error(result.reason);
  return result.agent;
}

function stateOf({ events }: Played): Json {
  const last = events.findLast((event) => event.type === 'checkpoint');
  return JSON.parse(JSON.stringify(last?.state));
}
