import { formatNoticeId, tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { announce } from '../../src/app/feed/notices.ts';
import { numberNotices } from '../../src/app/feed/number-notices.ts';
import { cancelRun } from '../../src/app/runs/runs.ts';
import { stopSession } from '../../src/app/sessions.ts';
import type { NoticeDraft } from '../../src/domain/notice.ts';
import { sql } from '../../src/store/sql.ts';
import { forgetOldNotices } from '../../src/workers/retention/forget-old-notices.ts';
import { numberingPass } from '../../src/workers/number-notices.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture, delta, over } from '../support/run-fixture.ts';

interface NoticeBody {
  readonly id: string;
  readonly type: string;
  readonly session_id?: string;
  readonly run_id?: string;
  readonly created_at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Numbers what is in the outbox and returns the whole feed of the tenant. */
async function feedOf(world: RunFixture, scope = world.scope): Promise<NoticeBody[]> {
  const pass = numberingPass(world);
  while (await pass());
  const notices = await world.store.read.feeds.after(scope, 0, 10_000);
  return notices.map(({ seq, type, body }) => {
    const notice: NoticeBody = JSON.parse(body);
    if (notice.type !== type || notice.id !== formatNoticeId(seq)) throw new Error(body);
    return notice;
  });
}

const ask = { type: 'user_question', ref: 'q', question: 'Which secret word?' } as const;
const draft = (n: number): NoticeDraft => ({ type: 'budget_reached', at: n, data: { n } });

describe.each(databaseKinds)('notices on %s', (kind) => {
  test('every change of a run and its session writes its notice in the same transaction, in order (D-110)', async () => {
    const world = await createRunFixture(kind);
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    await world.record(leg, { items: [delta('x'), ask], end: { status: 'waiting', ...over } });
    const asked = await world.store.read.interactions.findByRequest(run.id, 'q');
    const key = asked?.key ?? expect.unreachable();
    await answerInteraction(world, world.scope, {
      sessionId: run.sessionId,
      key,
      body: { answer: 'plover' },
      by,
      allower,
    });
    const next = await world.claimed(run);
    await world.record(next, { items: [], end: { status: 'completed', ...over } });
    await stopSession(world, world.scope, { id: run.sessionId, mode: 'suspend', reason: 'x' });
    await stopSession(world, world.scope, { id: run.sessionId, mode: 'terminate', reason: 'x' });

    const feed = await feedOf(world);
    const about = { agent_name: 'agent' };
    const question = { interaction_key: key, kind: 'question' };
    expect(feed.map(({ type, data }) => [type, data])).toEqual([
      ['session_created', { ...about, status: 'idle' }],
      ['run_queued', { ...about, status: 'queued' }],
      ['run_started', { ...about, status: 'running', run_event_id: '000000000001' }],
      ['run_waiting', { ...about, status: 'waiting', ...question, run_event_id: '000000000003' }],
      [
        'interaction_answered',
        { ...about, status: 'waiting', ...question, run_event_id: '000000000004' },
      ],
      ['run_resumed', { ...about, status: 'running', run_event_id: '000000000005' }],
      ['run_completed', { ...about, status: 'completed', run_event_id: '000000000006' }],
      ['session_stopped', { ...about, status: 'stopped' }],
      ['session_ended', { ...about, status: 'terminated' }],
    ]);
    expect(feed.map(({ id }) => Number(id))).toEqual(feed.map((_, index) => index + 1));
    expect(new Set(feed.map((notice) => notice.session_id))).toEqual(new Set([run.sessionId]));
    expect(JSON.stringify(feed)).not.toMatch(/secret|plover/);
  });

  test('a failed, an interrupted and a cancelled run have their notices, with the error code (D-110)', async () => {
    const world = await createRunFixture(kind, {}, { afterLoss: 'repeat' });
    const failing = await world.start(await world.open());
    const failed = { status: 'failed', code: 'agent_error', message: 'secret', ...over } as const;
    await world.record(await world.claimed(failing), { end: failed });
    const cancelled = await world.start(await world.open());
    await cancelRun(world, world.scope, { sessionId: cancelled.sessionId, runId: cancelled.id });
    const lost = await world.start(await world.open());
    await world.claimed(lost, 'gone');
    world.clock.advance(60_000);
    const leases = {
      owner: 'worker-1',
      isExecuting: () => false,
      canTrustExpiry: () => true,
    };
    await reconcileRuns(world, leases);
    world.clock.advance(600_000);
    await world.claimed(lost);

    const feed = await feedOf(world);
    const of = (id: string) =>
      feed.filter(({ run_id }) => run_id === id).map(({ type, data }) => [type, data['status']]);
    expect(of(failing.id)).toEqual([
      ['run_queued', 'queued'],
      ['run_started', 'running'],
      ['run_failed', 'failed'],
    ]);
    expect(of(cancelled.id)).toEqual([
      ['run_queued', 'queued'],
      ['run_cancelled', 'cancelled'],
    ]);
    expect(of(lost.id)).toEqual([
      ['run_queued', 'queued'],
      ['run_started', 'running'],
      ['run_interrupted', 'running'],
      ['run_resumed', 'running'],
    ]);
    const error = feed.find(({ type }) => type === 'run_failed');
    expect(error?.data['error_code']).toBe('agent_error');
    expect(JSON.stringify(feed)).not.toContain('secret');
  });

  test('a change that is rolled back leaves no notice (D-110)', async () => {
    const world = await createRunFixture(kind);
    const sessionId = await world.open();
    const undone = world.store.transaction(async (tx) => {
      announce(world, tx, { tenantId: world.scope.tenantId, notices: [draft(1)] });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect((await feedOf(world)).map((notice) => notice.session_id)).toEqual([sessionId]);
  });

  test('more notices than one transaction takes are numbered without a gap, each tenant on its own (D-111)', async () => {
    const world = await createRunFixture(kind);
    const other = await world.seed.tenant(world.scope.organizationId);
    const count = 1_201;
    const notices = Array.from({ length: count }, (_, n) => draft(n));
    for (const id of [world.scope.tenantId, other.id]) {
      await world.store.transaction(async (tx) => announce(world, tx, { tenantId: id, notices }));
    }
    expect(await numberNotices(world, world.scope.tenantId)).toBe(true);
    expect(await world.store.read.feeds.bounds(world.scope)).toEqual({
      lastSeq: 500,
      oldestSeq: 1,
    });
    for (const scope of [world.scope, { ...world.scope, tenantId: other.id }]) {
      const feed = await feedOf(world, scope);
      expect(feed.map(({ data }) => data['n'])).toEqual(notices.map(({ data }) => data['n']));
    }
    expect(await world.database.all(sql`select * from outbox`)).toEqual([]);
  });

  test('notices older than the retention are deleted from the oldest on, and the feed knows its oldest (D-113)', async () => {
    const world = await createRunFixture(kind);
    const { tenantId: id } = world.scope;
    const add = (...notices: NoticeDraft[]) =>
      world.store.transaction(async (tx) => announce(world, tx, { tenantId: id, notices }));
    await add(...Array.from({ length: 700 }, (_, n) => draft(n)));
    await feedOf(world);
    world.clock.advance(10_000);
    await add(draft(700), draft(701));
    await feedOf(world);
    await forgetOldNotices(world, 20_000);
    expect(await world.store.read.feeds.bounds(world.scope)).toEqual({
      lastSeq: 702,
      oldestSeq: 1,
    });
    await forgetOldNotices(world, 5_000);
    const kept = { lastSeq: 702, oldestSeq: 701 };
    expect(await world.store.read.feeds.bounds(world.scope)).toEqual(kept);
    world.clock.advance(10_000);
    await forgetOldNotices(world, 5_000);
    const none = { lastSeq: 702, oldestSeq: 703 };
    expect(await world.store.read.feeds.bounds(world.scope)).toEqual(none);
    await add(draft(702));
    expect((await feedOf(world)).map((notice) => notice.id)).toEqual([formatNoticeId(703)]);
  });

  test('an unknown tenant has an empty feed', async () => {
    const world = await createRunFixture(kind);
    const scope = { ...world.scope, tenantId: tenantId('ten_none') };
    expect(await world.store.read.feeds.bounds(scope)).toEqual({ lastSeq: 0, oldestSeq: 1 });
    expect(await feedOf(world, scope)).toEqual([]);
  });
});
