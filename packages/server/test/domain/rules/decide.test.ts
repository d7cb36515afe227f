import { type OrganizationRule, agentRules, organizationRules } from '@convoke/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/domain/json.ts';
import { type Decision, decide, namesTool } from '../../../src/domain/rules/decide.ts';
import { keptPart } from '../../../src/domain/rules/kept-part.ts';
import { type RuleList, readRules, rulesOfAgent } from '../../../src/domain/rules/rule.ts';

type Parts = Partial<OrganizationRule>;
type When = NonNullable<OrganizationRule['when']>;

const listOf = (...rules: readonly Parts[]): RuleList =>
  readRules(
    organizationRules.parse(
      rules.map((rule, at) => ({ name: `rule-${at}`, tools: ['*'], effect: 'ask', ...rule })),
    ),
  );

const call = { agentName: 'desk', tenantId: 'ten_1', toolName: 'refund', input: { amount: 600 } };

const decided = (agent: RuleList, organization: RuleList = [], input: Json = call.input) =>
  decide({ agent, organization }, { ...call, input });

const strictness = ['allow', 'ask', 'deny'];

describe('a condition (D-502, D-503)', () => {
  const input: Json = {
    amount: 600,
    text: 'prod-1',
    yes: true,
    nothing: null,
    deep: { 'a/b': [{ '~': 7 }] },
    list: [1, 2],
  };
  test.each<[When[number], boolean | 'unknown']>([
    [{ path: '/amount', eq: 600 }, true],
    [{ path: '/amount', eq: 601 }, false],
    [{ path: '/amount', eq: '600' }, 'unknown'],
    [{ path: '/text', eq: 'prod-1' }, true],
    [{ path: '/yes', eq: true }, true],
    [{ path: '/yes', eq: false }, false],
    [{ path: '/yes', eq: 'true' }, 'unknown'],
    [{ path: '/nothing', eq: null }, true],
    [{ path: '/nothing', eq: 0 }, 'unknown'],
    [{ path: '/amount', eq: null }, 'unknown'],
    [{ path: '/deep', eq: 'x' }, 'unknown'],
    [{ path: '/list', eq: 1 }, 'unknown'],
    [{ path: '/absent', eq: 1 }, 'unknown'],
    [{ path: '/amount', ne: 601 }, true],
    [{ path: '/amount', ne: 600 }, false],
    [{ path: '/amount', ne: 'x' }, 'unknown'],
    [{ path: '/absent', ne: 1 }, 'unknown'],
    [{ path: '/amount', in: [1, 600] }, true],
    [{ path: '/amount', in: [1, 'x'] }, false],
    [{ path: '/amount', in: ['600'] }, 'unknown'],
    [{ path: '/absent', in: [1] }, 'unknown'],
    [{ path: '/amount', gt: 599 }, true],
    [{ path: '/amount', gt: 600 }, false],
    [{ path: '/amount', gte: 600 }, true],
    [{ path: '/amount', gte: 601 }, false],
    [{ path: '/amount', lt: 601 }, true],
    [{ path: '/amount', lt: 600 }, false],
    [{ path: '/amount', lte: 600 }, true],
    [{ path: '/amount', lte: 599 }, false],
    [{ path: '/text', gt: 1 }, 'unknown'],
    [{ path: '/absent', lte: 1 }, 'unknown'],
    [{ path: '/text', like: 'prod*' }, true],
    [{ path: '/text', like: 'dev*' }, false],
    [{ path: '/amount', like: '*' }, 'unknown'],
    [{ path: '/text', present: true }, true],
    [{ path: '/text', present: false }, false],
    [{ path: '/absent', present: true }, false],
    [{ path: '/absent', present: false }, true],
    [{ path: '/nothing', present: true }, true],
    [{ path: '/deep/a~1b/0/~0', eq: 7 }, true],
    [{ path: '/list/1', eq: 2 }, true],
    [{ path: '/list/2', present: true }, false],
    [{ path: '/list/01', present: true }, false],
    [{ path: '/list/length', present: true }, false],
    [{ path: '/text/0', present: true }, false],
    [{ path: '/__proto__', present: true }, false],
    [{ path: '/constructor/name', present: true }, false],
  ])('%j → %s', (condition, expected) => {
    for (const effect of ['allow', 'ask', 'deny'] as const) {
      const list = listOf({ effect, when: [condition] });
      const holds = expected === 'unknown' ? effect !== 'allow' : expected;
      expect([effect, ...rulesOf(decided(list, [], input))]).toEqual([
        effect,
        ...(holds ? ['rule-0'] : []),
      ]);
    }
  });

  test('a text longer than the bound is compared with no glob', () => {
    const long = { text: `x${'a'.repeat(16 * 1024)}` };
    const when = [{ path: '/text', like: 'b*' }];
    expect(decided(listOf({ effect: 'deny', when }), [], long).effect).toBe('deny');
    expect(rulesOf(decided(listOf({ effect: 'allow', when }), [], long))).toEqual([]);
  });

  test.each<[When[number], boolean | 'unknown']>([
    [{ path: '/input/force', present: true }, 'unknown'],
    [{ path: '/input/force', present: false }, 'unknown'],
    [{ path: '/input/amount', gt: 1 }, 'unknown'],
    [{ path: '/details_dropped', present: true }, 'unknown'],
    [{ path: '/details_dropped', eq: false }, 'unknown'],
    [{ path: '/details_sha256', eq: 'e3b0c4' }, 'unknown'],
    [{ path: '/title', like: 'rm *' }, true],
    [{ path: '/title', eq: 'ls' }, false],
    [{ path: '/title', present: false }, false],
  ])('of an input of which only the title was kept, %j → %s (D-904)', (condition, expected) => {
    const { details_sha256: _unknown, ...earlier } = keptPart('rm -r build', '9f86d0');
    for (const part of [keptPart('rm -r build', '9f86d0'), earlier]) {
      for (const effect of ['allow', 'ask', 'deny'] as const) {
        const holds = expected === 'unknown' ? effect !== 'allow' : expected;
        const rules = rulesOf(decided(listOf({ effect, when: [condition] }), [], part));
        expect([effect, ...rules]).toEqual([effect, ...(holds ? ['rule-0'] : [])]);
      }
    }
  });

  test('of several that the whole may meet, the strictest counts, up to one that it surely meets (D-904)', () => {
    const may = (effect: 'ask' | 'deny', more: Parts = {}): Parts => ({
      effect,
      when: [{ path: '/input/force', present: true }],
      ...more,
    });
    const admins = may('ask', { approvers: { role: 'admin' } });
    const surely: Parts = { effect: 'ask', when: [{ path: '/title', like: 'rm *' }] };
    const of = (...rules: readonly Parts[]) =>
      decided(listOf(...rules), [], keptPart('rm -r build', '9f86d0'));
    expect(of(may('ask'), admins)).toMatchObject({
      effect: 'ask',
      demands: { approvers: { role: 'admin' } },
    });
    expect(of(may('ask'), may('deny'))).toMatchObject({ effect: 'deny' });
    expect(rulesOf(of(may('ask'), surely, may('deny')))).toEqual(['rule-0', 'rule-1']);
    expect(of(may('ask'), { effect: 'allow' }, may('deny'))).toMatchObject({ effect: 'ask' });
  });

  test.each<[Json]>([
    [{ title: 'x', details_dropped: true, force: true }],
    [{ title: 'x', details_dropped: 'yes' }],
    [{ title: 'x', details_dropped: true, details_sha256: 1 }],
    [{ details_dropped: true, force: true }],
  ])('an input that merely has fields of these names is whole: %j', (input) => {
    const rule: Parts = { effect: 'deny', when: [{ path: '/absent', present: true }] };
    expect(decided(listOf(rule), [], input).effect).toBe('allow');
  });

  test('all of a rule must hold', () => {
    const rule: Parts = {
      effect: 'deny',
      when: [
        { path: '/amount', gt: 1 },
        { path: '/amount', lt: 10 },
      ],
    };
    expect(decided(listOf(rule), [], { amount: 5 }).effect).toBe('deny');
    expect(decided(listOf(rule), [], { amount: 50 }).effect).toBe('allow');
  });
});

