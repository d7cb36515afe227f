import { eventTypes } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  answer,
  begin,
  cancel,
  ended,
  keyOf,
  logOf,
  openSession,
  pendingIn,
  readRun,
  readSession,
  runIn,
  textOf,
} from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import type { Puppet } from '../support/puppet-harness.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { type TestServer, deployments } from '../support/server.ts';

const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

describe.each(deployments)('interactions on %s', (database) => {
  let server: TestServer;
  let puppet: Puppet;
  beforeAll(async () => {
    ({ server, puppet } = await startPuppetServer({ database }));
  });

  const list = async (session: { id: string }, query: Record<string, string> = {}) =>
    (await server.send('list_interactions', { params: { session_id: session.id }, query })).body
      .interactions;
  describe('a question (D-36 to D-39)', () => {
    test('is a record with a key, an event, and a waiting run', async () => {
      const { session, run } = await begin(server, 'asker', 'friend');
      const asked = await pendingIn(server, session.id);
      expect(asked).toEqual({
        interaction_key: expect.stringMatching(/^int_[0-9a-hjkmnp-tv-z]{26}$/),
        kind: 'question',
        status: 'pending',
        session_id: session.id,
        run_id: run.id,
        request_id: 'step-1',
        question: 'Which colour, friend?',
        options: [{ label: 'red' }, { label: 'blue', description: 'like the sea' }],
        created_at: expect.any(String),
        expires_at: expect.any(String),
      });
      expect(await runIn(server, run, 'waiting')).toMatchObject({ pending_interactions: 1 });
      const answered = await answer(server, asked, { answer: 'blue' });
      expect(answered).toMatchObject({
        status: 'answered',
        answer: 'blue',
        answered_by: expect.stringMatching(/^cli_/),
        answered_by_name: 'Quickstart',
        answered_at: expect.any(String),
      });
      const log = await logOf(server, run);
      expect(typesOf(log)).toEqual([
        'run_started',
        'message_delta',
        'user_question',
        'user_answered',
        'run_resumed',
        'message_delta',
        'message_delta',
        'message_delta',
        'run_completed',
      ]);
      expect(log[2]?.data).toEqual({
        request_id: 'step-1',
        interaction_key: asked.interaction_key,
        question: 'Which colour, friend?',
        options: asked.options,
      });
      expect(log[3]?.data).toEqual({ interaction_key: asked.interaction_key, answer: 'blue' });
      expect(textOf(log)).toBe('Hm. You said blue.');
      const [after] = await list(session, { status: 'all' });
      expect(after?.applied_at).toBeDefined();
    });

    test('may be declined, with a message', async () => {
      const { session, run } = await begin(server, 'asker');
      const asked = await pendingIn(server, session.id);
      const declined = await answer(server, asked, { declined: true, message: 'not my call' });
      expect(declined).toMatchObject({
        status: 'answered',
        declined: true,
        message: 'not my call',
      });
      const log = await logOf(server, run);
      expect(log.find(({ type }) => type === 'user_answered')?.data).toEqual({
        interaction_key: asked.interaction_key,
        declined: true,
        message: 'not my call',
      });
      expect(textOf(log)).toBe('Hm. You said .');
    });

    test('that allows several options accepts several, and any other refuses them', async () => {
      const { session, run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.emit(
        { type: 'user_question', ref: 'one', question: 'One?' },
        { type: 'user_question', ref: 'many', question: 'Many?', multiple: true },
      );
      leg.end('waiting');
      await runIn(server, run, 'waiting');
      const asked = await list(session);
      const one = asked.find(({ request_id }) => request_id === 'one');
      const many = asked.find(({ request_id }) => request_id === 'many');
      if (one === undefined || many === undefined) throw new Error('both were asked');
      expect([one.multiple, many.multiple]).toEqual([undefined, true]);
      const refused = await server.refused('answer_interaction', {
        params: keyOf(one),
        body: { answer: ['a', 'b'] },
      });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_answer' });
      await answer(server, many, { answer: ['a', 'b'] });
      // One is still open: the run continues only when all are answered.
      expect(await readRun(server, run)).toMatchObject({
        status: 'waiting',
        pending_interactions: 1,
      });
      await answer(server, one, { answer: ['a'] });
      const resumed = await puppet.leg();
      if (resumed.input.kind !== 'resume') throw new Error('not resumed');
      expect(Object.fromEntries(resumed.input.answers)).toEqual({
        one: { kind: 'question', values: ['a'] },
        many: { kind: 'question', values: ['a', 'b'] },
      });
      resumed.end();
      await ended(server, run);
    });
  });

  describe('answers (D-38)', () => {
    test('the identical answer again is 200 and the same record; a different one is 409', async () => {
      const { session, run } = await begin(server, 'asker');
      const asked = await pendingIn(server, session.id);
      const first = await answer(server, asked, { answer: 'red' });
      const again = await answer(server, asked, { answer: 'red' });
      expect({ ...again, applied_at: undefined }).toEqual({ ...first, applied_at: undefined });
      // One choice is the same answer as text and as a list.
      expect((await answer(server, asked, { answer: ['red'] })).answer).toBe('red');
      for (const body of [{ answer: 'blue' }, { answer: ['blue'] }, { declined: true }]) {
        const refused = await server.refused('answer_interaction', { params: keyOf(asked), body });
        expect(refused).toMatchObject({ status: 409, error: 'interaction_answered' });
      }
      const log = await logOf(server, run);
      expect(typesOf(log).filter((type) => type === 'user_answered')).toHaveLength(1);
      // Still so after the run has ended.
      expect((await answer(server, asked, { answer: 'red' })).status).toBe('answered');
    });

    test.each([
      ['permission', { answer: 'yes' }],
      ['permission', { decision: 'maybe' }],
      ['permission', {}],
      ['permission', { decision: 'allow', answer: 'yes' }],
      ['permission', { decision: 'deny', updated_input: {} }],
      ['permission', { decision: 'allow', updated_input: 'text' }],
      ['question', { decision: 'allow' }],
      ['question', { answer: 7 }],
      ['question', { answer: [] }],
      ['question', { answer: '' }],
      ['question', { declined: false }],
      ['question', { answer: 'x', declined: true }],
      ['question', { answer: 'x', extra: 1 }],
      ['question', { answer: 'nul \u0000' }],
    ])('a %s that is answered with %j is refused and stays pending', async (kind, body) => {
      const session = await sessionThatAsks(kind);
      const asked = await pendingIn(server, session.id);
      const refused = await server.refused('answer_interaction', { params: keyOf(asked), body });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_answer' });
      expect(await pendingIn(server, session.id)).toEqual(asked);
    });

    const asking = new Map<string, Promise<{ id: string }>>();
    /** One session per kind is enough: a refused answer changes nothing. */
    function sessionThatAsks(kind: string): Promise<{ id: string }> {
      const agent = kind === 'permission' ? 'writer' : 'asker';
      const known = asking.get(kind) ?? begin(server, agent).then(({ session }) => session);
      asking.set(kind, known);
      return known;
    }

    test('a request_id, an unknown key and another session answer the same 404', async () => {
      const { session } = await begin(server, 'asker');
      const asked = await pendingIn(server, session.id);
      const other = await openSession(server, 'asker');
      const places = [
        { session_id: session.id, interaction_key: asked.request_id },
        { session_id: session.id, interaction_key: 'int_never' },
        { session_id: other.id, interaction_key: asked.interaction_key },
        { session_id: 'sess_never', interaction_key: asked.interaction_key },
      ];
      const texts = new Set<string>();
      for (const params of places) {
        const refused = await server.refused('answer_interaction', {
          params,
          body: { answer: 'red' },
        });
        expect(refused).toMatchObject({ status: 404, error: 'not_found' });
        texts.add(refused.text.replace(/"request_id":"[^"]*"/, ''));
      }
      expect(texts.size).toBe(1);
      expect((await pendingIn(server, session.id)).status).toBe('pending');
    });

    test('of twenty parallel answers one wins, is emitted once, and reaches the agent', async () => {
      const { session, run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.emit({ type: 'permission_request', ref: 'p', toolName: 'rm', toolInput: { all: true } });
      leg.end('waiting');
      const asked = await pendingIn(server, session.id);
      const results = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const decision = index % 2 === 0 ? 'allow' : 'deny';
          const { status } = await server.call(
            'POST',
            `/v1/sessions/${session.id}/interactions/${asked.interaction_key}/answer`,
            { body: { decision } },
          );
          return { decision, status };
        }),
      );
      const winners = new Set(
        results.filter(({ status }) => status === 200).map(({ decision }) => decision),
      );
      expect(winners.size).toBe(1);
      const [winner] = winners;
      for (const { decision, status } of results) {
        expect(status).toBe(decision === winner ? 200 : 409);
      }
      const resumed = await puppet.leg();
      if (resumed.input.kind !== 'resume') throw new Error('not resumed');
      expect(resumed.input.answers.get('p')).toEqual(
        winner === 'allow'
          ? { kind: 'permission', allow: true, input: { all: true } }
          : { kind: 'permission', allow: false },
      );
      resumed.end();
      const log = await logOf(server, run);
      const emitted = log.filter(({ type }) => type === 'permission_resolved');
      expect(emitted.map(({ data }) => data['decision'])).toEqual([winner]);
    });
  });

  describe('the list (D-37)', () => {
    test('shows pending ones by default, and any status on request', async () => {
      const { session, run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      for (const ref of ['a', 'b']) leg.emit({ type: 'user_question', ref, question: `${ref}?` });
      leg.end('waiting');
      await runIn(server, run, 'waiting');
      const [b, a] = await list(session);
      if (a === undefined || b === undefined) throw new Error('two were asked');
      expect([a.request_id, b.request_id]).toEqual(['a', 'b']);
      await answer(server, a, { answer: 'x' });
      const keys = async (status: string) =>
        (await list(session, { status })).map(({ interaction_key }) => interaction_key);
      expect(await keys('pending')).toEqual([b.interaction_key]);
      expect(await keys('answered')).toEqual([a.interaction_key]);
      expect(await keys('expired')).toEqual([]);
      expect(await keys('all')).toEqual([b.interaction_key, a.interaction_key]);
      await cancel(server, run);
      await ended(server, run);
      expect(await keys('cancelled')).toEqual([b.interaction_key]);
      expect(await keys('pending')).toEqual([]);
    });
  });

  describe('the same request again (spec §6 rule 6)', () => {
    test('is the same interaction, emitted again as replayed, and keeps its answer', async () => {
      const { session, run } = await begin(server, 'puppet');
      const ask = { type: 'user_question', ref: 'q', question: 'Why?' } as const;
      const leg = await puppet.leg();
      leg.emit(ask, ask);
      leg.end('waiting');
      const asked = await pendingIn(server, session.id);
      await runIn(server, run, 'waiting');
      await answer(server, asked, { answer: 'so' });
      (await puppet.leg()).end();
      const log = await logOf(server, run);
      const emitted = log.filter(({ type }) => type === 'user_question');
      expect(emitted.map(({ data }) => data)).toEqual([
        { request_id: 'q', interaction_key: asked.interaction_key, question: 'Why?' },
        {
          request_id: 'q',
          interaction_key: asked.interaction_key,
          question: 'Why?',
          replayed: true,
        },
      ]);
      expect(await list(session, { status: 'all' })).toHaveLength(1);
      for (const { data } of emitted) {
        expect(eventTypes.user_question.data.parse(data)).toEqual(data);
      }
    });
  });

  describe('a runtime that keeps running while a person thinks', () => {
    test('gets the answer while it runs, and the run is running again', async () => {
      const { session, run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.isLive = true;
      leg.emit({ type: 'permission_request', ref: 'live', toolName: 't', toolInput: {} });
      const asked = await pendingIn(server, session.id);
      expect((await readRun(server, run)).status).toBe('waiting');
      expect((await readSession(server, session.id)).status).toBe('waiting');
      await answer(server, asked, { decision: 'allow' });
      await eventually(() => leg.answers.get('live'));
      await runIn(server, run, 'running');
      const [applied] = await list(session, { status: 'answered' });
      expect(applied?.applied_at).toBeDefined();
      leg.end();
      expect((await ended(server, run)).status).toBe('completed');
    });

    test('is cancelled like any other, and its question is cancelled too', async () => {
      const { session, run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.emit({ type: 'permission_request', ref: 'live', toolName: 't', toolInput: {} });
      await pendingIn(server, session.id);
      await cancel(server, run);
      await leg.cancelled.promise;
      expect((await ended(server, run)).status).toBe('cancelled');
      expect(await list(session)).toEqual([]);
    });
  });
});
