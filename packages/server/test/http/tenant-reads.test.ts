import { organizationId, runId, sessionId, tenantId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { endRun, openRun } from '../../src/domain/run/run.ts';
import { answer, begin, openSession, pendingIn, runIn, startRun } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { addClient, addTenant } from '../support/identities.ts';
import { type TestServer, startServer } from '../support/server.ts';

/** What a list must never hold. */
const secret = 'sesame';

const run = (server: TestServer, sessionId: string, ...[prompt, labels]: [string, object?]) =>
  server.send('start_run', {
    params: { session_id: sessionId },
    body: { input: { prompt }, ...(labels === undefined ? {} : { labels }) },
  });

describe.each(databaseKinds)('reads over a tenant on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  const idsOf = async (query: Readonly<Record<string, string>> | string) => {
    const { body } = await server.send('list_tenant_runs', { query });
    return body.runs.map(({ id }) => id);
  };

  test('runs of every session are listed, newest first, without input and answer (D-253)', async () => {
    const long = `first words\n${'x'.repeat(400)} ${secret}`;
    const first = await begin(server, 'echo', long);
    await runIn(server, first.run, 'completed');
    const second = await begin(server, 'asker', 'second');
    await runIn(server, second.run, 'waiting');
    const { body, text } = await server.send('list_tenant_runs', { query: { limit: '2' } });
    expect(body.runs.map(({ id }) => id)).toEqual([second.run.id, first.run.id]);
    expect(text).not.toContain(secret);
    const [waiting, completed] = body.runs;
    expect(completed).toMatchObject({ status: 'completed', agent_name: 'echo', labels: {} });
    expect(completed?.preview).toBe(`first words ${'x'.repeat(188)}`);
    expect(completed?.created_by).toMatchObject({ kind: 'client' });
    expect(waiting).toMatchObject({ status: 'waiting', pending_interactions: 1 });
    expect((await server.send('find_run', { params: { run_id: first.run.id } })).body).toEqual(
      (
        await server.send('get_run', {
          params: { session_id: first.session.id, run_id: first.run.id },
        })
      ).body,
    );
    const never = await server.refused('find_run', { params: { run_id: 'run_nothing' } });
    expect(never).toMatchObject({ status: 404, error: 'not_found' });
  });

  test('each filter selects, and filters hold together (D-253)', async () => {
    const label = `case:${database}`;
    const labels = { case: database, 'team.name': 'a:b' };
    const prompt = 'Alpha 5%_! ÄRGER 障害';
    const done = (await run(server, (await openSession(server, 'echo')).id, prompt, labels)).body;
    await runIn(server, done, 'completed');
    const failed = (await run(server, (await openSession(server, 'failing')).id, 'beta', labels))
      .body;
    await runIn(server, failed, 'failed');
    const open = (await run(server, (await openSession(server, 'asker')).id, 'GAMMA', labels)).body;
    await runIn(server, open, 'waiting');
    const all = [open.id, failed.id, done.id];
    expect(await idsOf({ label })).toEqual(all);
    expect(await idsOf({ label, order: 'asc' })).toEqual(all.toReversed());
    expect(await idsOf({ label, status: 'active' })).toEqual([open.id]);
    expect(await idsOf(`label=${label}&status=completed&status=waiting`)).toEqual([
      open.id,
      done.id,
    ]);
    expect(await idsOf(`label=${label}&label=team.name:a:b&status=ended`)).toEqual([
      failed.id,
      done.id,
    ]);
    expect(await idsOf(`label=${label}&label=team.name:b`)).toEqual([]);
    expect(await idsOf({ label, agent_name: 'echo' })).toEqual([done.id]);
    const [reason] = (await server.send('list_tenant_runs', { query: { label, status: 'failed' } }))
      .body.runs;
    const code = reason?.error_code ?? expect.unreachable();
    expect(await idsOf({ error_code: code, limit: '1' })).toEqual([failed.id]);
    expect(await idsOf({ label, q: 'gam' })).toEqual([open.id]);
    for (const q of ['5%_!', 'ärger', '_! äR', '障害'])
      expect(await idsOf({ q })).toEqual([done.id]);
    for (const q of ['a%', '5_%', 'ürger', '害障']) expect(await idsOf({ label, q })).toEqual([]);
    expect(await idsOf({ label, created_after: failed.created_at })).toEqual([open.id, failed.id]);
    expect(await idsOf({ label, created_before: failed.created_at })).toEqual([done.id]);
    expect(await idsOf('status=waiting&status=queued&status=running')).toContain(open.id);
  });

  test('pages of every walk hold each run once, in order (D-71, D-253)', async () => {
    const session = await openSession(server, 'asker');
    const made: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      made.push((await run(server, session.id, `page ${n}`, { pages: database })).body.id);
    }
    await runIn(server, { id: made[0] ?? '', session_id: session.id }, 'waiting');
    for (const query of [`label=pages:${database}`, 'status=active', 'q=page']) {
      for (const order of ['asc', 'desc'] as const) {
        const whole = await idsOf(`${query}&order=${order}&limit=100`);
        const paged: string[] = [];
        let cursor = '';
        do {
          const page = `${query}&order=${order}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`;
          const { body } = await server.send('list_tenant_runs', { query: page });
          paged.push(...body.runs.map(({ id }) => id));
          cursor = body.next_cursor ?? '';
        } while (cursor !== '' && paged.length < 1_000);
        expect(paged).toEqual(whole);
        expect(whole).toEqual(expect.arrayContaining(made));
      }
    }
  });

  test('what is pending for a person is listed, the oldest first, and found by its key (D-253)', async () => {
    const labels = { inbox: database };
    const asked = (await run(server, (await openSession(server, 'asker')).id, 'why?', labels)).body;
    const question = await pendingIn(server, asked.session_id);
    const query = { label: `inbox:${database}` };
    const list = async (more = {}) =>
      (await server.send('list_tenant_interactions', { query: { ...query, ...more } })).body
        .interactions;
    const [summary] = await list();
    expect(summary).toMatchObject({
      interaction_key: question.interaction_key,
      kind: question.kind,
      agent_name: 'asker',
      run_labels: labels,
      preview: 'why?',
    });
    expect(await list({ kind: question.kind, agent_name: 'asker' })).toHaveLength(1);
    expect(await list({ agent_name: 'echo' })).toEqual([]);
    const params = { interaction_key: question.interaction_key };
    const { body } = await server.send('find_interaction', { params });
    expect(body).toEqual({ ...question, agent_name: 'asker', run_labels: labels, preview: 'why?' });
    const before = (await server.send('get_overview')).body;
    expect(before.pending_interactions).toBeGreaterThan(0);
    expect(before.runs.waiting).toBeGreaterThan(0);
    await answer(server, question, { answer: 'because' });
    expect(await list()).toEqual([]);
    expect(await list({ status: 'answered' })).toHaveLength(1);
    const missing = { params: { interaction_key: 'int_nothing' } };
    expect((await server.refused('find_interaction', missing)).status).toBe(404);
  });

  test("another tenant's runs, interactions and labels are not found (D-53)", async () => {
    const client = await addClient(server, { name: `other ${database}` });
    const as = client.in(await addTenant(server, 'Other'));
    const labels = { shared: database };
    const mine = (await run(server, (await openSession(server, 'asker')).id, 'x', labels)).body;
    const question = await pendingIn(server, mine.session_id);
    const query = { label: `shared:${database}` };
    expect((await server.send('list_tenant_runs', { as, query })).body.runs).toEqual([]);
    expect((await server.send('list_tenant_runs', { as })).body.runs).toEqual([]);
    const listed = await server.send('list_tenant_interactions', { as, query: { status: 'all' } });
    expect(listed.body.interactions).toEqual([]);
    const run_id = mine.id;
    expect((await server.refused('find_run', { as, params: { run_id } })).status).toBe(404);
    const params = { interaction_key: question.interaction_key };
    expect((await server.refused('find_interaction', { as, params })).status).toBe(404);
    expect((await server.send('get_overview', { as })).body).toMatchObject({
      runs: { queued: 0, running: 0, waiting: 0, cancelling: 0 },
      pending_interactions: 0,
    });
  });
});