describe('both lists (D-500)', () => {
  test.each([
    [undefined, undefined, 'allow'],
    ['allow', undefined, 'allow'],
    ['ask', 'allow', 'ask'],
    ['allow', 'ask', 'ask'],
    ['ask', 'deny', 'deny'],
    ['deny', 'allow', 'deny'],
    [undefined, 'deny', 'deny'],
  ] as const)('%s of the agent and %s of the organization → %s', (own, theirs, effect) => {
    const one = (each: typeof own) => (each === undefined ? [] : listOf({ effect: each }));
    expect(decided(one(own), one(theirs)).effect).toBe(effect);
  });

  test('the first rule of a list that matches decides', () => {
    const list = listOf(
      { effect: 'deny', tools: ['other'] },
      { effect: 'allow', when: [{ path: '/amount', lte: 50 }] },
      { effect: 'ask' },
      { effect: 'deny' },
    );
    expect(decided(list, [], { amount: 20 }).effect).toBe('allow');
    expect(decided(list, [], { amount: 60 }).effect).toBe('ask');
  });

  test('a rule of the organization is about the agents and tenants that it names', () => {
    const of = (rule: Parts) => decided([], listOf({ effect: 'deny', ...rule })).effect;
    expect(of({ agents: ['des*'], tenants: ['ten_1'] })).toBe('deny');
    expect(of({ agents: ['other', 'kiosk-*'] })).toBe('allow');
    expect(of({ tenants: ['ten_2'] })).toBe('allow');
  });

  test('approval_required_tools is the last rule of the agent (D-504)', () => {
    const rules = listOf({ effect: 'allow', when: [{ path: '/amount', lte: 50 }] });
    const agent = rulesOfAgent({ rules, approvalRequiredTools: ['ref*'] });
    expect(decided(agent, [], { amount: 20 }).effect).toBe('allow');
    const { effect, rules: by } = decided(agent, [], { amount: 60 });
    expect([effect, by]).toMatchObject([
      'ask',
      [{ source: 'agent', name: 'approval_required_tools' }],
    ]);
  });

  test('a denial names the rule, its list and its reason (D-510)', () => {
    const mine = listOf({ name: 'mine', effect: 'deny' });
    const theirs = listOf({ name: 'theirs', effect: 'deny', reason: 'Read-only.' });
    expect(decided(mine)).toMatchObject({ reason: 'Not allowed by the rule mine of the agent.' });
    expect(decided(mine, theirs)).toMatchObject({
      reason: 'Not allowed by the rule theirs of the organization: Read-only.',
      rules: [{ source: 'organization' }, { source: 'agent' }],
    });
  });

  test('where both ask, both demands hold (D-505)', () => {
    const own = listOf({
      approvers: { role: 'owner', clients: true },
      remember: 'tool',
      wait_hours: 4,
    });
    const theirs = listOf({
      approvers: { role: 'admin', people: 2, not_starter: true },
      wait_hours: 24,
      on_expiry: 'deny',
    });
    expect(decided(own, theirs)).toMatchObject({
      demands: {
        approvers: { role: 'owner', people: 2, notStarter: true, clients: false, endUsers: false },
        remember: 'never',
        waitHours: 4,
        onExpiry: 'deny',
      },
    });
    const free = listOf({ remember: 'tool' });
    expect(decided(free, listOf({ approvers: {}, remember: 'exact' }))).toMatchObject({
      demands: { approvers: { role: 'operator', clients: false }, remember: 'exact' },
    });
    expect(decided(free)).toMatchObject({
      demands: { approvers: { clients: true, endUsers: true }, onExpiry: 'fail' },
    });
  });

  test('a rule that only observes is reported and passed over (D-525)', () => {
    const list = listOf(
      { name: 'seen', effect: 'deny', observe: true },
      { name: 'late', effect: 'ask' },
      { name: 'never', effect: 'deny', observe: true },
    );
    expect(decided(list)).toMatchObject({
      effect: 'ask',
      rules: [{ name: 'late' }],
      observed: [{ source: 'agent', name: 'seen', effect: 'deny' }],
    });
  });

  test('a rule names a tool whatever its conditions say (D-508)', () => {
    const organization = listOf({
      agents: ['desk'],
      tools: ['ref*'],
      when: [{ path: '/x', eq: 1 }],
    });
    expect(namesTool({ agent: [], organization }, call)).toBe(true);
    expect(namesTool({ agent: [], organization }, { ...call, agentName: 'x' })).toBe(false);
    expect(namesTool({ agent: [], organization }, { ...call, toolName: 'x' })).toBe(false);
  });
});

