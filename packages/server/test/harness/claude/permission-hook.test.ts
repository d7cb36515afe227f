import type { AgentRule } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/json.ts';
import { readRules } from '../../../src/domain/rules/rule.ts';
import { CallGate } from '../../../src/harness/claude/call-gate.ts';
import { MessageCalls } from '../../../src/harness/claude/message-calls.ts';
import { PermissionHook } from '../../../src/harness/claude/permission-hook.ts';
import { EventQueue } from '../../../src/harness/event-queue.ts';
import { GrantedCalls, nothingSettled } from '../../../src/harness/parked-requests.ts';
import type { BeginOutcome, Effects, HarnessEvent, NewCall } from '../../../src/ports/harness.ts';
import { inBackground } from '../../../src/runtime/in-background.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { openEffects, ruledEffects } from '../../support/effects.ts';

const noPushes: AgentRule = {
  name: 'no-pushes',
  tools: ['Bash'],
  when: [{ path: '/command', like: 'git push*' }],
  effect: 'deny',
  reason: 'A person pushes.',
};
const noSubagent = {};
const asks: AgentRule = { name: 'asks', tools: ['Bash'], effect: 'ask' };

/** The hook of a leg whose agent has these rules; `begun` are the calls that began. */
function hookOf(
  rules: readonly AgentRule[],
  over: Partial<Effects> = {},
  organization: readonly AgentRule[] = [],
) {
  const begun: NewCall[] = [];
  const events: HarnessEvent[] = [];
  const agent = agentOf({ framework: 'claude', rules: readRules(rules) });
  const begin = (call: NewCall): Promise<BeginOutcome> => {
    begun.push(call);
    return Promise.resolve({ kind: 'begun' });
  };
  const effects = {
    ...ruledEffects(
      agent,
      { kind: 'prompt' },
      { effects: { ...openEffects, begin }, organization: readRules(organization) },
    ),
    ...over,
  };
  const settings = { asksUser: true, tools: ['*'], mcpServers: {} };
  const queue = new EventQueue();
  drain(queue);
  const gate = new CallGate({ effects, queue, settings, redact: (text) => text });
  const calls = new MessageCalls(systemClock);
  const hook = new PermissionHook({
    settings: settings as never,
    givesOutput: false,
    calls,
    gate,
    deferred: undefined,
    settled: undefined,
    granted: new GrantedCalls([], nothingSettled),
    made: [],
    mustYield: () => false,
    onAsk: () => {},
    onAnswered: () => {},
    emit: (event) => events.push(event),
    holdsLease: () => true,
  });
  const use = async (command: string, more: JsonObject = {}) => {
    const call = { tool_name: 'Bash', tool_use_id: 'c1', tool_input: { command }, ...more };
    calls.start();
    calls.add('c1');
    calls.end();
    const reply = (await hook.preToolUse(call)) as { readonly hookSpecificOutput: JsonObject };
    const { permissionDecision, permissionDecisionReason: reason } = reply.hookSpecificOutput;
    return [permissionDecision, ...(reason === undefined ? [] : [reason])];
  };
  return { hook, use, begun, events };
}

/** Takes the events, as the executing leg does. */
function drain(queue: EventQueue): void {
  inBackground(
    (async () => {
      for await (const _ of queue);
    })(),
  );
}

describe('rules about the calls of Claude', () => {
  const reason = 'Not allowed by the rule no-pushes of the agent: A person pushes.';

  test('look at the input, in subagents too (D-507)', async () => {
    for (const more of [{}, { agent_id: 'sub' }]) {
      const { use, begun } = hookOf([noPushes]);
      expect(await use('git push origin', more)).toEqual(['deny', reason]);
      expect(begun).toEqual([]);
      expect(await use('ls', more)).toEqual(['allow']);
      expect(begun).toMatchObject([{ toolName: 'Bash', input: { command: 'ls' } }]);
    }
  });

  test('of the organization hold as well, in subagents too (D-500)', async () => {
    const denied = reason.replace('the agent', 'the organization');
    for (const more of [noSubagent, { agent_id: 'sub' }]) {
      const { use, begun } = hookOf([], {}, [noPushes, asks]);
      expect(await use('git push origin', more)).toEqual(['deny', denied]);
      expect(await use('ls', more)).toEqual([more === noSubagent ? 'defer' : 'ask']);
      expect(begun).toEqual([]);
    }
  });

  test('have a person asked: the turn ends for it, but not that of a subagent', async () => {
    expect(await hookOf([asks]).use('ls')).toEqual(['defer']);
    const { hook, use, begun, events } = hookOf([asks]);
    expect(await use('ls', { agent_id: 'sub' })).toEqual(['ask']);
    const asked = hook.canUseTool('Bash', { command: 'ls' }, { toolUseID: 'c1' });
    await expect.poll(() => events).toMatchObject([{ type: 'permission_request', ref: 'c1' }]);
    expect(begun).toEqual([]);
    hook.answer('c1', { kind: 'permission', allow: true, input: { command: 'ls' } });
    expect(await asked).toMatchObject({ behavior: 'allow' });
    expect(begun).toHaveLength(1);
  });

  test('count as they are when the call begins: one that came in between has a person asked', async () => {
    const late = () => Promise.resolve({ kind: 'ask' } as const);
    expect(await hookOf([], { begin: late }).use('ls')).toEqual(['defer']);
    expect(await hookOf([], { begin: late }).use('ls', { agent_id: 'sub' })).toEqual(['ask']);
  });

  test('hold for the input that Claude uses: what changed it since is undone (D-1040)', async () => {
    const { hook, use } = hookOf([noPushes]);
    expect(await use('ls')).toEqual(['allow']);
    const changed = { command: 'git push origin' };
    expect(await hook.canUseTool('Bash', changed, { toolUseID: 'c1' })).toEqual({
      behavior: 'allow',
      updatedInput: { command: 'ls' },
    });
  });

  test('can be about tools that only read (D-508)', async () => {
    const noSecrets: AgentRule = {
      ...noPushes,
      tools: ['Read'],
      when: [{ path: '/file_path', like: '*.pem' }],
    };
    const { use } = hookOf([noSecrets]);
    const read = { tool_name: 'Read', tool_input: { file_path: 'a.pem' } };
    expect(await use('', read)).toEqual(['deny', reason]);
  });
});
