// What the rules of an agent decide about a call: the server decides, and both kits play the server (D-765).
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { agentRules } from '@convoke/contract';
import { expect, test } from 'vitest';
import { root, textOf } from '../../../../../test/repository.ts';
import type { Json } from '../../../../agent/src/json.ts';
import { type Rule, decide as decideInKit } from '../../../../agent/src/rehearsal/rules.ts';
import { decide } from '../../../src/domain/rules/decide.ts';
import { readRules, rulesOfAgent } from '../../../src/domain/rules/rule.ts';

interface Case {
  readonly what: string;
  readonly rules: readonly Rule[];
  readonly approval_required_tools?: readonly string[];
  readonly calls: readonly {
    readonly tool: string;
    readonly input: Json;
    readonly effect: 'allow' | 'ask' | 'deny';
    readonly reason?: string;
  }[];
}

const like = (text: string): Case => ({
  what: `a text of ${text.length} characters`,
  rules: [{ name: 'x', tools: ['t'], when: [{ path: '/text', like: 'x*' }], effect: 'ask' }],
  calls: [{ tool: 't', input: { text }, effect: text.length > likeMax ? 'ask' : 'allow' }],
});
/** Longer texts are not compared. */
const likeMax = 16 * 1024;
const written = textOf('packages/agent/test/rule-cases.jsonl').trim().split('\n');
const cases: readonly Case[] = [
  ...written.map((line) => JSON.parse(line) as Case),
  like('y'.repeat(likeMax)),
  like('y'.repeat(likeMax + 1)),
];
const listed = ({ rules, approval_required_tools: tools = [] }: Case): readonly Rule[] => [
  ...rules,
  { name: 'approval_required_tools', tools, effect: 'ask' },
];
const expected = ({ calls }: Case) =>
  calls.map(({ effect, reason }) => (reason === undefined ? { effect } : { effect, reason }));

test.each(cases.map((each) => [each.what, each] as const))('%s', (_what, each) => {
  expect(each.calls.map((call) => decideInKit(listed(each), call))).toEqual(expected(each));
  expect(each.calls.map((call) => inServer(each, call))).toEqual(expected(each));
});

test('the kit in Python decides as the server', () => {
  expect(inPython()).toEqual(cases.map(expected));
});

function inServer(
  { rules, approval_required_tools: approvalRequiredTools = [] }: Case,
  { tool: toolName, input }: Case['calls'][number],
): object {
  const agent = rulesOfAgent({ rules: readRules(agentRules.parse(rules)), approvalRequiredTools });
  const call = { agentName: 'clerk', tenantId: 'ten_1', toolName, input };
  const decision = decide({ agent, organization: [] }, call);
  const { effect } = decision;
  return decision.effect === 'deny' ? { effect, reason: decision.reason } : { effect };
}

const program = `import json, sys
from convoke_agent.rules import decide
print(json.dumps([[decide(rules, call["tool"], call["input"]) for call in calls] for rules, calls in json.load(sys.stdin)]))`;

function inPython(): unknown {
  const { stdout, stderr } = spawnSync('/usr/bin/python3', ['-B', '-c', program], {
    input: JSON.stringify(cases.map((each) => [listed(each), each.calls])),
    env: { PYTHONPATH: join(root, 'packages/agent-python') },
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}
