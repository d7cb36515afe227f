import type { KnownCall } from '../../src/domain/run/tool-call.ts';
import type { Agent } from '../../src/domain/agent.ts';
import { decide, namesTool } from '../../src/domain/rules/decide.ts';
import { type Rule, rulesOfAgent } from '../../src/domain/rules/rule.ts';
import type { CallToDecide, Effects, LegInput, NewCall } from '../../src/ports/harness.ts';

/** A ledger that lets every call begin, for tests that do not care about it. */
export const openEffects: Effects = {
  begin: () => Promise.resolve({ kind: 'begun' }),
  decide: () => Promise.resolve({ kind: 'allowed', isNamed: false }),
  end: () => Promise.resolve(),
  key: (ref) => `run_1.${ref}`,
};

interface RuledParts {
  readonly effects?: Effects;
  readonly organization?: readonly Rule[];
}

/**
 * Applies the rules of the agent and of the organization. What a person has allowed in an earlier leg, or in this one
 * after it was asked about, begins.
 */
export function ruledEffects(
  agent: Agent,
  input: LegInput,
  { effects: base = openEffects, organization = [] }: RuledParts = {},
): Effects {
  const asked = new Set<string>();
  const lists = { agent: rulesOfAgent(agent), organization };
  const isAllowed = (ref: string) => {
    if (input.kind === 'prompt') return false;
    const answer = input.answers.get(ref);
    const isRepeated = input.kind === 'continue' && input.calls.get(ref)?.state === 'again';
    return isRepeated || (answer?.kind === 'permission' && answer.allow);
  };
  const decisionAbout = ({ ref, kind, toolName, ...call }: CallToDecide) => {
    const { name: agentName } = agent;
    const { wholeInput: input = call.input } = call;
    const decision = decide(lists, { toolName, input, agentName, tenantId: 'ten_1' });
    const isFree = kind !== undefined || (decision.effect === 'ask' && isAllowed(ref));
    return isFree ? ({ effect: 'allow' } as const) : decision;
  };
  return {
    ...base,
    async begin(call) {
      const decision = decisionAbout(call);
      if (decision.effect === 'deny') return { kind: 'denied', reason: decision.reason };
      if (decision.effect === 'allow' || asked.has(call.ref)) return base.begin(call);
      asked.add(call.ref);
      return { kind: 'ask' };
    },
    async decide(call) {
      const decision = decisionAbout(call);
      if (decision.effect === 'deny') return { kind: 'denied', reason: decision.reason };
      if (decision.effect === 'allow') {
        const named = { toolName: call.toolName, agentName: agent.name, tenantId: 'ten_1' };
        return { kind: 'allowed', isNamed: namesTool(lists, named) };
      }
      asked.add(call.ref);
      return { kind: 'ask' };
    },
  };
}

/** The ledger of a leg, of which a test watches some methods. */
export function watchedEffects(effects: Effects, watched: Pick<Effects, 'begin' | 'end'>): Effects {
  const { begin, end } = watched;
  const decide: Effects['decide'] = (...call) => effects.decide(...call);
  return { begin, end, decide, key: (ref) => effects.key(ref) };
}

export interface RecordedEffects {
  readonly effects: Effects;
  /** The calls that have ended, as a leg that continues gets them. */
  readonly calls: ReadonlyMap<string, KnownCall>;
}

/** A ledger in memory: a call begins once. */
export function recordingEffects(): RecordedEffects {
  const begun = new Map<string, NewCall>();
  const calls = new Map<string, KnownCall>();
  const effects: Effects = {
    ...openEffects,
    async begin(call) {
      if (begun.has(call.ref)) return { kind: 'left' };
      begun.set(call.ref, call);
      return { kind: 'begun' };
    },
    async end(ref, result) {
      const { toolName = '', input = {} } = begun.get(ref) ?? {};
      calls.set(ref, { toolName, input, state: 'ended', ...result });
    },
  };
  return { effects, calls };
}
