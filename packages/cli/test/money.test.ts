import { expect, test } from 'vitest';
import { moneyText } from '../src/terminal/money.ts';

test.each([
  [0, '0.00 USD'],
  [1, '0.000001 USD'],
  [616_500, '0.6165 USD'],
  [2_500_000, '2.50 USD'],
  [1_234_567_000_000, '1,234,567.00 USD'],
])('%i millionths are shown as %s', (micros, text) => {
  expect(moneyText(micros, 'USD')).toBe(text);
});
