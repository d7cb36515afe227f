// Two transactions of one run that meet: the second begins when the first has done its work and has not committed.
import { beforeAll, describe, expect, test } from 'vitest';
import { sendSignal } from '../../src/app/runs/signals.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { recordLeg } from '../../src/execution/recording/record-leg.ts';
import type { Store } from '../../src/ports/store.ts';
import { sql } from '../../src/store/sql.ts';
import { settleWaits } from '../../src/workers/settle-waits.ts';
import {
  type CallingWorld,
  completed,
  createCallingWorld,
  parked,
  research,
} from '../support/calling-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { hour, maker, noRules } from '../support/run-fixture.ts';

const review = { ...research, ref: 'call critic 1', name: 'critic' };
const receive = {
  type: 'wait',
  ref: 'receive paid',
  kind: 'signal',
  name: 'paid',
  due: { inMs: 1000 },
} as const;

describe.each(databaseKinds)('on %s, a run that waits', (kind) => {
  let of: CallingWorld;
  beforeAll(async () => {
    of = await createCallingWorld(kind);
  });

  /** SQLite has one transaction at a time, so there the second waits for its turn. */
  async function meet(
    first: (store: Store) => Promise<unknown>,
    second: () => Promise<unknown>,
  ): Promise<void> {
    const { store, database } = of.world;
    if (kind === 'sqlite') return void (await Promise.all([first(store), second()]));
    const [worked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held: Store = {
      ...store,
      transaction: (work) =>
        store.transaction(async (tx) => {
          const result = await work(tx);
          worked.resolve();
          await released.promise;
          return result;
        }),
    };
    const beginning = first(held);
    await worked.promise;
    const following = second();
    const isWaiting = async () => {
      const locked = sql`select count(*) as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return ((await database.get<{ n: number }>(locked))?.n ?? 0) > 0;
    };
    await Promise.race([following, eventually(isWaiting)]);
    released.resolve();
    await Promise.all([beginning, following]);
  }

  test('counts two called runs that end at once, and has them in one order (D-922)', async () => {
    const { world, calling, calledBy } = of;
    const { caller, called } = await calling(research, review);
    const [one, other] = await Promise.all(called.map((run) => world.claimed(run)));
    if (one === undefined || other === undefined) throw new Error('two runs are called');
    await meet(
      (store) => end(store, one),
      () => end(world.store, other),
    );
    expect((await calledBy(caller)).map(({ status }) => status)).toEqual([
      'completed',
      'completed',
    ]);
    const woken = { status: 'running', openWaits: 0, readyAt: world.clock.now() };
    expect(await world.read(caller)).toMatchObject(woken);
    const waits = await world.store.read.waits.ofRun(caller.id);
    expect(new Set(waits.map(({ number }) => number))).toEqual(new Set([1, 2]));
    const ended = (await world.logOf(caller.id)).filter(({ type }) => type === 'wait_ended');
    expect(ended).toHaveLength(2);
  });

  test('keeps a message that meets the end of the time for it (D-856)', async () => {
    const { world } = of;
    const run = await receiving();
    const sent: boolean[] = [];
    await meet(
      (store) => settleWaits({ ...world, store }),
      async () => void sent.push(await send(run)),
    );
    const [wait] = await world.store.read.waits.ofRun(run.id);
    const { kept } = await world.store.read.waits.messages(run.id);
    // On SQLite either may be first.
    const lost = [{ outcome: 'timed_out' }, 1];
    const won = [{ outcome: 'received', data: 20 }, 0];
    expect([wait?.result, kept]).toEqual(sent[0] === true ? won : lost);
    if (kind === 'postgres') expect(sent).toEqual([false]);
  });

  test('is not told that its time is over once a message has come, by a pass that had read the row before', async () => {
    const { world } = of;
    const run = await receiving();
    const { waits } = world.store.read;
    const due = async (...asked: Parameters<typeof waits.due>) => {
      const rows = await waits.due(...asked);
      expect(rows.map(({ runId }) => runId)).toContain(run.id);
      expect(await send(run)).toBe(true);
      return rows;
    };
    const read = new Proxy(world.store.read, {
      get: (all, noun) => (noun === 'waits' ? { ...waits, due } : Reflect.get(all, noun, all)),
    });
    await settleWaits({ ...world, store: { ...world.store, read } });
    const [wait] = await waits.ofRun(run.id);
    expect(wait?.result).toEqual({ outcome: 'received', data: 20 });
    const ended = (await world.logOf(run.id)).filter(({ type }) => type === 'wait_ended');
    expect(ended).toMatchObject([{ data: { outcome: 'received' } }]);
    expect(await world.read(run)).toMatchObject({ openWaits: 0 });
  });

  /** A run whose time to receive a message is over, and no pass has seen it. */
  async function receiving(): Promise<Run> {
    const { world, begun } = of;
    const { run, leg } = await begun();
    await world.record(leg, { items: [receive], end: parked });
    world.clock.advance(1000);
    return world.read(run);
  }

  /** Whether the run has waited for it. */
  async function send({ id: runId }: Run): Promise<boolean> {
    const by = { kind: 'client', id: 'cli_shop', requestId: 'req_1', address: null } as const;
    const message = { runId, name: 'paid', data: 20, by, idempotencyKey: undefined };
    const { world } = of;
    const sending = sendSignal(world, world.scope, { ...message, chargeRate: () => {} });
    return (await sending).isReceived;
  }

  const end = (store: Store, leg: ClaimedLeg) =>
    recordLeg({ ...of.world, store }, leg.holder, {
      take: () => ({ items: [], notes: [], context: undefined, end: completed('Done.') }),
      waitMs: hour,
      rules: noRules,
      inDoubtAfter: undefined,
      lossesTotal: leg.run.lossesTotal,
      maker,
    });
});
