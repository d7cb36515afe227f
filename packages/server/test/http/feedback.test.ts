import { type FeedbackRecord, type RunRecord, sessionId, tenantId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { at, begin, logOf, openSession, runIn, startRun } from '../support/api-steps.ts';
import type { Identity } from '../support/checked-calls.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { addClient } from '../support/identities.ts';
import { type TestServer, bearer, startServer } from '../support/server.ts';
import { addMember, asPerson } from '../support/sign-in/console.ts';

/** What is written about runs, by whom, and what the feed and the lists tell of it (D-575 to D-580). */
describe.each(databaseKinds)('feedback on %s', (database) => {
  let server: TestServer;
  let run: RunRecord;
  beforeAll(async () => {
    server = await startServer({ database });
    ({ run } = await begin(server, 'echo'));
    await runIn(server, run, 'completed');
  });

  const put = (key: string, body: object, { as = server.client, of = run } = {}) =>
    server.send('put_feedback', { as, params: { ...at(of), key }, body });
  const refusedPut = (key: string, body: object, { as = server.client, of = run } = {}) =>
    server.refused('put_feedback', { as, params: { ...at(of), key }, body });
  const list = async ({ as = server.client, of = run } = {}) =>
    (await server.send('list_feedback', { as, params: at(of) })).body.feedback;
  const tokenFor = async (session_id: string, end_user?: string): Promise<Identity> => {
    const body = end_user === undefined ? {} : { end_user };
    const { body: made } = await server.send('create_session_token', {
      params: { session_id },
      body,
    });
    return bearer(made.token);
  };
  const newRun = async (): Promise<RunRecord> => (await begin(server, 'echo')).run;
  /** What the feed tells of a run, once a last entry of it has arrived. */
  const noticesOf = async (of: RunRecord) => {
    await put('last', { score: 7 }, { of });
    return eventually(async () => {
      const told: object[] = [];
      for (let after: string | undefined; ; ) {
        const since = after === undefined ? {} : { 'last-event-id': after };
        const { body } = await server.send('follow_tenant_events', {
          query: { types: 'run_feedback', limit: '100' },
          headers: { accept: 'application/json', ...since },
        });
        told.push(...body.events.flatMap(({ run_id, data }) => (run_id === of.id ? [data] : [])));
        if (body.next_cursor === undefined) break;
        after = body.last_event_id;
      }
      const last = told.at(-1);
      return last && 'score' in last && last.score === 7 ? told.slice(0, -1) : undefined;
    });
  };

  test('the last words of an author count, and the same words again change nothing (D-575, D-578)', async () => {
    const of = await newRun();
    const before = await runIn(server, of, 'completed');
    const created = await put('rating', { score: 1, value: 'good', comment: 'a\nb' }, { of });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ key: 'rating', score: 1, value: 'good', comment: 'a\nb' });
    const equal = await put('rating', { score: 1, value: 'good', comment: 'a\nb' }, { of });
    expect({ status: equal.status, body: equal.body }).toEqual({ status: 200, body: created.body });
    const replaced = await put('rating', { score: -0.5 }, { of });
    expect(replaced.status).toBe(200);
    const { created_at, updated_at, ...rest } = replaced.body;
    expect(rest).toEqual({ key: 'rating', score: -0.5, author: created.body.author });
    expect(created_at).toBe(created.body.created_at);
    expect(updated_at > created.body.updated_at).toBe(true);
    expect(await list({ of })).toEqual([replaced.body]);
    // The log of a run is closed by its end, and feedback is no change of the run.
    const { body: after } = await server.send('get_run', { params: at(of) });
    expect(after).toEqual(before);
    expect((await logOf(server, of)).at(-1)?.type).toBe('run_completed');
    const params = { ...at(of), key: 'rating' };
    expect((await server.send('delete_feedback', { params })).status).toBe(204);
    expect(await list({ of })).toEqual([]);
    const again = await server.refused('delete_feedback', { params });
    expect(again).toMatchObject({ status: 404, error: 'not_found' });
    const facts = { agent_name: 'echo', status: 'completed', feedback_key: 'rating' };
    expect(await noticesOf(of)).toEqual([
      { ...facts, score: 1, author_kind: 'client' },
      { ...facts, score: -0.5, author_kind: 'client' },
      { ...facts, author_kind: 'client', deleted: true },
    ]);
  });

  test('the author is the caller, and never a field (D-576)', async () => {
    const { session_id } = run;
    const person = await addMember(server, 'operator');
    const [asOperator, asUser, asPage] = [
      await asPerson(server, person),
      await tokenFor(session_id, 'u-17'),
      await tokenFor(session_id),
    ];
    const authors: [Identity, object, FeedbackRecord['author']][] = [
      [server.client, {}, { kind: 'client', id: expect.stringMatching(/^cli_/) }],
      [asOperator, {}, { kind: 'person', id: person }],
      [asUser, {}, { kind: 'end_user', id: 'u-17' }],
      [asPage, {}, { kind: 'end_user', id: session_id }],
      [server.client, { end_user: 'a:b' }, { kind: 'end_user', id: 'a:b' }],
    ];
    for (const [as, more, author] of authors) {
      const { status, body } = await put('who', { score: 1, ...more }, { as });
      expect(status).toBe(201);
      expect(body.author).toMatchObject(author);
    }
    // A client that speaks for a user is the same author as the page of that user.
    expect((await put('who', { score: 2, end_user: 'u-17' })).status).toBe(200);
    const given = await list();
    expect(given.map(({ author: { kind, id }, score }) => [kind, id, score])).toEqual([
      ['client', expect.any(String), 1],
      ['end_user', 'a:b', 1],
      ['end_user', session_id, 1],
      ['end_user', 'u-17', 2],
      ['person', person, 1],
    ]);
    expect(given.find(({ author }) => author.kind === 'client')?.author.name).toBeDefined();
    expect(given.find(({ author }) => author.kind === 'person')?.author.name).toBeDefined();
    for (const as of [asOperator, asUser, asPage]) {
      const refused = await refusedPut('who', { score: 3, end_user: 'u-17' }, { as });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_body' });
      const params = { ...at(run), key: 'who' };
      const query = { end_user: 'u-17' };
      const kept = await server.refused('delete_feedback', { as, params, query });
      expect(kept).toMatchObject({ status: 400, error: 'invalid_body' });
    }
    expect(await list()).toEqual(given);
    await server.send('delete_feedback', { as: asUser, params: { ...at(run), key: 'who' } });
    const left = (await list()).map(({ author }) => author.id);
    expect(left).not.toContain('u-17');
    expect(left).toHaveLength(given.length - 1);
  });

  test('viewers and clients without the scope read only; a page needs it too (D-577)', async () => {
    const asViewer = await asPerson(server, await addMember(server, 'viewer'));
    const observer = await addClient(server, { profile: 'observe' });
    const body = { scopes: ['runs:read'] };
    const params = { session_id: run.session_id };
    const { token } = (await server.send('create_session_token', { params, body })).body;
    for (const as of [asViewer, observer.in(server.quickstart.tenant_id), bearer(token)]) {
      const refused = await refusedPut('rating', { score: 1 }, { as });
      expect(refused).toMatchObject({ status: 403, error: 'insufficient_scope' });
      expect(Array.isArray(await list({ as }))).toBe(true);
    }
  });

  test('a page reaches the runs of its session, and sees what its own author said (D-576, D-775)', async () => {
    const others = await openSession(server, 'echo');
    const foreign = await startRun(server, others, 'theirs');
    const [mine, theirs] = [
      await tokenFor(run.session_id, 'u-1'),
      await tokenFor(others.id, 'u-1'),
    ];
    await put('note', { comment: 'what the team thinks' });
    await put('note', { score: 1 }, { as: mine });
    await put('note', { score: 2 }, { as: theirs, of: foreign });
    expect((await list({ as: mine })).map(({ score }) => score)).toEqual([1]);
    expect((await list({ as: theirs, of: foreign })).map(({ score }) => score)).toEqual([2]);
    const textOfRefusal = async (as: Identity, of: RunRecord) => {
      const answer = await refusedPut('note', { score: 1 }, { as, of });
      expect(answer).toMatchObject({ status: 404, error: 'not_found' });
      return answer.text.replace(/"request_id":"[^"]*"/, '');
    };
    const missing = await textOfRefusal(mine, { ...run, id: 'run_nothing' });
    expect(await textOfRefusal(mine, foreign)).toBe(missing);
    expect(await textOfRefusal(mine, { ...foreign, session_id: run.session_id })).toBe(missing);
  });

  test('twenty writers of one entry leave one row, and a notice for each change (D-578, D-579)', async () => {
    const of = await newRun();
    await runIn(server, of, 'completed');
    const secret = 'words of a conversation';
    const writes = Array.from({ length: 20 }, async (_, index) =>
      put('rating', { score: index % 4, value: secret, comment: secret }, { of }),
    );
    const answers = await Promise.all(writes);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const [only, ...rest] = await list({ of });
    expect(rest).toEqual([]);
    // Each change has a time of its own, so the answers tell how many there were.
    const changes = new Set(answers.map(({ body }) => body.updated_at)).size;
    const notices = await noticesOf(of);
    expect(notices).toHaveLength(changes);
    expect(notices.at(-1)).toMatchObject({ score: only?.score });
    expect(JSON.stringify(notices)).not.toContain(secret);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        put('each', { score: index, end_user: `user ${index}` }, { of }),
      ),
    );
    expect((await list({ of })).filter(({ key }) => key === 'each')).toHaveLength(20);
  });

  test('a run has at most 200 entries, which their authors may still replace (D-575)', async () => {
    const of = await newRun();
    const user = { end_user: 'u' };
    for (let from = 0; from < 200; from += 20) {
      const keys = Array.from({ length: 20 }, (_, index) => `key-${from + index}`);
      await Promise.all(keys.map((key) => put(key, { score: 1, ...user }, { of })));
    }
    const full = await refusedPut('one-more', { score: 1, end_user: 'u' }, { of });
    expect(full).toMatchObject({ status: 409, error: 'feedback_limit_reached' });
    expect((await put('key-7', { score: -1, end_user: 'u' }, { of })).status).toBe(200);
    expect(await list({ of })).toHaveLength(200);
    const params = { ...at(of), key: 'key-7' };
    await server.send('delete_feedback', { params, query: { end_user: 'u' } });
    expect((await put('one-more', { score: 1, end_user: 'u' }, { of })).status).toBe(201);
  });

  test('what is no feedback is refused before anything is stored', async () => {
    const of = await newRun();
    const bodies: object[] = [
      {},
      { end_user: 'u-17' },
      { score: '1' },
      { score: 1.1e9 },
      { score: null },
      { value: 'x'.repeat(257) },
      { value: 'two\nlines' },
      { comment: '' },
      { comment: 'x'.repeat(4001) },
      { score: 1, end_user: 'x'.repeat(201) },
    ];
    for (const body of bodies) {
      const refused = await refusedPut('rating', body, { of });
      expect({ sent: body, ...refused }).toMatchObject({ status: 400, error: 'invalid_body' });
    }
    const unknown = await refusedPut('rating', { score: 1, author: 'me' }, { of });
    expect(unknown).toMatchObject({ status: 400, error: 'unknown_field' });
    for (const key of ['Rating', '1', 'a'.repeat(65), 'a b', 'ä']) {
      const refused = await refusedPut(key, { score: 1 }, { of });
      expect({ key, ...refused }).toMatchObject({ status: 404, error: 'not_found' });
    }
    expect(await list({ of })).toEqual([]);
    await put('a'.repeat(64), { score: -1e9, value: 'x'.repeat(256), comment: '😀'.repeat(4000) });
  });

  test('a run that is being deleted takes no feedback, and keeps none', async () => {
    const { store } = server.convoke.services;
    const tenant = tenantId(server.quickstart.tenant_id);
    const { session, run: of } = await begin(server, 'echo');
    await runIn(server, of, 'completed');
    await put('rating', { score: 1 }, { of });
    const deletion = store.transaction((tx) =>
      tx.tenants.purgeSession(tenant, sessionId(session.id), 100),
    );
    const path = `/v1/sessions/${session.id}/runs/${of.id}/feedback/late`;
    const late = server.call('PUT', path, { body: { score: 1 } });
    expect(await deletion).toBe(true);
    expect([201, 404]).toContain((await late).status);
    expect(await refusedPut('rating', { score: 2 }, { of })).toMatchObject({ status: 404 });
  });
});
