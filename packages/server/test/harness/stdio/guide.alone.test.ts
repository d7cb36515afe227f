import { chmod, cp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sessionId } from '@convoke/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { readAgentFolder } from '../../../src/agents/agent-folder.ts';
import type { Agent } from '../../../src/domain/agent.ts';
import type { Json } from '../../../src/domain/json.ts';
import type { Effects, NewCall } from '../../../src/ports/harness.ts';
import { withRehearsal } from '../../../src/operate/rehearse/rehearsal.ts';
import { temporaryFolder } from '../../support/agent-folders.ts';
import { begin, ended, readRun } from '../../support/api-steps.ts';
import { openEffects } from '../../support/effects.ts';
import { eventually } from '../../support/eventually.ts';
import { startServer } from '../../support/server.ts';
import { type OpenStdio, type Played, openStdio, playProgram } from './leg.ts';

const repository = fileURLToPath(new URL('../../../../..', import.meta.url));
/** Delivers one by one, with a ledger and a recovery point for each, in Python. */
const courier = join(import.meta.dirname, 'courier');
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

test('a program is handed over between two deliveries, and repeats none (D-85)', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `name-${index}`);
  const agentFiles = {
    'courier/agent.yaml': await readFile(join(courier, 'agent.yaml'), 'utf8'),
    'courier/agent.py': await readFile(join(courier, 'agent.py'), 'utf8'),
  };
  let server = await startServer({ agents: {}, agentFiles });
  const { session, run } = await begin(server, 'courier', names.join(' '));
  for (let drain = 0; drain < 2; drain += 1) {
    const { last_event_id: before } = await readRun(server, run);
    await eventually(async () => (await readRun(server, run)).last_event_id !== before);
    await server.stop(120_000);
    server = await server.restart();
  }
  const { status, attempt, output_text } = await ended(server, run);
  expect([status, attempt]).toEqual(['completed', 1]);
  expect(output_text).toBe(names.map((name) => `Delivered to ${name}.\n`).join(''));
  const folder = join(server.config.dataDir, 'workspaces');
  const paths = await readdir(folder, { recursive: true });
  const delivered = paths.find((path) => path.endsWith('delivered.txt')) ?? '';
  expect(delivered).toContain(session.id);
  expect(await readFile(join(folder, delivered), 'utf8')).toBe(`${names.join('\n')}\n`);
});

test('a program continues after a loss, and delivers only what is not known', async () => {
  const folder = join(await temporaryFolder(), 'courier');
  await cp(courier, folder, { recursive: true });
  await chmod(dirname(folder), 0o755);
  const agent = await read(folder, 'courier');
  expect(agent.recovery.onLoss).toBe('resume');
  const begun: NewCall[] = [];
  const effects: Effects = {
    ...openEffects,
    begin: async (call) => {
      begun.push(call);
      return { kind: 'begun' };
    },
  };
  const delivery = (to: string) => ({ toolName: 'deliver', input: { to } });
  const { text, end } = await playProgram(stdio, agent, {
    prompt: 'a b c d',
    effects,
    state: { run: 'run_1', done: 1 },
    calls: {
      'delivery-1': { ...delivery('b'), state: 'ended', ok: true, output: 'delivered' },
      'delivery-2': { ...delivery('c'), state: 'left', note: 'not known' },
      'delivery-3': { ...delivery('d'), state: 'again' },
    },
  });
  expect(end).toEqual({ type: 'end', outcome: 'completed' });
  expect(text).toBe('b: was delivered before\nc: not known\nDelivered to d.\n');
  expect(begun).toEqual([{ ref: 'delivery-3', ...delivery('d'), touches: 'workspace' }]);
});

test('the cashier of the guide pays once, wherever it is killed or handed over', async () => {
  const agentsDir = dirname((await agentOfGuide('cashier')).folder);
  const config = { agentsDir, pricesFile: undefined, a2aAllow: [], sandbox: 'auto' } as const;
  const options = {
    input: { prompt: 'invoice 7' },
    signal: new AbortController().signal,
    answer: () => Promise.reject(new Error('it asks nothing')),
  };
  const { undisturbed, report } = await withRehearsal(config, 'cashier', (rehearsal) =>
    rehearsal.everyKill(options, () => {}),
  );
  expect(undisturbed.run.text).toBe('It is paid.\n');
  expect(report).toMatchObject({ lines: 5, problems: [], changing: [] });
  expect(report.doubts).toBeGreaterThan(0);
});

