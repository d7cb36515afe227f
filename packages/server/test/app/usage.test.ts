import { describe, expect, test } from 'vitest';
import { updateRun } from '../../src/app/runs/runs.ts';
import { type ReadUsage, readUsage } from '../../src/app/usage/usage.ts';
import { noPrices } from '../../src/domain/usage/prices.ts';
import type { Cost } from '../../src/domain/usage/usage.ts';
import type { UsageRow } from '../../src/ports/repositories/usage/usage-totals.ts';
import { countUsage } from '../../src/workers/count-usage.ts';
import { forgetUsage } from '../../src/workers/retention/forget-usage.ts';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture, hour, over } from '../support/run-fixture.ts';

const day = 24 * hour;
const euro = (micros: number): Cost => ({ micros, currency: 'EUR', source: 'priced' });
const prices = { ...noPrices, currency: 'EUR' };

/** Executes a run that reports `tokens` of input for each model, at the current time. */
async function execute(
  world: RunFixture,
  reports: Readonly<Record<string, { tokens: number; cost?: Cost }>>,
  sessionId?: Awaited<ReturnType<RunFixture['open']>>,
) {
  const run = await world.start(sessionId ?? (await world.open()));
  const leg = await world.claimed(run);
  const notes = Object.entries(reports).map(([model, { tokens, cost = null }], index) => ({
    note: {
      kind: 'usage' as const,
      entry: {
        seq: index + 1,
        model,
        inputTokens: tokens,
        outputTokens: 1,
        cachedInputTokens: 0,
        reasoningTokens: 0,
        cost,
      },
    },
    after: 0,
  }));
  world.clock.advance(2000);
  await world.record(leg, { notes, end: { status: 'completed', ...over } });
  return run;
}

