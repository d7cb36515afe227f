import { isTerminalRunStatus } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Identity } from '../support/checked-calls.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { addClient, addTenant } from '../support/identities.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { addMember, asPerson } from '../support/sign-in/console.ts';

const auth = { type: 'bearer', token: 'tok-plain-and-secret' };
const ended = {
  type: 'oauth',
  access_token: 'acc-plain-and-secret',
  expires_at: '2020-01-15T09:30:00.000Z',
};
const agents = {
  asker: {
    description: 'Needs two accounts of its user, and asks',
    connections: { github: { owner: 'end_user' }, mail: { owner: 'end_user' } },
    script: [
      { say: 'You said {{prompt}}. ' },
      { ask: { question: 'Which colour?', options: ['red', 'blue'] } },
      { say: 'You want {{answer}}.' },
    ],
  },
  teller: {
    description: 'Needs an account of the tenant',
    connections: { crm: { owner: 'tenant' } },
    script: [{ say: 'hi' }],
  },
};
const env = { CONVOKE_CONNECT_URL: 'https://product.test/connect?s={session_id}&to={service}' };
const input = { prompt: 'hello' };

/** A run that misses an account of its end user asks for it, and continues once it is there (D-607, D-608, D-942). */
describe.each(databaseKinds)('a run that asks for accounts on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, agents, env });
  });

  async function newTenant() {
    const as = (await addClient(server, {})).in(await addTenant(server, 'Connected'));
    const put = (service: string, account: object = auth) =>
      server.send('put_connection', {
        as,
        params: { service },
        body: { end_user: 'u-17', auth: account },
      });
    const remove = (service: string) =>
      server.send('delete_connection', { as, params: { service }, query: { end_user: 'u-17' } });
    const start = async () => {
      const body = { agent_name: 'asker', end_user: 'u-17' };
      const { id } = (await server.send('create_session', { as, body })).body;
      const params = { session_id: id };
      const run = (await server.send('start_run', { as, params, body: { input } })).body;
      return { as, session_id: id, run_id: run.id };
    };
    return { as, put, remove, start };
  }

  type Started = { readonly as: Identity; readonly session_id: string; readonly run_id: string };
  const pendingOf = async ({ as, session_id }: Started) => {
    const params = { session_id };
    return (await server.send('list_interactions', { as, params })).body.interactions;
  };
  const asked = (started: Started, count: number) =>
    eventually(async () => {
      const pending = await pendingOf(started);
      return pending.length === count && pending;
    });
  const askedAbout = async (started: Started) => {
    const pending = await pendingOf(started);
    const about = pending.map((one) => one.about?.service ?? one.question ?? '');
    return about.toSorted((a, b) => a.localeCompare(b)).join(' ');
  };
  const answer = ({ as, session_id }: Started, interaction_key: string, body: object) =>
    server.send('answer_interaction', { as, params: { session_id, interaction_key }, body });
  const endOf = ({ as, ...params }: Started) =>
    eventually(async () => {
      const { body } = await server.send('get_run', { as, params });
      return isTerminalRunStatus(body.status) && body;
    });

  test('asks for all of them with links, and begins when the last is connected', async () => {
    const { as, put, start } = await newTenant();
    const started = await start();
    const questions = await asked(started, 2);
    const url = `https://product.test/connect?s=${started.session_id}&to=github`;
    expect(questions.find(({ about }) => about?.service === 'github')).toMatchObject({
      kind: 'question',
      question: `Connect github to continue: ${url}`,
      about: { kind: 'connection_missing', service: 'github', owner: 'end_user', url },
    });
    await put('github');
    expect(await asked(started, 1)).toMatchObject([{ about: { service: 'mail' } }]);
    await put('mail');
    const own = await eventually(async () => {
      const [first] = await pendingOf(started);
      return first?.question === 'Which colour?' && first;
    });
    await answer(started, own.interaction_key, { answer: 'blue' });
    expect(await endOf(started)).toMatchObject({
      status: 'completed',
      output_text: 'You said hello. You want blue.',
    });
    const { session_id } = started;
    const params = { session_id };
    const all = (
      await server.send('list_interactions', { as, params, query: { status: 'answered' } })
    ).body.interactions;
    const byPut = all.filter(({ about }) => about !== undefined);
    expect(byPut.map(({ answered_by }) => answered_by)).toEqual(
      byPut.map(() => expect.stringMatching(/^cli_/)),
    );
  });

  test('one that is revoked while the run waits is asked for, and the answer is not lost', async () => {
    const { put, remove, start } = await newTenant();
    await put('github');
    await put('mail');
    const started = await start();
    const [own] = await asked(started, 1);
    await remove('mail');
    await put('github', ended);
    await answer(started, own?.interaction_key ?? '', { answer: 'red' });
    await asked(started, 2);
    expect(await askedAbout(started)).toBe('github mail');
    await put('mail');
    await put('github');
    expect(await endOf(started)).toMatchObject({
      status: 'completed',
      output_text: 'You said hello. You want red.',
    });
  });

  test('an answer without an account has it asked again, and declining ends the run', async () => {
    const { put, start } = await newTenant();
    await put('mail');
    const started = await start();
    const [first] = await asked(started, 1);
    await answer(started, first?.interaction_key ?? '', { answer: 'Done' });
    const again = await eventually(async () => {
      const [next] = await pendingOf(started);
      return next !== undefined && next.interaction_key !== first?.interaction_key && next;
    });
    await answer(started, again.interaction_key, { declined: true });
    expect(await endOf(started)).toMatchObject({
      status: 'failed',
      error_code: 'connection_missing',
    });
  });

  test('a run that waits for an account can be cancelled', async () => {
    const { as, start } = await newTenant();
    const started = await start();
    await asked(started, 2);
    const { session_id, run_id } = started;
    await server.send('cancel_run', { as, params: { session_id, run_id } });
    expect(await endOf(started)).toMatchObject({ status: 'cancelled' });
    expect(await pendingOf(started)).toEqual([]);
  });

  test('accounts of the tenant, sessions without an end user and those of people are refused as before', async () => {
    const { as } = await newTenant();
    const person = await asPerson(server, await addMember(server, 'operator'));
    for (const [by, agent_name] of [
      [as, 'teller'],
      [as, 'asker'],
      [person, 'asker'],
    ] as const) {
      const refused = await server.refused('invoke_agent', {
        as: by,
        params: { agent_name },
        body: { input },
      });
      expect(refused).toMatchObject({ status: 409, error: 'connection_missing' });
    }
  });
});
