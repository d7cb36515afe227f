import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import type { AgentYaml } from '../../support/agents.ts';
import {
  answer,
  begin,
  ended,
  keyOf,
  logOf,
  pendingIn,
  runIn,
  sessionIn,
  startRun,
  textOf,
} from '../../support/api-steps.ts';
import { eventually } from '../../support/eventually.ts';
import { startServer } from '../../support/server.ts';
import type { Step } from './agent.ts';

// An ACP agent as callers of the API see it: its process waits for answers, and no process is left behind.
const program = fileURLToPath(new URL('agent.ts', import.meta.url));
const sdk = fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk'));
/** Longer than an agent needs to stop. */
const drainMs = 120_000;
const mark = `--mark-${process.pid}`;
const agent: AgentYaml = {
  framework: 'acp',
  model: 'test/one',
  command: ['node', '--no-warnings', program, mark, sdk],
  approval_required_tools: ['execute'],
};

beforeAll(() => requireSandbox());

test('a call waits for a person, is made once allowed, and the process ends with its session', async () => {
  const server = await startServer({ agents: { acp: agent } });
  const { session, run } = await begin(
    server,
    'acp',
    steps({ say: 'May I? ' }, { call: 'made' }, { say: 'Done.' }),
  );
  const asked = await pendingIn(server, session.id);
  expect(asked).toMatchObject({
    kind: 'permission',
    tool_name: 'execute',
    tool_input: { title: 'made' },
  });
  // D-38: an approval that the agent could not follow is refused at the API, and nothing is recorded.
  const changed = { decision: 'allow', updated_input: { title: 'another' } };
  const refused = await server.refused('answer_interaction', {
    params: keyOf(asked),
    body: changed,
  });
  expect(refused).toMatchObject({ status: 400, error: 'invalid_answer' });
  expect(refused.message).toContain('acp');
  expect(await pendingIn(server, session.id)).toEqual(asked);
  await answer(server, asked, { decision: 'allow' });
  expect(await ended(server, run)).toMatchObject({
    status: 'completed',
    output_text: 'May I? Done.',
  });
  const log = await logOf(server, run);
  expect(log.find(({ type }) => type === 'message_delta')?.data).toEqual({
    text: 'May I? ',
    framework: 'acp',
    model: 'test/one',
  });
  expect(log.map(({ type }) => type)).toContain('acp.tool_call');
  expect(running()).toBe(1);
  await server.send('stop_session', { params: { session_id: session.id } });
  await sessionIn(server, session.id, 'stopped');
  await eventually(() => running() === 0);
  await server.send('resume_session', { params: { session_id: session.id } });
  const next = await startRun(server, session, steps({ report: 'history' }));
  await ended(server, next);
  expect(textOf(await logOf(server, next))).toContain('May I?');
  await server.stop();
  expect(running()).toBe(0);
});

test('a run that waits for a person when the server stops continues with the answer (D-85)', async () => {
  const server = await startServer({ agents: { acp: agent } });
  const { session, run } = await begin(server, 'acp', steps({ call: 'parked' }, { say: 'Done.' }));
  await pendingIn(server, session.id);
  await runIn(server, run, 'waiting');
  await server.stop(drainMs);
  expect(running()).toBe(0);
  const restarted = await server.restart();
  const asked = await pendingIn(restarted, session.id);
  await runIn(restarted, run, 'waiting');
  await answer(restarted, asked, { decision: 'allow' });
  const done = await ended(restarted, run);
  expect(done).toMatchObject({ status: 'completed', attempt: 1 });
  expect(done.output_text).toMatch(/allowed these actions.*\n- parked\n[^]*Done\.$/);
  const log = await logOf(restarted, run);
  const count = (type: string) => log.filter((event) => event.type === type).length;
  expect([count('permission_request'), count('run_interrupted')]).toEqual([1, 1]);
  const made = log.filter(({ data }) => data['status'] === 'completed');
  expect(made).toMatchObject([{ type: 'acp.tool_call', data: { tool_call_id: 'parked' } }]);
});

/** Number of running agents of this file, as the host sees them. */
function running(): number {
  return readdirSync('/proc').filter((entry) => {
    try {
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
      return command[0] === 'node' && command.includes(mark);
    } catch {
      return false;
    }
  }).length;
}

function steps(...list: readonly Step[]): string {
  return JSON.stringify(list);
}