describe('any lists and any input', () => {
  const value = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.integer({ min: 0, max: 3 }),
    fc.constantFrom('a', 'b'),
  );
  const path = fc.constantFrom('/a', '/b', '/a/0', '/b/c');
  const condition = fc.oneof(
    fc.record({ path, eq: value }),
    fc.record({ path, ne: value }),
    fc.record({ path, in: fc.array(value, { minLength: 1, maxLength: 3 }) }),
    fc.record({ path, gt: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ path, lte: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ path, like: fc.constantFrom('*', 'a*', 'b') }),
    fc.record({ path, present: fc.boolean() }),
  );
  const rule = fc.record({
    tools: fc.constantFrom('*', 'refund', 'other').map((glob) => [glob]),
    effect: fc.constantFrom('allow', 'ask', 'deny'),
    when: fc.array(condition, { maxLength: 2 }),
  });
  const list = fc.array(rule, { maxLength: 4 }).map((rules) => listOf(...rules));
  const input = fc.oneof(
    fc.constant(null),
    fc.record(
      { a: fc.oneof(value, fc.array(value)), b: fc.oneof(value, fc.record({ c: value })) },
      { requiredKeys: [] },
    ),
  );

  test('decide as the stricter of both lists, so that neither loosens the other', () => {
    fc.assert(
      fc.property(list, list, input, (own, theirs, given) => {
        const alone = [decided(own, [], given), decided([], theirs, given)];
        const both = decided(own, theirs, given);
        const levels = alone.map(({ effect }) => strictness.indexOf(effect));
        expect(strictness.indexOf(both.effect)).toBe(Math.max(...levels));
      }),
      { numRuns: 1_000 },
    );
  });

  test('fail closed on an input that nothing can be compared with', () => {
    fc.assert(
      fc.property(condition, (when) => {
        fc.pre(!('present' in when));
        const parts = (effect: 'allow' | 'deny') => listOf({ effect, when: [when] });
        expect(decided(parts('deny'), [], null).effect).toBe('deny');
        expect(rulesOf(decided(parts('allow'), [], null))).toEqual([]);
      }),
    );
  });
});

