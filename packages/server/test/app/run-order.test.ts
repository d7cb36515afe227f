import type { SessionId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { cancelRun } from '../../src/app/runs/runs.ts';
import { startRun } from '../../src/app/runs/start-run.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { claimLeg, claimedLeg } from '../../src/execution/claim-leg.ts';
import { recordLeg } from '../../src/execution/recording/record-leg.ts';
import { createIds } from '../../src/runtime/ids.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { databaseKinds } from '../support/databases.ts';
import { idleSlot } from '../support/idle-slot.ts';
import {
  type RunFixture,
  createRunFixture,
  hour,
  maker,
  noRules,
  over,
} from '../support/run-fixture.ts';

describe.each(databaseKinds)('the runs of one session on %s', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  /**
   * A server whose clock differs from the database's by `offsetMs`, as each server's does a little. Its ids are ahead
   * of its clock by `idsAheadMs`, as they are when the clock was set back.
   */
  function serverAt(offsetMs: number, idsAheadMs = 0) {
    const now = () => world.clock.now() + offsetMs;
    const clock = { now, after: world.clock.after.bind(world.clock) };
    const services = { ...world, clock, ids: createIds({ now: () => now() + idsAheadMs }) };
    const { scope } = world;
    return {
      async start(sessionId: SessionId, idempotencyKey?: string): Promise<Run> {
        const request = { sessionId, clientId: null, input: { prompt: 'x' }, idempotencyKey };
        const chargeRate = () => {};
        return (await startRun(services, scope, { ...request, chargeRate })).resource;
      },
      async execute(run: Run): Promise<Run> {
        const address = { scope, sessionId: run.sessionId, runId: run.id };
        const lease = {
          owner: `server${offsetMs}`,
          machine: 'machine-1',
          expiresAt: now() + 15_000,
        };
        const leg = await claimLeg(services, address, idleSlot(lease));
        if (typeof leg === 'string') throw new Error(leg);
        const end = { status: 'completed', ...over } as const;
        const take = () => ({ items: [], notes: [], context: undefined, end });
        const sent = { inDoubtAfter: undefined, lossesTotal: 0, maker, rules: noRules };
        await recordLeg(services, claimedLeg(leg).holder, { take, waitMs: hour, ...sent });
        return world.read(run);
      },
    };
  }

  const timesOf = (run: Run) => [run.createdAt, run.startedAt, run.endedAt];

  test('are found by their keys, also where the order needs a later id than the first', async () => {
    const [ahead, behind] = [serverAt(400), serverAt(-400)];
    const sessionId = await world.open();
    const before = await ahead.start(sessionId);
    const run = await behind.start(sessionId, 'key-1');
    expect(run.id > before.id).toBe(true);
    expect(await behind.start(sessionId, 'key-1')).toEqual(run);
    expect(await ahead.start(sessionId, 'key-1')).toEqual(run);
  });

  test('sort in the order of their making, and none begins before the one before ended', async () => {
    const servers = [serverAt(400), serverAt(-400), serverAt(0)];
    const sessionId = await world.open();
    const runs: Run[] = [];
    for (let made = 0; made < 9; made += 1) {
      const server = servers[made % servers.length];
      const next = servers[(made + 1) % servers.length];
      if (server === undefined || next === undefined) throw new Error('there are three servers');
      const run = await server.start(sessionId);
      runs.push(await next.execute(run));
      world.clock.advance(1);
    }
    const ids = runs.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    const page = { limit: 20, order: 'asc', after: undefined } as const;
    const listed = await world.store.read.runs.list(world.scope, { sessionId, filter: {}, page });
    expect(listed.items.map(({ number }) => number)).toEqual(runs.map(({ number }) => number));
    const times = runs.flatMap(timesOf);
    expect(times).toEqual(times.toSorted((a, b) => Number(a) - Number(b)));
  });

  test('sort in the order of their making after a clock was set back', async () => {
    const servers = [serverAt(0, 400), serverAt(0)];
    const sessionId = await world.open();
    const runs: Run[] = [];
    for (const server of [...servers, ...servers]) {
      world.clock.advance(1);
      runs.push(await server.execute(await server.start(sessionId)));
    }
    const ids = runs.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
  });

  test('leave the session waiting exactly while an interaction is pending (D-11)', async () => {
    const asking = async () => {
      const sessionId = await world.open();
      const run = await world.start(sessionId);
      const question = { type: 'user_question', ref: 'q', question: 'Which?' } as const;
      const leg = await world.claimed(run);
      await world.record(leg, { items: [question], end: { status: 'waiting', ...over } });
      return { sessionId, run };
    };
    const stateOf = async (id: SessionId) => {
      const session = await world.session(id);
      return [session?.status, session?.pendingInteractions];
    };

    const cancelled = await asking();
    expect(await stateOf(cancelled.sessionId)).toEqual(['waiting', 1]);
    const at = { sessionId: cancelled.sessionId, runId: cancelled.run.id };
    await cancelRun(world, world.scope, at);
    expect(await stateOf(cancelled.sessionId)).toEqual(['running', 0]);
    await endParkedCancellations(world);
    expect(await stateOf(cancelled.sessionId)).toEqual(['idle', 0]);

    const answered = await asking();
    const { sessionId } = answered;
    const page = { limit: 1, order: 'asc', after: undefined } as const;
    const filter = { sessionId, status: 'pending', now: world.clock.now(), page } as const;
    const listed = await world.store.read.interactions.list(world.scope, filter);
    const [asked] = listed.items;
    if (asked === undefined) throw new Error('nothing was asked');
    const by = { kind: 'client', id: 'cli_1', address: '', requestId: '' } as const;
    const allower = { kind: 'client', id: 'cli_1' } as const;
    const body = { answer: 'red' };
    await answerInteraction(world, world.scope, { sessionId, key: asked.key, body, by, allower });
    expect(await stateOf(sessionId)).toEqual(['running', 0]);
    await world.claimed(answered.run);
    expect(await stateOf(sessionId)).toEqual(['running', 0]);
  });
});
