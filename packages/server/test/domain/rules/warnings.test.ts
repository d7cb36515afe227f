import { type OrganizationRule, organizationRules } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { changesOf, namesOwners } from '../../../src/domain/rules/document.ts';
import { readRules } from '../../../src/domain/rules/rule.ts';
import { type RuledWorld, warningsOf } from '../../../src/domain/rules/warnings.ts';

const world: RuledWorld = {
  agents: [
    { name: 'desk-a', framework: 'ai-sdk', tools: ['refund', 'mail/*'] },
    { name: 'desk-b', framework: 'code', tools: ['*'] },
    { name: 'clerk', framework: 'ai-sdk', tools: ['read_file'] },
    { name: 'remote', framework: 'a2a', tools: ['*'] },
    { name: 'broken' },
  ],
  people: new Map([
    ['owner', 1],
    ['admin', 1],
    ['viewer', 7],
  ]),
};

type Change = Partial<OrganizationRule>;

function rules(...changes: readonly Change[]): readonly OrganizationRule[] {
  const bodies = changes.map((change, index) => ({
    name: `r${index}`,
    tools: ['refund'],
    effect: 'ask',
    ...change,
  }));
  return organizationRules.parse(bodies);
}

function codesOf(changes: readonly Change[], of: RuledWorld = world): readonly string[] {
  return warningsOf(readRules(rules(...changes)), of).map(({ rule, code }) => `${rule} ${code}`);
}

const always = { when: [] };
const sometimes: Change = { when: [{ path: '/a', eq: 1 }] };

describe('a list of rules is warned about (D-528)', () => {
  test.each<[string, readonly Change[], readonly string[]]>([
    ['nothing', [{ agents: ['desk-*', 'broken'] }], []],
    ['an agent that does not exist', [{ agents: ['desk-*', 'dsek-*'] }], ['r0 unknown_agent']],
    ['a tool of no agent', [{ agents: ['clerk'] }], ['r0 unknown_tool']],
    ['a tool that one of its agents may have', [{ agents: ['clerk', 'desk-a'] }], []],
    ['a glob that a tool may match', [{ agents: ['desk-a'], tools: ['mail/send*'] }], []],
    [
      'globs that no text matches both',
      [{ agents: ['desk-a'], tools: ['m/*'] }],
      ['r0 unknown_tool'],
    ],
    ['an agent of another service', [{ agents: ['remote'] }], ['r0 not_enforced']],
    ['an agent of another service among all', [{}], []],
    ['the same rule twice', [always, sometimes], ['r1 unreachable']],
    ['a rule below one with conditions', [sometimes, always], []],
    ['a wider rule below', [{ tools: ['refund'] }, { tools: ['ref*'] }], []],
    [
      'a narrower rule below',
      [{ tools: ['ref*', 'x'] }, { tools: ['refund'] }],
      ['r1 unreachable'],
    ],
    ['a rule below one that observes', [{ observe: true }, {}], []],
    ['a rule that observes below', [{}, { observe: true }], ['r1 unreachable']],
    ['other agents below', [{ agents: ['desk-a'] }, {}], []],
    ['fewer agents below', [{ agents: ['desk-*'] }, { agents: ['desk-a'] }], ['r1 unreachable']],
    ['all tenants below', [{ tenants: ['ten_1'] }, {}], []],
    [
      'fewer tenants below',
      [{ tenants: ['ten_1', 'ten_2'] }, { tenants: ['ten_2'] }],
      ['r1 unreachable'],
    ],
    ['two people of three', [{ approvers: { role: 'operator', people: 2 } }], []],
    [
      'three people of two',
      [{ approvers: { role: 'operator', people: 3 } }],
      ['r0 too_few_approvers'],
    ],
    ['two owners of one', [{ approvers: { role: 'owner', people: 2 } }], ['r0 too_few_approvers']],
    ['an approval that each caller may give', [{}], []],
    ['an approval that a client may give', [{ approvers: { role: 'owner', clients: true } }], []],
  ])('%s', (_, changes, expected) => {
    expect(codesOf(changes)).toEqual(expected);
  });

  test('not about people, where another issuer knows their roles', () => {
    const change: Change = { approvers: { role: 'owner', people: 5 } };
    expect(codesOf([change])).toEqual(['r0 too_few_approvers']);
    expect(codesOf([change], { agents: world.agents })).toEqual([]);
  });

  test('in sentences that say how many are missing', () => {
    const agents = Array.from({ length: 7 }, (_, n) => `unknown-${n}`);
    const list = rules({ agents, tools: ['a'] }, { approvers: { role: 'admin', people: 4 } });
    expect(warningsOf(readRules(list), world).map(({ message }) => message)).toEqual([
      'No agent has the name unknown-0, unknown-1, unknown-2, unknown-3, unknown-4 or 2 more.',
      '4 people are needed; 2 are admin or owner.',
    ]);
  });
});

test('a change names the rules that it adds, changes and removes, and not those that it moves', () => {
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }] as const;
  const before = rules(a, b, c);
  expect(changesOf(before, rules(c, b, a))).toEqual({ added: [], changed: [], removed: [] });
  expect(changesOf(before, rules({ name: 'd' }, { ...b, effect: 'deny' }, c))).toEqual({
    added: ['d'],
    changed: ['b'],
    removed: ['a'],
  });
});

test('a document belongs to owners while one of its rules asks for an owner (D-527)', () => {
  expect(namesOwners(rules({}, { approvers: { role: 'admin' } }))).toBe(false);
  expect(namesOwners(rules({}, { approvers: { role: 'owner' } }))).toBe(true);
});
