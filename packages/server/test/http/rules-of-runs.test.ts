// Rules and the run that they are about: who started it, and its agent, which may change while it waits.
import type { AgentRule } from '@convoke/contract';
import { beforeAll, expect, test } from 'vitest';
import type { AgentYaml } from '../support/agents.ts';
import {
  answer,
  begin,
  ended,
  keyOf,
  logOf,
  openSession,
  pendingIn,
} from '../support/api-steps.ts';
import type { Identity } from '../support/checked-calls.ts';
import { eventually } from '../support/eventually.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { addMember, asPerson } from '../support/sign-in/console.ts';

const write = (path: string) => ({ tool: { name: 'write_file', input: { path, text: 'x' } } });
const writes = (path: string, rule: Partial<AgentRule>): AgentRule => ({
  name: `write-${path.charAt(0)}`,
  tools: ['write_file'],
  when: [{ path: '/path', eq: path }],
  effect: 'ask',
  ...rule,
});
const writer = (description: string, ...rules: readonly AgentRule[]): AgentYaml => ({
  description,
  rules,
  script: [write('a.txt'), write('b.txt')],
});

const allow = { decision: 'allow' };

let server: TestServer;
beforeAll(async () => {
  const approvers = { not_starter: true, clients: true };
  server = await startServer({
    agents: {
      others: writer('Asks others', writes('a.txt', { approvers })),
      changing: writer('Asks', writes('a.txt', {})),
    },
  });
});

const personWith = async (role: 'operator' | 'owner') =>
  asPerson(server, await addMember(server, role));

test('who started a run may not allow its calls, and who opened its session may (D-513)', async () => {
  const session = await openSession(server, 'others');
  const params = { session_id: session.id };
  const as = await personWith('operator');
  const body = { input: { prompt: 'hi' } };
  const { body: run } = await server.send('start_run', { as, params, body });
  const asked = await pendingIn(server, session.id);
  const mayAllow = async (reader: Identity) => {
    const { interaction_key } = asked;
    const call = { as: reader, params: { interaction_key } };
    return (await server.send('find_interaction', call)).body.can_allow;
  };
  expect([await mayAllow(as), await mayAllow(server.client)]).toEqual([false, true]);
  const refused = { as, params: keyOf(asked), body: allow };
  expect(await server.refused('answer_interaction', refused)).toMatchObject({
    error: 'not_an_approver',
  });
  await answer(server, asked, allow);
  expect(await ended(server, run)).toMatchObject({ status: 'completed' });
});

test('a list that changes while a run waits judges the answer, and holds from the next leg on (D-506, D-515)', async () => {
  const { session, run } = await begin(server, 'changing');
  const asked = await pendingIn(server, session.id);
  const changed = writer(
    'Changed',
    writes('a.txt', { approvers: { role: 'owner' } }),
    writes('b.txt', { effect: 'deny' }),
  );
  await server.writeAgent('changing', changed);
  await eventually(async () => {
    const { body } = await server.send('list_agents');
    return body.agents.some(({ description }) => description === 'Changed');
  });
  expect(
    await server.refused('answer_interaction', { params: keyOf(asked), body: allow }),
  ).toMatchObject({ error: 'not_an_approver' });
  const as = await personWith('owner');
  await server.send('answer_interaction', { as, params: keyOf(asked), body: allow });
  expect(await ended(server, run)).toMatchObject({ status: 'completed' });
  const log = await logOf(server, run);
  expect(log.filter(({ type }) => type === 'scripted.tool_result')).toHaveLength(1);
  expect(log.find(({ type }) => type === 'call_decided')?.data).toMatchObject({
    effect: 'deny',
    rules: [{ source: 'agent', name: 'write-b' }],
  });
});
