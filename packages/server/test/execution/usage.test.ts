import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noPrices } from '../../src/domain/usage/prices.ts';
import { LegUsage } from '../../src/execution/usage/leg-usage.ts';
import { type LegBatch, recordLeg } from '../../src/execution/recording/record-leg.ts';
import { sql } from '../../src/store/sql.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import {
  type RunFixture,
  createRunFixture,
  delta,
  hour,
  maker,
  noRules,
  over,
} from '../support/run-fixture.ts';

const agent = agentOf({ name: 'agent', model: 'big' });

describe('the reports of a leg', () => {
  test('become the differences between them, for each model (D-97, D-130)', () => {
    const usage = new LegUsage(agent, noPrices);
    const report = { type: 'usage', cachedInputTokens: 4, reasoningTokens: 1 } as const;
    expect(usage.entryOf({ ...report, inputTokens: 10, outputTokens: 2 })).toEqual({
      seq: 1,
      model: 'big',
      inputTokens: 10,
      outputTokens: 2,
      cachedInputTokens: 4,
      reasoningTokens: 1,
      cost: null,
    });
    const small = { type: 'usage', model: 'small', inputTokens: 3, outputTokens: 3 } as const;
    expect(usage.entryOf(small)).toMatchObject({ seq: 2, model: 'small', inputTokens: 3 });
    expect(usage.entryOf({ ...report, inputTokens: 25, outputTokens: 2 })).toMatchObject({
      seq: 3,
      model: 'big',
      inputTokens: 15,
      outputTokens: 0,
      cachedInputTokens: 0,
    });
    expect(usage.entryOf(small)).toBeUndefined();
  });

  test('cannot take back what tokens cost, whatever they name as cached', () => {
    const models = [{ glob: '*', input: 1_000_000_000, output: 1_000_000, cachedInput: 1_000_000 }];
    const usage = new LegUsage(agent, { ...noPrices, models });
    const first = { type: 'usage', inputTokens: 1_000_000, outputTokens: 0 } as const;
    expect(usage.entryOf(first)?.cost?.micros).toBe(1_000_000_000);
    const second = { ...first, inputTokens: 1_000_001, cachedInputTokens: 1_000_001 };
    expect(usage.entryOf(second)?.cost?.micros).toBe(1);
  });

  test('have no negative cost, in any order', () => {
    const models = [{ glob: '*', input: 3_000_000, output: 15_000_000, cachedInput: 300_000 }];
    const count = fc.integer({ min: 0, max: 1e9 });
    const report = fc.record({
      inputTokens: count,
      outputTokens: count,
      cachedInputTokens: count,
      reasoningTokens: count,
      cost: fc.option(count, { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(report), (reports) => {
        const usage = new LegUsage(agent, { ...noPrices, models });
        for (const { cost: micros, ...counts } of reports) {
          const cost = micros === undefined ? {} : { cost: { micros, currency: 'USD' } };
          const entry = usage.entryOf({ type: 'usage', ...counts, ...cost });
          expect(entry?.cost?.micros ?? 0).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  test('cannot lower what was reported, nor name a model that the database cannot store', () => {
    const usage = new LegUsage(agent, noPrices);
    const report = { type: 'usage', inputTokens: 10, outputTokens: 2 } as const;
    usage.entryOf(report);
    expect(usage.entryOf({ ...report, inputTokens: 1, outputTokens: 3 })).toMatchObject({
      inputTokens: 0,
      outputTokens: 1,
    });
    const hostile = `\u0000${'x'.repeat(300)}\ud800`;
    expect(usage.entryOf({ ...report, model: hostile })?.model).toBe('x'.repeat(200));
    expect(usage.entryOf({ ...report, model: 'a\ud800' })?.model).toBe('a\ufffd');
    const absurd = { type: 'usage', inputTokens: Infinity, outputTokens: 1e300 } as const;
    expect(usage.entryOf({ ...absurd, model: 'm' })).toMatchObject({
      inputTokens: 0,
      outputTokens: 1e12,
    });
  });
});

describe('the cost of a report (D-131)', () => {
  const prices = {
    currency: 'EUR',
    unpriced: 'refuse',
    models: [{ glob: 'b*', input: 3_000_000, output: 15_000_000, cachedInput: 300_000 }],
  } as const;
  const report = { type: 'usage', inputTokens: 1000, outputTokens: 100 } as const;

  test('is computed from the prices, and absent for a model without one', () => {
    const usage = new LegUsage(agent, prices);
    const entry = usage.entryOf({ ...report, cachedInputTokens: 600 });
    // 400 × 3 + 600 × 0.3 + 100 × 15 millionths.
    expect(entry?.cost).toEqual({ micros: 2880, currency: 'EUR', source: 'priced' });
    expect(usage.entryOf({ ...report, model: 'small' })?.cost).toBeNull();
  });

  test('is what the agent says, if it says so in the currency of the deployment', () => {
    const usage = new LegUsage(agent, prices);
    const cost = (micros: number, currency = 'EUR') => ({ cost: { micros, currency } });
    expect(usage.entryOf({ ...report, ...cost(7) })?.cost).toEqual({
      micros: 7,
      currency: 'EUR',
      source: 'reported',
    });
    expect(usage.entryOf({ ...report, outputTokens: 101, ...cost(9) })?.cost?.micros).toBe(2);
    expect(usage.entryOf({ ...report, outputTokens: 101, ...cost(12) })?.cost?.micros).toBe(3);
    const other = new LegUsage(agent, prices);
    expect(other.entryOf({ ...report, ...cost(7, 'USD') })?.cost?.source).toBe('priced');
  });
});

const more = { model: 'big', cachedInputTokens: 0, reasoningTokens: 0, cost: null };
const note = (seq: number, inputTokens: number) => ({
  note: { kind: 'usage' as const, entry: { seq, inputTokens, outputTokens: 1, ...more } },
  after: 0,
});

async function ledger(world: RunFixture) {
  return world.database.all(sql`
    select epoch, seq, tenant_id, session_id, client_id, agent_name, model, input_tokens,
      output_tokens from usage_entries order by run_id, epoch, seq`);
}

describe.each(databaseKinds)('the ledger on %s', (kind) => {
  test('a report is a row, and a part of the sum of its run, in one transaction (D-130)', async () => {
    const world = await createRunFixture(kind);
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    await world.record(leg, { items: [delta('a')], notes: [note(1, 10)] });
    expect((await world.read(run)).usage).toEqual({
      inputTokens: 10,
      outputTokens: 1,
      costMicros: null,
      currency: null,
    });
    await world.record(leg, { notes: [note(2, 5), note(3, 7)] });
    await world.record(leg, { notes: [note(4, 1)], end: { status: 'completed', ...over } });
    expect((await world.read(run)).usage).toMatchObject({ inputTokens: 23, outputTokens: 4 });
    const row = {
      epoch: 1,
      tenant_id: run.tenantId,
      session_id: run.sessionId,
      client_id: world.clientId,
      agent_name: 'agent',
      model: 'big',
      output_tokens: 1,
    };
    const inputs = [10, 5, 7, 1];
    expect(await ledger(world)).toEqual(
      inputs.map((input_tokens, index) => ({ ...row, seq: index + 1, input_tokens })),
    );
  });

  test('the cost of a run is the sum of the costs that are known', async () => {
    const world = await createRunFixture(kind);
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    const cost = { micros: 1_500, currency: 'EUR', source: 'priced' } as const;
    const priced = (seq: number) => ({
      note: { ...note(seq, 1).note, entry: { ...note(seq, 1).note.entry, cost } },
      after: 0,
    });
    await world.record(leg, { notes: [note(1, 1)] });
    await world.record(leg, { notes: [priced(2)] });
    await world.record(leg, { notes: [priced(3)], end: { status: 'completed', ...over } });
    expect((await world.read(run)).usage).toEqual({
      inputTokens: 3,
      outputTokens: 3,
      costMicros: 3_000,
      currency: 'EUR',
    });
  });

  test('reports are counted in the metrics once they are durable', async () => {
    const world = await createRunFixture(kind);
    const leg = await world.claimed(await world.start(await world.open()));
    await world.record(leg, { notes: [note(1, 10), note(2, 5)] });
    const stale = { ...leg, holder: { ...leg.holder, epoch: 0 } };
    await world.record(stale, { notes: [note(3, 7)] });
    const samples = (await world.metrics.render()).split('\n');
    expect(samples).toContain('convoke_gen_ai_usage_tokens_total{token_type="input"} 15');
    expect(samples).toContain('convoke_gen_ai_usage_tokens_total{token_type="output"} 2');
  });

  test('a report whose commit was confirmed too late is not charged twice', async () => {
    const world = await createRunFixture(kind);
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    const batch: LegBatch = { items: [], notes: [note(1, 10)], context: undefined, end: undefined };
    const recording = { take: () => batch, waitMs: hour, lossesTotal: 0, maker, rules: noRules };
    await recordLeg(world, leg.holder, { ...recording, inDoubtAfter: undefined });
    await recordLeg(world, leg.holder, { ...recording, inDoubtAfter: leg.run.lastSeq });
    expect(await ledger(world)).toHaveLength(1);
    expect((await world.read(run)).usage).toMatchObject({ inputTokens: 10 });
  });

  test('a worker that lost its lease charges nothing', async () => {
    const world = await createRunFixture(kind, {}, { afterLoss: 'repeat' });
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    const stale = { ...leg, holder: { ...leg.holder, epoch: 0 } };
    expect(await world.record(stale, { notes: [note(1, 10)] })).toBeUndefined();
    expect(await ledger(world)).toEqual([]);
    expect((await world.read(run)).usage).toBeNull();
  });
});