describe.each(databaseKinds)('labels on %s (D-252)', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });

  test('a run has the labels of its session at its start, and its own', async () => {
    const { body: session } = await server.send('create_session', {
      body: { agent_name: 'echo', title: 'Mine', labels: { customer: 'acme', kind: 'a' } },
    });
    expect(session).toMatchObject({ title: 'Mine', labels: { customer: 'acme', kind: 'a' } });
    const first = (await run(server, session.id, 'one', { kind: 'b' })).body;
    expect(first.labels).toEqual({ customer: 'acme', kind: 'b' });
    const params = { session_id: session.id };
    const changed = await server.send('update_session', {
      params,
      body: { labels: { customer: null, team: 'x' }, title: null },
    });
    expect(changed.body.labels).toEqual({ kind: 'a', team: 'x' });
    expect(changed.body.title).toBeUndefined();
    const second = (await run(server, session.id, 'two')).body;
    expect(second.labels).toEqual({ kind: 'a', team: 'x' });
    const read = await server.send('find_run', { params: { run_id: first.id } });
    expect(read.body.labels).toEqual({ customer: 'acme', kind: 'b' });
    const updated = await server.send('update_run', {
      params: { ...params, run_id: first.id },
      body: { labels: { kind: null, state: 'seen' } },
    });
    expect(updated.body.labels).toEqual({ customer: 'acme', state: 'seen' });
    const found = await server.send('list_tenant_runs', { query: { label: 'state:seen' } });
    expect(found.body.runs.map(({ id }) => id)).toEqual([first.id]);
    const old = await server.send('list_tenant_runs', { query: { label: 'kind:b' } });
    expect(old.body.runs).toEqual([]);
  });

  test('a session without a title has the first words of its first prompt', async () => {
    const session = await openSession(server, 'echo');
    expect(session.title).toBeUndefined();
    await startRun(server, session, 'Summarise\nthe release');
    await startRun(server, session, 'And again');
    const { body } = await server.send('get_session', { params: { session_id: session.id } });
    expect(body.title).toBe('Summarise the release');
    expect(body.created_by).toMatchObject({ kind: 'client' });
  });

  test('a one-shot run takes labels, and its notices carry them', async () => {
    const reader = await server.stream('/v1/agents/echo/runs', {
      method: 'POST',
      body: { input: { prompt: 'hi' }, labels: { shot: 'one' } },
    });
    await reader.all();
    const { body } = await server.send('list_tenant_runs', { query: { label: 'shot:one' } });
    expect(body.runs).toHaveLength(1);
    const id = body.runs[0]?.id;
    await expect
      .poll(async () => {
        const headers = { accept: 'application/json' };
        const { events } = (await server.send('follow_tenant_events', { headers })).body;
        const own = events.filter(({ run_id }) => run_id === id);
        return own.map(({ data }) => data.labels);
      })
      .toEqual([{ shot: 'one' }, { shot: 'one' }, { shot: 'one' }]);
  });

  test('labels are part of the request that an idempotency key names', async () => {
    const session = await openSession(server, 'echo');
    const params = { session_id: session.id };
    const body = { input: { prompt: 'hi' }, idempotency_key: 'labels-1', labels: { a: '1' } };
    const first = await server.send('start_run', { params, body });
    expect((await server.send('start_run', { params, body })).body.id).toBe(first.body.id);
    const other = { ...body, labels: { a: '2' } };
    expect(await server.refused('start_run', { params, body: other })).toMatchObject({
      status: 409,
      error: 'idempotency_conflict',
    });
    const create = { agent_name: 'echo', idempotency_key: 'labels-2', labels: { a: '1' } };
    await server.send('create_session', { body: create });
    const changed = { ...create, title: 'Other' };
    expect(await server.refused('create_session', { body: changed })).toMatchObject({
      error: 'idempotency_conflict',
    });
  });

  test.each([
    [{ Upper: 'x' }, 'Upper'],
    [{ '': 'x' }, 'key'],
    [{ [`k${'x'.repeat(64)}`]: 'x' }, 'key'],
    [{ number: 1 }, 'labels.number'],
    [{ long: 'x'.repeat(513) }, 'labels.long'],
    [{ line: 'a\nb' }, 'labels.line'],
    [{ nothing: null }, 'labels.nothing'],
  ])('%j is refused by name, and nothing is changed', async (labels, name) => {
    const session = await openSession(server, 'echo');
    const params = { session_id: session.id };
    const input = { prompt: 'hi' };
    const calls = [
      await server.refused('create_session', { body: { agent_name: 'echo', labels } }),
      await server.refused('start_run', { params, body: { input, labels } }),
      await server.refused('invoke_agent', {
        params: { agent_name: 'echo' },
        body: { input, labels },
      }),
    ];
    for (const refused of calls) {
      expect(refused).toMatchObject({ status: 400, error: 'invalid_label' });
      expect(refused.message).toContain(name);
    }
    const { body } = await server.send('list_runs', { params });
    expect(body.runs).toEqual([]);
    if (Object.values(labels).includes(null)) return;
    const patched = await server.refused('update_session', { params, body: { labels } });
    expect(patched).toMatchObject({ status: 400, error: 'invalid_label' });
  });

  test('more than sixteen labels are refused, also those that come together from session and run', async () => {
    const many = (count: number, prefix: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, 'x']));
    const labels = many(16, 'a');
    const { body: session } = await server.send('create_session', {
      body: { agent_name: 'echo', labels },
    });
    const params = { session_id: session.id };
    const { body: kept } = await run(server, session.id, 'hi');
    const input = { prompt: 'hi' };
    for (const refused of [
      await server.refused('create_session', {
        body: { agent_name: 'echo', labels: many(17, 'a') },
      }),
      await server.refused('start_run', { params, body: { input, labels: { b: 'x' } } }),
      await server.refused('invoke_agent', {
        params: { agent_name: 'echo' },
        body: { input, labels: many(17, 'a') },
      }),
      await server.refused('update_session', { params, body: { labels: { b: 'x' } } }),
      await server.refused('update_run', {
        params: { ...params, run_id: kept.id },
        body: { labels: { b: 'x' } },
      }),
    ]) {
      expect(refused).toMatchObject({ status: 409, error: 'label_limit_reached' });
      expect(refused.message).toContain('labels');
    }
    const patched = await server.refused('update_run', {
      params: { ...params, run_id: kept.id },
      body: { labels: { B: 'x' } },
    });
    expect(patched).toMatchObject({ status: 400, error: 'invalid_label' });
  });

  test.each(['nothing', ':x', 'Upper:x'])('a filter by label=%s is refused', async (label) => {
    for (const id of ['list_tenant_runs', 'list_tenant_interactions'] as const) {
      const refused = await server.refused(id, { query: { label } });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_label' });
    }
  });
});