test.each([
  ['20', 'It is paid.', 0],
  ['80', 'It is paid.', 1],
  ['2000', 'Not paid: Not allowed by the rule huge of the agent: No more than 1000.', 0],
])(
  'the banker of the guide does with %s what its rules say, wherever it is killed',
  async (prompt, text, asked) => {
    const agentsDir = dirname((await agentOfGuide('banker')).folder);
    const config = { agentsDir, pricesFile: undefined, a2aAllow: [], sandbox: 'auto' } as const;
    const approved = { amount: Number(prompt) };
    const options = {
      input: { prompt },
      signal: new AbortController().signal,
      answer: async () => ({ kind: 'permission', allow: true, input: approved }) as const,
    };
    const { undisturbed, report } = await withRehearsal(config, 'banker', (rehearsal) =>
      rehearsal.everyKill(options, () => {}),
    );
    expect([undisturbed.run.text, undisturbed.run.asked.length]).toEqual([`${text}\n`, asked]);
    expect(report).toMatchObject({ problems: [], changing: [] });
  },
);

test('the program of the guide that waits is started again for each thing that comes', async () => {
  const agentsDir = dirname((await agentOfGuide('invoice')).folder);
  const config = { agentsDir, pricesFile: undefined, a2aAllow: [], sandbox: 'auto' } as const;
  const options = {
    input: { prompt: 'invoice 7' },
    signal: new AbortController().signal,
    answer: () => Promise.reject(new Error('it asks nothing')),
    calls: new Map([['clerk', { outputText: 'A receipt.\n', output: null }]]),
  };
  const paid = { name: 'paid', data: { amount: 20 } };
  const texts = await withRehearsal(config, 'invoice', async ({ play }) => {
    const late = await play(options);
    const { run } = await play({ ...options, signals: [paid] });
    return [late.run.text, run.text, run.legs];
  });
  // The message had come before the program asked for it.
  expect(texts).toEqual(['Nobody has paid.\n', 'A receipt.\n', 4]);
  const files = [...(await filesOfGuide())].filter(([path]) => /\/(invoice|clerk)\//.test(path));
  const agentFiles = Object.fromEntries(
    files.map(([path, text]) => [path.replace('agents/', ''), text]),
  );
  const server = await startServer({ agents: {}, agentFiles });
  const { run } = await begin(server, 'invoice', 'invoice 7');
  await server.send('signal_run', { params: { run_id: run.id }, body: paid });
  const { status, output_text } = await ended(server, run);
  expect([status, output_text]).toEqual(['completed', 'Received: 20 for invoice 7.\n']);
});

test('a program that knows no refusal never does what a rule asks about, and ends with its time', async () => {
  const yaml = await readFile(join(courier, 'agent.yaml'), 'utf8');
  const rule = '{ name: all, tools: [deliver], when: [{ path: /to, like: "b*" }], effect: ask }';
  const server = await startServer({
    agents: {},
    agentFiles: {
      'courier/agent.yaml': `${yaml}limits: { run_seconds: 3 }\nrules: [${rule}]\n`,
      'courier/agent.py': await readFile(join(courier, 'agent.py'), 'utf8'),
    },
  });
  const { run } = await begin(server, 'courier', 'a b');
  const { status, error_code, output_text } = await ended(server, run);
  expect([status, error_code, output_text]).toEqual(['failed', 'run_timeout', 'Delivered to a.\n']);
});

test('the shipped shell-hello greets and writes a file', async () => {
  const folder = join(repository, 'agents/shell-hello');
  const agent = await read(folder, 'shell-hello');
  const { text, sessionFolder, end } = await playProgram(stdio, agent, { prompt: 'Hi there' });
  expect(end).toEqual({ type: 'end', outcome: 'completed' });
  expect(text).toContain('You said: Hi there\n');
  expect(await readFile(join(sessionFolder, 'outputs/prompts.txt'), 'utf8')).toBe('Hi there\n');
});

async function filesOfGuide(): Promise<Map<string, string>> {
  const guide = await readFile(join(repository, 'docs/guides/stdio-agents.md'), 'utf8');
  const fence = /^```\w+ (agents\/\S+)\n([\s\S]*?)^```/gm;
  return new Map([...guide.matchAll(fence)].map(([, path = '', text = '']) => [path, text]));
}

/** Writes the files of the guide, as a reader would. */
async function agentOfGuide(name: string): Promise<Agent> {
  const root = await temporaryFolder();
  await chmod(root, 0o755);
  for (const [path, text] of await filesOfGuide()) {
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
