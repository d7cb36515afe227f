import { organizationId } from '@convoke/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  appliesTo,
  isFarFrom,
  isReached,
  noCeiling,
  percentUsed,
  periodEnd,
  periodStart,
  stricter,
} from '../../src/domain/usage/budget.ts';

const at = (text: string) => Date.parse(text);

describe('periods are those of UTC (D-132)', () => {
  test.each([
    ['day', '2026-02-28T23:59:59.999Z', ['2026-02-28T00:00:00Z', '2026-03-01T00:00:00Z']],
    ['month', '2026-12-31T23:59:59.999Z', ['2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z']],
    ['month', '2028-02-29T12:00:00Z', ['2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z']],
  ] as const)('%s of %s', (period, now, bounds) => {
    const found = [periodStart(period, at(now)), periodEnd(period, at(now))];
    expect(found).toEqual(bounds.map(at));
  });

  test('total never ends', () => {
    expect(periodStart('total', at('2026-01-01T00:00:00Z'))).toBe(0);
    expect(periodEnd('total', at('2026-01-01T00:00:00Z'))).toBeUndefined();
  });
});

describe('ceilings', () => {
  test('a request lowers the ceiling of its agent and never raises it', () => {
    const agent = { maxTokens: 100, maxCostMicros: null };
    expect(stricter(agent, { maxTokens: 50, maxCostMicros: 7 })).toEqual({
      maxTokens: 50,
      maxCostMicros: 7,
    });
    expect(stricter(agent, { maxTokens: 500, maxCostMicros: null })).toEqual(agent);
    expect(stricter(noCeiling, noCeiling)).toEqual(noCeiling);
  });

  test('one of the two is enough', () => {
    const ceiling = { maxTokens: 100, maxCostMicros: 10 };
    expect(isReached(ceiling, { tokens: 99, costMicros: 9 })).toBe(false);
    expect(isReached(ceiling, { tokens: 100, costMicros: 0 })).toBe(true);
    expect(isReached(ceiling, { tokens: 0, costMicros: 10 })).toBe(true);
    expect(isReached(noCeiling, { tokens: 1e12, costMicros: 1e12 })).toBe(false);
    expect(percentUsed(ceiling, { tokens: 79, costMicros: 8 })).toBe(80);
  });

  test('reports that do not wait for each other cannot pass a ceiling together', () => {
    const amount = fc.integer({ min: 0, max: 1e6 });
    fc.assert(
      fc.property(amount, amount, fc.array(amount, { maxLength: 1000 }), (max, tokens, reports) => {
        const ceiling = { maxTokens: max, maxCostMicros: null };
        const spent = { tokens, costMicros: 0 };
        const unlocked = reports.filter((more) =>
          isFarFrom(ceiling, spent, { tokens: more, costMicros: 0 }),
        );
        const sum = unlocked.reduce((total, more) => total + more, tokens);
        expect(unlocked.length === 0 || sum < max || reports.length === 0).toBe(true);
      }),
    );
  });
});

test('a budget counts the runs of its scope in its organization only', () => {
  const run = {
    organizationId: organizationId('org_1'),
    tenantId: 'ten_1',
    clientId: 'cli_1',
    agentName: 'a',
    sessionId: 'sess_1',
  };
  const budget = {
    id: 'bud_1',
    organizationId: organizationId('org_1'),
    period: 'day',
    ceiling: noCeiling,
    version: 1,
    createdBy: 'usr_1',
    createdAt: 0,
    updatedAt: 0,
  } as const;
  for (const [kind, id] of [
    ['tenant', 'ten_1'],
    ['client', 'cli_1'],
    ['agent', 'a'],
    ['session', 'sess_1'],
  ] as const) {
    expect(appliesTo({ ...budget, scope: { kind, id } }, run)).toBe(true);
    expect(appliesTo({ ...budget, scope: { kind, id: 'other' } }, run)).toBe(false);
    const elsewhere = { ...budget, organizationId: organizationId('org_2'), scope: { kind, id } };
    expect(appliesTo(elsewhere, run)).toBe(false);
  }
});