test('a page looks at no more than 5,000 rows and says where it got to (D-253)', async () => {
  const server = await startServer();
  const client = await addClient(server, { name: 'many' });
  const tenant = await addTenant(server, 'Many');
  const as = client.in(tenant);
  const { body: session } = await server.send('create_session', {
    as,
    body: { agent_name: 'echo' },
  });
  await server.convoke.services.store.transaction(async (tx) => {
    for (let n = 1; n <= 5_050; n += 1) {
      const identity = {
        id: runId(`run_${String(n).padStart(26, '0')}`),
        organizationId: organizationId(server.quickstart.organization_id),
        tenantId: tenantId(tenant),
        sessionId: sessionId(session.id),
        agentName: 'echo',
        clientId: null,
        number: n,
        input: '{}',
        preview: n === 1 ? 'needle' : 'hay',
      };
      const queued = openRun(identity, { isHead: false, now: n });
      await tx.runs.insert(queued);
      tx.runs.save(endRun(queued, { status: 'cancelled' }, { now: n }), queued);
    }
  });
  const query = { q: 'needle' };
  const first = (await server.send('list_tenant_runs', { as, query })).body;
  expect(first.runs).toEqual([]);
  const cursor = first.next_cursor ?? expect.unreachable();
  const second = (await server.send('list_tenant_runs', { as, query: { ...query, cursor } })).body;
  expect(second.runs.map(({ preview }) => preview)).toEqual(['needle']);
  expect(second.next_cursor).toBeUndefined();
});

