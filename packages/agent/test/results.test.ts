import { agent } from '@convoke/agent';
import { everyKill, rehearse } from '@convoke/agent/test';
import { expect, test } from 'vitest';

test('a program gets a copy of what its step returned, the first time and in every replay (D-163)', async () => {
  const make = () =>
    agent(async (ctx) => {
      const basket = { items: ['apple'] };
      const seen = await ctx.step('look', () => basket, { repeatable: true });
      basket.items.push('pear');
      await ctx.step('pay', () => seen.items.length, { repeatable: true });
      return seen.items.join(', ');
    });
  expect((await rehearse(make())).text).toBe('apple');
  await everyKill(make, {});
});