describe('a list of rules (D-501, D-502, D-512)', () => {
  const rule = { name: 'a', tools: ['x'], effect: 'ask' };
  const problemIn = (...rules: readonly object[]) => {
    const [issue] =
      organizationRules.safeParse(rules.map((each) => ({ ...rule, ...each }))).error?.issues ?? [];
    return issue === undefined ? 'none' : `${issue.path.join('.')}: ${issue.message}`;
  };

  test.each<[string, object]>([
    ['none', { approvers: { people: 2, role: 'admin', not_starter: true }, remember: 'never' }],
    ['0.when.0.path: must be a JSON Pointer', { when: [{ path: '', eq: 1 }] }],
    ['0.when.0.path: must be a JSON Pointer', { when: [{ path: 'amount', eq: 1 }] }],
    ['0.when.0.path: must be a JSON Pointer', { when: [{ path: '/a~2', eq: 1 }] }],
    ['0.when.0.path: must be a JSON Pointer', { when: [{ path: '/a'.repeat(17), eq: 1 }] }],
    ['0.when.0: must have a comparison', { when: [{ path: '/a' }] }],
    ['0.when.0: has 2 comparisons (gt, lt)', { when: [{ path: '/a', gt: 1, lt: 2 }] }],
    ['0.when.0.eq: must be a string', { when: [{ path: '/a', eq: {} }] }],
    ['0.when.0: Unrecognized key', { when: [{ path: '/a', eq: 1, x: 1 }] }],
    ['0.tools: ', { tools: [] }],
    ['0.name: must be 1 to 64', { name: 'A b' }],
    ['0.reason: must be', { reason: 'two\nlines' }],
    ['0.observe: cannot be true', { effect: 'allow', observe: true }],
    ['0.remember: belongs to effect: ask', { effect: 'deny', remember: 'exact' }],
    ['0.remember: cannot be used', { approvers: { people: 2 }, remember: 'tool' }],
    ['0.approvers.clients: cannot be true', { approvers: { people: 2, clients: true } }],
    ['0.approvers.end_users: cannot be true', { approvers: { people: 2, end_users: true } }],
    ['0.approvers.end_users: cannot', { approvers: { not_starter: true, end_users: true } }],
    ['0.wait_hours: ', { wait_hours: 0 }],
  ])('%s', (problem, parts) => {
    expect(problemIn(parts)).toContain(problem);
  });

  test('has unique names, and bounds', () => {
    expect(problemIn({}, { name: 'b' }, {})).toContain('2.name: a is the name of another rule');
    const many = Array.from({ length: 101 }, (_, at) => ({ name: `r-${at}` }));
    expect(problemIn(...many)).toContain(': ');
    const large = many.slice(1).map((each) => ({
      ...each,
      reason: 'x'.repeat(500),
      tools: Array.from({ length: 2 }, () => 't'.repeat(100)),
    }));
    expect(problemIn(...large)).toContain('must have at most 65536 bytes');
  });

  test('of an agent names no agents and tenants', () => {
    const issues = agentRules.safeParse([{ ...rule, tenants: ['ten_1'] }]).error?.issues;
    expect(issues).toMatchObject([{ code: 'unrecognized_keys', keys: ['tenants'] }]);
  });
});

function rulesOf({ rules }: Decision): readonly string[] {
  return rules.map(({ name }) => name);
}