describe.each(databaseKinds)('usage on %s', (kind) => {
  async function setUp() {
    const world = await createRunFixture(kind);
    // Noon of a day, so that hours and days do not end in between.
    world.clock.advance(day - (world.clock.now() % day) + 12 * hour);
    const count = async () => {
      while (await countUsage({ ...world, prices }));
    };
    const read = (request: Partial<ReadUsage> = {}) =>
      readUsage(world, {
        of: { tenantId: world.scope.tenantId },
        from: undefined,
        to: undefined,
        bucket: undefined,
        groupBy: undefined,
        limit: 100,
        after: undefined,
        ...request,
      });
    return { world, count, read };
  }

  test('every report and every ended run counts exactly once, whichever server counts it (D-130)', async () => {
    const { world, count, read } = await setUp();
    for (let n = 0; n < 5; n += 1)
      await execute(world, { big: { tokens: 10 }, small: { tokens: 1 } });
    await Promise.all([count(), count(), count()]);
    await count();
    expect(await read()).toEqual([
      {
        startsAt: 0,
        group: '',
        completed: 5,
        failed: 0,
        cancelled: 0,
        runMs: 10_000,
        inputTokens: 55,
        outputTokens: 10,
        cachedInputTokens: 0,
        reasoningTokens: 0,
        costMicros: null,
      },
    ]);
  });

  test('is grouped by agent, model, client, session and tenant, by the hour and by the day', async () => {
    const { world, count, read } = await setUp();
    const noon = world.clock.now() - (world.clock.now() % hour);
    const session = await world.open();
    await execute(world, { big: { tokens: 10, cost: euro(7) }, small: { tokens: 1 } }, session);
    world.clock.advance(hour);
    await execute(world, { big: { tokens: 5, cost: euro(3) } }, session);
    world.clock.advance(day);
    await execute(world, { big: { tokens: 2, cost: { ...euro(9), currency: 'USD' } } }, session);
    await count();

    const shown = async (request: Partial<ReadUsage>) =>
      (await read(request)).map(({ startsAt, group, inputTokens, completed, costMicros }) => [
        startsAt === 0 ? 0 : (startsAt - noon) / hour,
        group,
        inputTokens,
        completed,
        costMicros,
      ]);
    expect(await shown({ groupBy: 'agent' })).toEqual([[0, 'agent', 18, 3, 10]]);
    expect(await shown({ groupBy: 'model' })).toEqual([
      [0, 'big', 17, 0, 10],
      [0, 'small', 1, 0, null],
    ]);
    expect(await shown({ groupBy: 'client' })).toEqual([[0, world.clientId, 18, 3, 10]]);
    expect(await shown({ groupBy: 'session' })).toEqual([
      [-12, session, 16, 2, 10],
      [12, session, 2, 1, null],
    ]);
    expect(await shown({ bucket: 'hour', groupBy: 'model' })).toEqual([
      [0, 'big', 10, 0, 7],
      [0, 'small', 1, 0, null],
      [1, 'big', 5, 0, 3],
      [25, 'big', 2, 0, null],
    ]);
    expect(await shown({ bucket: 'day' })).toEqual([
      [-12, '', 16, 2, 10],
      [12, '', 2, 1, null],
    ]);
    expect(await shown({ bucket: 'day', from: noon + day })).toEqual([[12, '', 2, 1, null]]);
    const of = { organizationId: world.scope.organizationId };
    expect(await shown({ of, groupBy: 'tenant' })).toEqual([[0, world.scope.tenantId, 18, 3, 10]]);
  });

  test('is grouped by the values of a label, day by day, in the tenant and its organization', async () => {
    const { world, count, read } = await setUp();
    const noon = world.clock.now() - (world.clock.now() % hour);
    const labelled = async (customer: string | undefined, tokens: number) => {
      const sessionId = await world.open();
      const run = await execute(world, { big: { tokens, cost: euro(tokens) } }, sessionId);
      if (customer === undefined) return;
      const labels = { customer, ticket: `t${tokens}` };
      await updateRun(world, world.scope, { sessionId, runId: run.id, labels });
    };
    await labelled('b', 10);
    await labelled('a', 5);
    await labelled('b', 1);
    await labelled(undefined, 7);
    await count();
    world.clock.advance(day);
    await labelled('a', 3);
    await Promise.all([count(), count()]);
    const rows = (list: UsageRow[]) =>
      list.map((row) => [
        (row.startsAt - noon) / hour,
        row.group,
        row.inputTokens,
        row.completed,
        row.costMicros,
      ]);
    const expected = [
      [-12, 'a', 5, 1, 5],
      [-12, 'b', 11, 2, 11],
      [12, 'a', 3, 1, 3],
    ];
    const groupBy = 'label:customer';
    expect(rows(await read({ groupBy }))).toEqual(expected);
    const of = { organizationId: world.scope.organizationId };
    expect(rows(await read({ groupBy, of }))).toEqual(expected);
    const [first, ...rest] = await read({ groupBy });
    expect(await read({ groupBy, after: first })).toEqual(rest);
    expect(await read({ groupBy: 'label:team' })).toEqual([]);
    const other = await world.seed.tenant(world.scope.organizationId);
    expect(await read({ groupBy, of: { tenantId: other.id } })).toEqual([]);
  });

  test('pages follow each other without a gap or a repetition', async () => {
    const { world, count, read } = await setUp();
    const models = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { tokens: 1 }]));
    await execute(world, models);
    world.clock.advance(day);
    await execute(world, models);
    await count();
    for (const bucket of ['day', undefined] as const) {
      const whole = await read({ bucket, groupBy: 'model' });
      const paged: typeof whole = [];
      for (;;) {
        const last = paged.at(-1);
        const after = last && { startsAt: last.startsAt, group: last.group };
        const page = await read({ bucket, groupBy: 'model', limit: 2, after });
        if (page.length === 0) break;
        paged.push(...page);
      }
      expect(paged).toEqual(whole);
      expect(whole).toHaveLength(bucket === undefined ? 3 : 6);
    }
  });

  test('another tenant and another organization see nothing of it', async () => {
    const { world, count, read } = await setUp();
    await execute(world, { big: { tokens: 10 } });
    await count();
    const other = await world.seed.tenant(world.scope.organizationId);
    const elsewhere = await world.seed.organization();
    expect(await read({ of: { tenantId: other.id }, groupBy: 'agent' })).toEqual([]);
    expect(await read({ of: { organizationId: elsewhere } })).toEqual([]);
  });

  test('a run in the queue that is cancelled counts without time, and one that still executes does not', async () => {
    const { world, count, read } = await setUp();
    const session = await world.open();
    await world.claimed(await world.start(session));
    const queued = await world.start(session);
    await world.store.transaction(async (tx) => {
      const seen = await tx.runs.lock(queued.id);
      if (seen?.status !== 'queued') throw new Error('the run is not queued');
      tx.runs.save(
        {
          ...seen,
          status: 'cancelled',
          readyAt: null,
          cancelRequestedAt: 1,
          endedAt: world.clock.now(),
          recovered: false,
        },
        seen,
      );
    });
    await count();
    expect(await read()).toMatchObject([{ completed: 0, cancelled: 1, runMs: 0 }]);
  });

  test('hours are forgotten after 100 days, days after 800', async () => {
    const { world, count, read } = await setUp();
    const { id: runId, sessionId } = await execute(world, { big: { tokens: 10 } });
    const labels = { customer: 'a' };
    await updateRun(world, world.scope, { sessionId, runId, labels });
    await count();
    const then = { from: world.clock.now() - hour, to: world.clock.now() + hour };
    const rows = async () => [
      (await read({ ...then, bucket: 'hour' })).length,
      (await read({ ...then, bucket: 'day' })).length,
      (await read({ ...then, groupBy: 'session' })).length,
      (await read({ ...then, groupBy: 'label:customer' })).length,
    ];
    world.clock.advance(99 * day);
    await forgetUsage(world);
    expect(await rows()).toEqual([1, 1, 1, 1]);
    world.clock.advance(2 * day);
    await forgetUsage(world);
    expect(await rows()).toEqual([0, 1, 1, 1]);
    world.clock.advance(800 * day);
    await forgetUsage(world);
    expect(await rows()).toEqual([0, 0, 0, 0]);
  });
});
