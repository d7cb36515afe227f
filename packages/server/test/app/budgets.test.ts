import { beforeAll, describe, expect, test } from 'vitest';
import {
  type SetBudget,
  deleteBudget,
  getBudget,
  listBudgets,
  setBudget,
} from '../../src/app/usage/budgets.ts';
import { Refusal } from '../../src/app/refusal.ts';
import type { Budget } from '../../src/domain/usage/budget.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { recordLeg } from '../../src/execution/recording/record-leg.ts';
import { sql } from '../../src/store/sql.ts';
import { countUsage } from '../../src/workers/count-usage.ts';
import { forgetUsage } from '../../src/workers/retention/forget-usage.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture, hour, maker, noRules } from '../support/run-fixture.ts';

const day = 24 * hour;

describe.each(databaseKinds)('budgets on %s', (kind) => {
  let world: RunFixture;
  let keys = 0;
  beforeAll(async () => {
    world = await createRunFixture(kind);
    // Noon of a day, so that no day ends in between.
    world.clock.advance(day - (world.clock.now() % day) + 12 * hour);
  });

  const request = (more: Partial<SetBudget>): SetBudget => ({
    scope: { kind: 'tenant', id: world.scope.tenantId },
    period: 'day',
    ceiling: { maxTokens: 100, maxCostMicros: null },
    version: undefined,
    idempotencyKey: `key-${(keys += 1)}`,
    by,
    chargeRate: () => {},
    ...more,
  });

  async function set(more: Partial<SetBudget> = {}): Promise<Budget> {
    const { state } = await setBudget(world, world.scope.organizationId, request(more));
    return state.budget;
  }

  async function dropAll(): Promise<void> {
    const page = { limit: 100, order: 'asc' } as const;
    for (const { budget } of await listBudgets(world, world.scope.organizationId, page)) {
      await deleteBudget(world, world.scope.organizationId, { id: budget.id, by });
    }
  }

  async function begin(): Promise<{ run: Run; leg: ClaimedLeg }> {
    const run = await world.start(await world.open());
    return { run, leg: await world.claimed(run) };
  }

  let reports = 0;
  /** Reports tokens for a leg; returns the reason to end the run, if there is one. */
  async function report({ leg }: { leg: ClaimedLeg }, tokens: number): Promise<string | undefined> {
    const counts = { inputTokens: tokens, outputTokens: 0, cachedInputTokens: 0 };
    const entry = { seq: (reports += 1), model: 'm', ...counts, reasoningTokens: 0, cost: null };
    const recorded = await recordLeg(world, leg.holder, {
      take: () => ({
        items: [],
        notes: [{ note: { kind: 'usage', entry }, after: 0 }],
        context: undefined,
        end: undefined,
      }),
      waitMs: hour,
      inDoubtAfter: undefined,
      lossesTotal: leg.run.lossesTotal,
      maker,
      rules: noRules,
    });
    return recorded?.breach;
  }

  const refusalOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.catch((thrown: unknown) => thrown);
    if (!(error instanceof Refusal)) throw new Error('it was not refused', { cause: error });
    return error;
  };

  test.each(['tenant', 'client', 'agent', 'session'] as const)(
    'a %s that used up its budget starts no run, until the next period (D-132)',
    async (scopeKind) => {
      await dropAll();
      const session = await world.open();
      const ids = {
        tenant: world.scope.tenantId,
        client: (await world.seed.client(world.scope.organizationId)).record.id,
        agent: 'agent',
        session,
      };
      const budget = await set({ scope: { kind: scopeKind, id: ids[scopeKind] } });
      const clientId = ids.client;
      const run = await world.start(session, 'hi', clientId);
      const leg = await world.claimed(run);
      expect(await report({ leg }, 60)).toBeUndefined();
      await world.start(session, 'hi', clientId);
      expect(await report({ leg }, 50)).toContain(`the ${scopeKind} ${ids[scopeKind]} is used up`);
      const refusal = await refusalOf(world.start(session, 'hi', clientId));
      expect(refusal).toMatchObject({ code: 'budget_exhausted' });
      const midnight = Math.ceil(world.clock.now() / day) * day;
      expect(refusal.message).toContain(`used up until ${new Date(midnight).toISOString()}`);
      expect(refusal.details).toEqual({
        budget_id: budget.id,
        resets_at: new Date(midnight).toISOString(),
      });
      world.clock.advance(day);
      await world.start(session, 'hi', clientId);
    },
  );

  test('a budget of another tenant, client, agent, session or organization does not count', async () => {
    await dropAll();
    const other = await world.seed.tenant(world.scope.organizationId);
    await set({
      scope: { kind: 'tenant', id: other.id },
      ceiling: { maxTokens: 1, maxCostMicros: null },
    });
    await set({
      scope: { kind: 'agent', id: 'another' },
      ceiling: { maxTokens: 1, maxCostMicros: null },
    });
    const executing = await begin();
    expect(await report(executing, 1000)).toBeUndefined();
    await begin();
  });

  test('a lower ceiling counts from the next report on, and a new budget from when it is set', async () => {
    await dropAll();
    const executing = await begin();
    await report(executing, 1000);
    const budget = await set({ ceiling: { maxTokens: 1_000_000, maxCostMicros: null } });
    expect(await report(executing, 10)).toBeUndefined();
    const spent = async () => (await getBudget(world, world.scope.organizationId, budget.id)).spent;
    expect(await spent()).toEqual({ tokens: 10, costMicros: 0 });
    await set({ version: 1, ceiling: { maxTokens: 20, maxCostMicros: null } });
    expect(await report(executing, 10)).toContain('is used up');
    expect(await spent()).toEqual({ tokens: 20, costMicros: 0 });
  });

  test('many runs pass a ceiling by at most one report each, and no report is lost (D-133)', async () => {
    await dropAll();
    const runs = 12;
    const budget = await set({ ceiling: { maxTokens: 100, maxCostMicros: null } });
    const legs: { run: Run; leg: ClaimedLeg }[] = [];
    for (let n = 0; n < runs; n += 1) legs.push(await begin());
    let after = 0;
    let total = 0;
    await Promise.all(
      legs.map(async (leg) => {
        for (;;) {
          const breach = await report(leg, 7);
          total += 7;
          if (breach !== undefined) return (after += 1);
        }
      }),
    );
    const { spent } = await getBudget(world, world.scope.organizationId, budget.id);
    expect(after).toBe(runs);
    expect(spent.tokens).toBe(total);
    expect(total).toBeLessThan(100 + runs * 7);
  });

  test('reaching 80 and 100 percent is announced once each', async () => {
    await dropAll();
    const budget = await set({ ceiling: { maxTokens: 1000, maxCostMicros: null } });
    const executing = await begin();
    const notices = async () => {
      await countUsage({ ...world, prices: world.prices });
      const rows = await world.database.all<{ body: string }>(
        sql`select body from outbox where type = 'budget_reached' order by position`,
      );
      return rows
        .map(({ body }) => JSON.parse(body).data)
        .filter((data) => data.budget_id === budget.id)
        .map((data) => data.percent);
    };
    await report(executing, 790);
    expect(await notices()).toEqual([]);
    await report(executing, 20);
    expect(await notices()).toEqual([80]);
    await report(executing, 500);
    await report(executing, 500);
    expect(await notices()).toEqual([80, 100]);
    expect(await notices()).toEqual([80, 100]);
  });

  test('a budget that is deleted while runs report and are counted disturbs none of them', async () => {
    await dropAll();
    const legs = await Promise.all(Array.from({ length: 4 }, () => begin()));
    for (let round = 0; round < 8; round += 1) {
      const { id } = await set({ ceiling: { maxTokens: 1_000_000, maxCostMicros: null } });
      await report(legs[0] ?? (await begin()), 900_000);
      await Promise.all([
        deleteBudget(world, world.scope.organizationId, { id, by }),
        countUsage(world),
        ...legs.map((leg) => report(leg, 5)),
      ]);
    }
    const left = await world.database.all(sql`select budget_id from budget_periods`);
    expect(left).toEqual([]);
  });

  test('an organization has at most 100 budgets, also when they are set at once', async () => {
    await dropAll();
    const setFor = (n: number) => set({ scope: { kind: 'agent', id: `agent-${n}` } });
    // One after the other: a hundred at once may wait longer for a connection to the database than they are allowed to.
    for (let n = 0; n < 95; n += 1) await setFor(n);
    const requests = Array.from({ length: 8 }, (_, n) =>
      setFor(95 + n).then(
        () => 'set',
        (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
      ),
    );
    const outcomes = Map.groupBy(await Promise.all(requests), (outcome) => outcome);
    expect(outcomes.get('set')).toHaveLength(5);
    expect(outcomes.get('budget_limit_reached')).toHaveLength(3);
  });

  test.each(['tenant', 'client', 'session'] as const)(
    'a %s that the organization does not have is refused',
    async (scopeKind) => {
      const elsewhere = await world.seed.organization();
      const theirs = {
        tenant: (await world.seed.tenant(elsewhere)).id,
        client: 'cli_none',
        session: 'sess_none',
      };
      const scope = { kind: scopeKind, id: theirs[scopeKind] };
      expect(await refusalOf(set({ scope }))).toMatchObject({ code: 'invalid_body' });
    },
  );

  test('what was used in old periods is forgotten, a total is not', async () => {
    await dropAll();
    await set();
    await set({ period: 'total' });
    await report(await begin(), 10);
    world.clock.advance(101 * day);
    await forgetUsage(world);
    const rows = await world.database.all<{ starts_at: number }>(
      sql`select starts_at from budget_periods`,
    );
    expect(rows).toEqual([{ starts_at: 0 }]);
  });
});
