import { type OrganizationRule, organizationRules } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { readRules } from '../../../src/domain/rules/rule.ts';
import { tryCall } from '../../../src/domain/rules/trial.ts';

type Rule = Partial<OrganizationRule>;

const listOf = (...rules: readonly Rule[]) =>
  readRules(
    organizationRules.parse(
      rules.map((rule, at) => ({ name: `rule-${at}`, tools: ['pay'], effect: 'ask', ...rule })),
    ),
  );
const call = { agentName: 'desk', tenantId: 'ten_1', toolName: 'pay', input: { amount: 5 } };
const large: Rule = { name: 'large', when: [{ path: '/amount', gt: 100 }] };

describe('a draft about a past call (D-526)', () => {
  test.each<[string, Record<'agent' | 'before' | 'after', readonly Rule[]>, object]>([
    [
      'that asks where nothing did',
      { agent: [], before: [], after: [{ name: 'new' }] },
      { before: 'allow', after: 'ask', rule: 'new', met: ['new'] },
    ],
    [
      'without the rule that denied',
      { agent: [], before: [{ name: 'old', effect: 'deny' }], after: [] },
      { before: 'deny', after: 'allow', rule: 'old', met: [] },
    ],
    [
      'that is less strict than the agent itself',
      { agent: [{ effect: 'deny' }], before: [], after: [{ name: 'new' }] },
      { before: 'deny', after: 'deny', met: ['new'] },
    ],
    [
      'whose agent asks already',
      { agent: [{}], before: [{ name: 'old', effect: 'deny' }], after: [] },
      { before: 'deny', after: 'ask', rule: 'old', met: [] },
    ],
    [
      'whose condition does not hold',
      { agent: [], before: [], after: [large] },
      { before: 'allow', after: 'allow', met: [] },
    ],
    [
      'with a rule that only observes',
      { agent: [], before: [], after: [{ name: 'watch', effect: 'deny', observe: true }, {}] },
      { before: 'allow', after: 'ask', rule: 'rule-1', met: ['watch', 'rule-1'] },
    ],
    [
      'with an exception above',
      { agent: [], before: [{ name: 'old' }], after: [{ effect: 'allow' }, { name: 'old' }] },
      { before: 'ask', after: 'allow', rule: 'old', met: ['rule-0'] },
    ],
  ])('%s', (_, { agent, before, after }, expected) => {
    const lists = { agent: listOf(...agent), before: listOf(...before), after: listOf(...after) };
    expect(tryCall(lists, call)).toEqual(expected);
  });
});