test('a page of sessions with a label looks at no more than 5,000 of them (D-253)', async () => {
  const server = await startServer();
  const tenant = await addTenant(server, 'Many sessions');
  const as = (await addClient(server)).in(tenant);
  const { body: first } = await server.send('create_session', {
    as,
    body: { agent_name: 'asker', labels: { team: 'ops' } },
  });
  const { store } = server.convoke.services;
  const scope = { organizationId: organizationId(''), tenantId: tenantId(tenant) };
  const known =
    (await store.read.sessions.find(scope, sessionId(first.id))) ?? expect.unreachable();
  await store.transaction(async (tx) => {
    for (let n = 1; n <= 5_050; n += 1) {
      const id = sessionId(`sess_z${String(n).padStart(25, '0')}`);
      const session = { ...known, id, agentName: 'echo' };
      tx.sessions.insert(session);
      tx.labels.insert(session, session.labels);
    }
  });
  const query = { label: 'team:ops', agent_name: 'asker' };
  const page = (await server.send('list_sessions', { as, query })).body;
  expect(page.sessions).toEqual([]);
  const cursor = page.next_cursor ?? expect.unreachable();
  const next = (await server.send('list_sessions', { as, query: { ...query, cursor } })).body;
  expect(next.sessions.map(({ id }) => id)).toEqual([first.id]);
  expect(next.next_cursor).toBeUndefined();
});
