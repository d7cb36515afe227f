// Agents on the AI SDK that call other agents and sleep (D-925), on a whole server.
import { afterAll, expect, test } from 'vitest';
import { readAgentFolder } from '../../../src/agents/agent-folder.ts';
import { callTools } from '../../../src/harness/ai-sdk/tools/called-agents.ts';
import { readAiSdk } from '../../../src/harness/ai-sdk/settings.ts';
import { temporaryFolder, writeFiles } from '../../support/agent-folders.ts';
import { answer, begin, ended, logOf, pendingIn, readRun, runIn } from '../../support/api-steps.ts';
import { eventually } from '../../support/eventually.ts';
import { startModelServer } from '../../support/model-server/server.ts';
import { type TestServer, startServer } from '../../support/server.ts';

const modelServer = await startModelServer();
afterAll(() => modelServer.close());

const model = {
  framework: 'ai-sdk',
  model: 'openai-compatible/scripted',
  env: { API_KEY: '${env:HOME}', BASE_URL: `${modelServer.url}/v1` },
};
const agents = {
  planner: { ...model, agents: ['researcher', 'counter', 'failing', 'absent'], tools: [] },
  careful: { ...model, agents: ['researcher'], approval_required_tools: ['call_*'] },
  sleeper: { ...model, sleep: true },
  researcher: {
    framework: 'scripted',
    description: 'Finds out about one thing.',
    script: [{ say: 'I looked at {{prompt}}.' }],
  },
  counter: { framework: 'scripted', script: [{ output: { count: 3 } }] },
  failing: { framework: 'scripted', script: [{ fail: { message: 'out of luck' } }] },
};

const calling = (name: string, input: object) => `call call_${name} ${JSON.stringify(input)}`;

const calledBy = async (server: TestServer, { id }: { readonly id: string }) => {
  const { body } = await server.send('list_tenant_runs', { query: { ancestor_run_id: id } });
  return body.runs;
};

test('the model gets the answer of each agent that it calls, also of one that fails', async () => {
  const server = await startServer({ agents });
  const script = [
    calling('researcher', { prompt: 'oak' }),
    calling('researcher', { prompt: 'elm' }),
    calling('counter', { prompt: 'all' }),
    calling('failing', { prompt: 'x' }),
  ].join(' && ');
  const { run } = await begin(
    server,
    'planner',
    `@@ say I ask. && ${script} ;; say Thanks. ;; last`,
  );
  const { status } = await ended(server, run);
  expect(status).toBe('completed');
  const results = (await logOf(server, run)).filter(({ type }) => type === 'ai-sdk.tool_result');
  const outputs = results.map(({ data }) => [data['name'], data['ok'], data['output']]);
  expect(outputs).toHaveLength(4);
  expect(outputs).toEqual(
    expect.arrayContaining([
      ['call_counter', true, '{"count":3}'],
      ['call_failing', false, expect.stringContaining('out of luck')],
      ['call_researcher', true, 'I looked at elm.'],
      ['call_researcher', true, 'I looked at oak.'],
    ]),
  );
  const called = await calledBy(server, run);
  expect(called).toHaveLength(4);
  expect(called.every(({ parent_run_id: parent }) => parent === run.id)).toBe(true);
});

test('a person may change what an agent is called with, or not allow it', async () => {
  const server = await startServer({ agents });
  const script = `@@ ${calling('researcher', { prompt: 'oak' })} ;; last`;
  const first = await begin(server, 'careful', script);
  const asked = await pendingIn(server, first.session.id);
  expect(asked).toMatchObject({ tool_name: 'call_researcher', tool_input: { prompt: 'oak' } });
  expect(await calledBy(server, first.run)).toEqual([]);
  await answer(server, asked, { decision: 'allow', updated_input: { prompt: 'elm' } });
  expect((await ended(server, first.run)).output_text).toBe('tool said: I looked at elm.');
  const second = await begin(server, 'careful', script);
  const again = await pendingIn(server, second.session.id);
  await answer(server, again, { decision: 'deny', message: 'too dear' });
  expect((await ended(server, second.run)).output_text).toBe('tool said: denied: too dear');
  expect(await calledBy(server, second.run)).toEqual([]);
});

test('a model sleeps as a row, over a restart, beside a question to a person', async () => {
  const first = await startServer({ agents });
  const question = 'call ask_user {"question":"Which one?"}';
  const nap = 'call sleep {"for":"1h","reason":"the kettle"}';
  const { session, run } = await begin(first, 'sleeper', `@@ ${nap} && ${question} ;; last`);
  await runIn(first, run, 'waiting');
  const server = await first.restart();
  await answer(server, await pendingIn(server, session.id), { answer: 'oak' });
  const sleeping = await eventually(async () => {
    const read = await readRun(server, run);
    return read.pending_interactions === 0 && read.status === 'running' && read;
  });
  expect(sleeping).toMatchObject({
    open_waits: 1,
    waiting_on: [{ kind: 'timer', name: 'the kettle' }],
  });
  const short = await begin(
    server,
    'sleeper',
    // A name has no control characters, and a model knows nothing of that (D-929).
    '@@ call sleep {"for":"1s","reason":"a\\nnap"} ;; last',
  );
  expect((await ended(server, short.run)).output_text).toMatch(
    /^tool said: The time has passed: it is \S+Z\. No message has come since\.$/,
  );
});

test.each([
  ['call call_nobody {"prompt":"x"}', "unavailable tool 'call_nobody'"],
  ['call sleep {"for":"31d","reason":"x"}', 'at most 30d'],
  ['call sleep {"for":"a while","reason":"x"}', 'pattern'],
])('%s: the model is told, and nothing is waited for', async (step, words) => {
  const server = await startServer({ agents });
  const { run } = await begin(server, 'sleeper', `@@ ${step} ;; last`);
  expect((await ended(server, run)).output_text).toContain(words);
  const types = (await logOf(server, run)).map(({ type }) => type);
  expect(types).not.toContain('wait_started');
});

test('the tool of an agent with a long name has one that providers accept, and no other agent has it', () => {
  const long = 'a'.repeat(63);
  const called = [`${long}b`, `${long}c`, 'a'.repeat(59)].map((name) => ({
    name,
    description: '',
  }));
  const names = callTools(called).map(({ name }) => name);
  expect(new Set(names).size).toBe(3);
  expect(names.map(({ length }) => length)).toEqual([64, 64, 64]);
  expect(names.at(-1)).toBe(`call_${'a'.repeat(59)}`);
  expect(callTools(called.slice(1))[0]?.name).toBe(names[1]);
});

test.each([
  ['scripted', 'sleep', 'has no effect: scripted agents cannot sleep'],
  ['code', 'sleep', 'has no effect: the function of the agent calls ctx.sleep'],
])('%s agents have no %s in agent.yaml', async (framework, _key, words) => {
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'agent.yaml': `framework: ${framework}\nsleep: true\n` });
  const harnesses = new Map([[framework, { read: readAiSdk }]]);
  const read = await readAgentFolder({ folder, name: 'tester', harnesses });
  expect(read).toMatchObject({ ok: false, reason: expect.stringContaining(words) });
});
