import type { RuleRecord } from '@convoke/sdk';
import { expect, test } from 'vitest';
import { ruleText, rulesIn } from '../../src/data/rules/rule-text.ts';

const rule = (parts: Partial<RuleRecord>): RuleRecord => ({
  name: 'refunds',
  tools: ['refund'],
  effect: 'ask',
  ...parts,
});

test.each<[Partial<RuleRecord>, string]>([
  [{ effect: 'deny', tools: ['db/*', 'rm'] }, 'deny · db/*, rm'],
  [{ effect: 'deny', observe: true }, 'only observes: deny · refund'],
  [
    {
      when: [{ path: '/amount', gt: 500 }],
      approvers: { role: 'admin', people: 2, not_starter: true },
    },
    'ask · refund · when /amount > 500 · 2 people, admin or owner, not the starter',
  ],
  [
    { agents: ['desk-*'], tenants: ['ten_1', 'ten_2'], wait_hours: 4, on_expiry: 'deny' },
    'ask · refund · of desk-* · in ten_1, ten_2 · within 4 h · denied without an answer',
  ],
  [
    {
      when: [
        { path: '/a', in: ['EUR', 1, null] },
        { path: '/b', like: 'prod*' },
        { path: '/c', ne: false },
        { path: '/d', present: false },
        { path: '/e', present: true },
      ],
    },
    'ask · refund · when /a is one of EUR, 1, null and /b is like prod* and /c ≠ false and /d is missing and /e is there',
  ],
  [
    { approvers: { clients: true, end_users: true }, remember: 'exact' },
    'ask · refund · 1 person, operator or higher, or a client, or an end user · remembered: exact',
  ],
  [{ remember: 'never', on_expiry: 'fail' }, 'ask · refund'],
])('a rule in one line: %j', (parts, line) => {
  expect(ruleText(rule(parts))).toBe(line);
});

test('rules are read from a list, and from a document that has one', () => {
  const rules = [rule({})];
  for (const value of [rules, { rules }, { version: 3, rules, warnings: [] }]) {
    expect(rulesIn(JSON.stringify(value))).toEqual({ ok: true, rules });
  }
  for (const text of ['{}', 'null', '"rules"', '3']) {
    expect(rulesIn(text)).toMatchObject({
      problem: expect.stringContaining('Write a list of rules'),
    });
  }
  expect(rulesIn('{')).toMatchObject({ ok: false });
});
