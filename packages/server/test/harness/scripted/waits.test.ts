import { beforeAll, describe, expect, test } from 'vitest';
import { readScript } from '../../../src/harness/scripted/script.ts';
import { agentOf } from '../../support/agent-folders.ts';
import {
  answer,
  begin,
  cancel,
  ended,
  logOf,
  pendingIn,
  readRun,
  runIn,
} from '../../support/api-steps.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestServer, deployments, startServer } from '../../support/server.ts';

const planner = {
  agents: ['researcher', 'breaker'],
  script: [
    { sleep: { name: 'a moment', for: '0s' } },
    { receive: { name: 'paid', timeout: '1h' } },
    { say: 'Paid {{answer}}. ' },
    { receive: { name: 'never', timeout: '0s' } },
    { say: '{{answer}} ' },
    { call: { agent: 'researcher', prompt: 'about {{prompt}}' } },
    { say: '{{answer}} ' },
    { repeat: { times: 2, steps: [{ call: { agent: 'breaker', prompt: 'x' } }] } },
    { say: '{{answer}} ' },
    { ask: { question: 'Enough?' } },
    { say: '{{answer}}.' },
  ],
};
const agents = {
  planner,
  researcher: { script: [{ say: 'Read {{prompt}}.' }] },
  breaker: { script: [{ fail: { message: 'It is down.', code: 'model_error' } }] },
  sleeper: { script: [{ sleep: '3w' }] },
};

describe.each(deployments)('a script that waits, on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, agents });
  });

  test('sleeps, receives messages, calls agents and asks, and has each result as its answer', async () => {
    const { run } = await begin(server, 'planner', 'chairs');
    const params = { run_id: run.id };
    await server.send('signal_run', { params, body: { name: 'paid', data: { amount: 20 } } });
    await runIn(server, run, 'waiting');
    await answer(server, await pendingIn(server, run.session_id), { answer: 'yes' });
    const { status, output_text: text } = await ended(server, run);
    expect([status, text]).toEqual([
      'completed',
      'Paid {"amount":20}. (timed_out) Read about chairs. (model_error) yes.',
    ]);
    const outcomes = (await logOf(server, run)).flatMap(({ type, data }) =>
      type === 'wait_ended' ? [(data as { outcome: string }).outcome] : [],
    );
    expect(outcomes).toEqual(['fired', 'received', 'timed_out', 'completed', 'failed', 'failed']);
  });

  test('holds no process while it sleeps, and says for how long', async () => {
    const { run } = await begin(server, 'sleeper');
    const asleep = await eventually(async () => {
      const read = await readRun(server, run);
      return read.open_waits === 1 && read;
    });
    expect(asleep).toMatchObject({
      status: 'running',
      waiting_on: [{ kind: 'timer', name: 'sleep' }],
    });
    await cancel(server, run);
    expect((await ended(server, run)).status).toBe('cancelled');
  });
});

function problemsIn(step: object) {
  const calls = ['researcher'];
  const agent = agentOf({ calls, settings: { script: [step] } });
  const declared = { ...agent, declared: { script: [step], tools: [] } };
  const read = readScript(declared as never);
  return read.ok ? [] : read.problems.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

test.each([
  [{ sleep: '3 fortnights' }, 'script.0.sleep: must be a time such as'],
  [{ sleep: 5 }, 'script.0.sleep: must be a time such as'],
  [{ sleep: '367d' }, 'script.0.sleep: must be a time such as'],
  [{ receive: 'has paid' }, 'script.0.receive: must be the name of a message'],
  [
    { call: { agent: 'critic', prompt: 'x' } },
    'script.0.call.agent: critic is not one of the agents that this one may call; add it to agents',
  ],
  [
    { call: { agent: 'researcher', prompt: 'x', timeout: '1 hour' } },
    'script.0.call.timeout: must be such as 90s, 15m, 2h, 3d or 2w, and 366d at most',
  ],
])('%j is refused with its place', (step, problem) => {
  expect(problemsIn(step)).toEqual([expect.stringContaining(problem)]);
});
