import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { microsOf } from '../../src/domain/usage/money.ts';
import { costOf, isRefused, noPrices } from '../../src/domain/usage/prices.ts';

const tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
const prices = {
  ...noPrices,
  models: [
    { glob: 'a/*-mini', input: 75_000, output: 300_000 },
    { glob: 'a/*', input: 3_000_000, output: 15_000_000, cachedInput: 0 },
  ],
};

describe('amounts', () => {
  test.each([
    ['0', 0],
    ['3', 3_000_000],
    ['2.50', 2_500_000],
    ['0.000001', 1],
    ['999999999.999999', 999_999_999_999_999],
  ])('%s is %i millionths', (text, micros) => expect(microsOf(text)).toBe(micros));

  test.each(['', '-1', '1e3', '0.0000001', '.5', '1.', '1,5', '1234567890', 'NaN'])(
    '%j is not an amount',
    (text) => expect(microsOf(text)).toBeUndefined(),
  );
});

describe('the cost of tokens (D-131)', () => {
  test('the first glob that matches decides, and a model that none matches has no cost', () => {
    const used = { ...tokens, inputTokens: 1_000_000 };
    expect(costOf(prices, 'a/x-mini', used)).toBe(75_000);
    expect(costOf(prices, 'a/x', used)).toBe(3_000_000);
    expect(costOf(prices, 'b/x', used)).toBeUndefined();
  });

  test('under a ceiling of cost, an agent is refused whose cost nothing tells', () => {
    const agent = { model: 'b/x' };
    expect(isRefused(prices, agent)).toBe(true);
    expect(isRefused(prices, { ...agent, model: 'a/x' })).toBe(false);
    expect(isRefused(prices, { ...agent, reportsCost: true })).toBe(false);
    expect(isRefused({ ...prices, unpriced: 'allow' }, agent)).toBe(false);
    expect(isRefused(prices, {})).toBe(false);
  });

  test('cached input has its own price, and that of input where none is given', () => {
    const used = { ...tokens, inputTokens: 1000, cachedInputTokens: 1000 };
    expect(costOf(prices, 'a/x', used)).toBe(0);
    expect(costOf(prices, 'a/x-mini', used)).toBe(75);
  });

  test('is never negative, and cached input never costs less than nothing', () => {
    const count = fc.integer({ min: 0, max: 1e9 });
    fc.assert(
      fc.property(count, count, count, (inputTokens, cachedInputTokens, outputTokens) => {
        const used = { ...tokens, inputTokens, cachedInputTokens, outputTokens };
        const withoutInput = costOf(prices, 'a/x', { ...tokens, outputTokens }) ?? 0;
        expect(costOf(prices, 'a/x', used)).toBeGreaterThanOrEqual(withoutInput);
      }),
    );
  });

  test('is exact for any number of tokens, rounded up to a millionth', () => {
    const count = fc.integer({ min: 0, max: 1e9 });
    fc.assert(
      fc.property(count, count, (inputTokens, outputTokens) => {
        const exact = BigInt(inputTokens) * 75_000n + BigInt(outputTokens) * 300_000n;
        const cost = BigInt(
          costOf(prices, 'a/mini-mini', { ...tokens, inputTokens, outputTokens }) ?? -1,
        );
        expect(cost * 1_000_000n >= exact && (cost - 1n) * 1_000_000n < exact).toBe(true);
      }),
    );
  });
});
