import { beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { cancelRun } from '../../src/app/runs/runs.ts';
import type { Json } from '../../src/domain/json.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import type { PlacedNote } from '../../src/execution/recording/leg-notes.ts';
import { databaseKinds } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture, delta, over } from '../support/run-fixture.ts';

describe.each(databaseKinds)('legs on %s', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  const types = async (run: Run) => (await world.logOf(run.id)).map(({ type }) => type);
  const answer = async (run: Run, ref: string, body: Record<string, string>) => {
    const asked = await world.store.read.interactions.findByRequest(run.id, ref);
    if (asked === undefined) throw new Error('no question was asked');
    const at = { sessionId: run.sessionId, key: asked.key };
    return answerInteraction(world, world.scope, { ...at, body, by, allower });
  };
  const permission = {
    type: 'permission_request',
    ref: 'p',
    toolName: 'rm',
    toolInput: { path: '/' },
  } as const;

  test('one of many workers claims the run, with one run_started', async () => {
    for (let round = 0; round < 5; round += 1) {
      const run = await world.start(await world.open());
      const legs = await Promise.all(
        Array.from({ length: 10 }, (_, index) => world.claim(run, `worker-${index}`)),
      );
      expect(legs.filter((leg) => leg !== undefined)).toHaveLength(1);
      expect(await types(run)).toEqual(['run_started']);
      expect((await world.read(run)).leaseEpoch).toBe(1);
    }
  });

  test('a tenant never executes more runs than its limit, however many servers claim at once', async () => {
    const crowded = await createRunFixture(kind, {}, { isSingleServer: false });
    const runs = await Promise.all(
      Array.from({ length: 12 }, async () => crowded.start(await crowded.open())),
    );
    const share = crowded.settings.tenantRunConcurrency;
    const claim = async (run: Run) => crowded.claim(run, `worker-of-${run.id}`);
    const legs = (await Promise.all(runs.map(claim))).filter((leg) => leg !== undefined);
    expect(legs).toHaveLength(share);
    const [first, ...others] = legs;
    if (first === undefined) throw new Error('no run was claimed');
    await crowded.record(first, { end: { status: 'completed', ...over } });
    const left = runs.filter((run) => legs.every((leg) => leg.run.id !== run.id));
    const more = (await Promise.all(left.map(claim))).filter((leg) => leg !== undefined);
    expect([...others, ...more]).toHaveLength(share);
  });

  test('only the head of a session can be claimed, and only once it is free', async () => {
    const sessionId = await world.open();
    const first = await world.start(sessionId);
    const second = await world.start(sessionId);
    expect(await world.claim(second)).toBeUndefined();
    const leg = await world.claimed(first);
    expect(await world.claim(second)).toBeUndefined();
    await world.record(leg, { end: { status: 'completed', ...over } });
    expect((await world.claimed(second)).run.status).toBe('running');
  });

  test('a batch is stored completely and in order, or not at all', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    expect(await world.record(leg, { items: [delta('a'), delta('b')] })).toBe(3);
    const items = [delta('c'), permission, delta('d')];
    expect(await world.record(leg, { items, notes: [checkpoint({ at: 1 })] })).toBe(6);
    expect(await types(run)).toEqual([
      'run_started',
      'message_delta',
      'message_delta',
      'message_delta',
      'permission_request',
      'message_delta',
    ]);
    const state = await world.store.read.sessions.state(run.sessionId);
    expect(state).toMatchObject({ checkpoint: '{"at":1}', point: null });
  });

  test('event times never decrease within a run, whatever the clock does (D-03)', async () => {
    const run = await world.start(await world.open());
    const startedAt = world.clock.now();
    const leg = await world.claimed(run);
    world.clock.advance(1_000);
    await world.record(leg, { items: [delta('a')] });
    world.clock.advance(-3_600_000);
    await world.record(leg, { items: [delta('b')] });
    await world.record(leg, { end: { status: 'completed', ...over } });
    const { lastEventAt } = await world.read(run);
    expect(lastEventAt).toBe(startedAt + 1_000);
  });

  test('no worker can write after the end of a run', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    await world.record(leg, { end: { status: 'completed', ...over } });
    expect(await world.record(leg, { items: [delta('late')] })).toBeUndefined();
    expect(await world.record(leg, { end: { status: 'completed', ...over } })).toBeUndefined();
    expect(await types(run)).toEqual(['run_started', 'run_completed']);
  });

  test('an answer is applied by the leg claimed with it, and by no other (D-39)', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    await world.record(leg, { items: [permission], end: { status: 'waiting', ...over } });
    expect(await world.claim(run)).toBeUndefined();
    await answer(run, 'p', { decision: 'allow' });
    const claims = await Promise.all([world.claim(run, 'a'), world.claim(run, 'b')]);
    const [resumed, ...others] = claims.filter((claim) => claim !== undefined);
    expect(others).toEqual([]);
    expect(answersOf(resumed)).toEqual([
      ['p', { kind: 'permission', allow: true, input: { path: '/' } }],
    ]);
    const asked = await world.store.read.interactions.findByRequest(run.id, 'p');
    expect(asked).toMatchObject({ status: 'answered', appliedAt: expect.any(Number) });
    expect(await world.store.read.interactions.unapplied(run.id)).toEqual([]);
    // The epoch of the first leg has ended, so its worker can no longer write.
    expect(await world.record(leg, { items: [delta('stale')] })).toBeUndefined();
  });

  test('an answer that arrives while the leg is ending is not lost', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    await world.record(leg, { items: [permission] });
    await answer(run, 'p', { decision: 'deny' });
    await world.record(leg, { end: { status: 'waiting', ...over } });
    const resumed = await world.claimed(run);
    expect(answersOf(resumed)).toEqual([['p', { kind: 'permission', allow: false }]]);
  });

  test('a cancel that arrives while the leg is ending wins over the outcome of the leg', async () => {
    for (const status of ['completed', 'waiting', 'cancelled', 'yielded'] as const) {
      const run = await world.start(await world.open());
      const leg = await world.claimed(run);
      await world.record(leg, { items: [permission] });
      await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
      await world.record(leg, { end: { status, ...over } });
      expect(await world.read(run)).toMatchObject({ status: 'cancelled', pendingInteractions: 0 });
      const asked = await world.store.read.interactions.findByRequest(run.id, 'p');
      expect(asked?.status).toBe('cancelled');
    }
  });

  test('token usage adds up over the legs of a run', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    const notes = [used({ inputTokens: 3, outputTokens: 4 })];
    await world.record(leg, {
      items: [permission],
      notes,
      end: { status: 'waiting', outputText: 'so far' },
    });
    await answer(run, 'p', { decision: 'allow' });
    const next = await world.claimed(run);
    await world.record(next, {
      notes,
      end: { status: 'completed', outputText: 'so far so good' },
    });
    expect(await world.read(run)).toMatchObject({
      usage: { inputTokens: 6, outputTokens: 8 },
      outputText: 'so far so good',
    });
  });
});

function used(tokens: { inputTokens: number; outputTokens: number }): PlacedNote {
  const more = { seq: 1, model: 'm', cachedInputTokens: 0, reasoningTokens: 0, cost: null };
  return { note: { kind: 'usage', entry: { ...tokens, ...more } }, after: 0 };
}

function checkpoint(state: Json): PlacedNote {
  return { note: { kind: 'checkpoint', state, isRecoveryPoint: false }, after: 0 };
}

function answersOf(leg: ClaimedLeg | undefined) {
  return leg?.input.kind === 'resume' ? [...leg.input.answers] : undefined;
}
