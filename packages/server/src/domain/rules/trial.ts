import { type RuleEffect, ruleEffects } from '@convoke/contract';
import { type CallToDecide, decide, rulesMet } from './decide.ts';
import type { RuleList } from './rule.ts';

/** The lists that a draft is tried with: that of the agent counts beside both (D-526). */
export interface TrialLists {
  readonly agent: RuleList;
  readonly before: RuleList;
  readonly after: RuleList;
}

export interface TriedCall {
  readonly before: RuleEffect;
  readonly after: RuleEffect;
  /** Names of the rules of the draft that the call meets. */
  readonly met: readonly string[];
  /** The rule that makes the difference; absent without one. */
  readonly rule?: string | undefined;
}

/** The decisions of the current rules and of a draft about a past call. */
export function tryCall({ agent, before, after }: TrialLists, call: CallToDecide): TriedCall {
  const now = decide({ agent, organization: before }, call);
  const then = decide({ agent, organization: after }, call);
  const met = rulesMet(after, call).map(({ name }) => name);
  const tried = { before: now.effect, after: then.effect, met };
  if (now.effect === then.effect) return tried;
  // Only the list of the organization is another one, so the stricter result is due to a rule of it.
  const isStricter = ruleEffects.indexOf(then.effect) > ruleEffects.indexOf(now.effect);
  const { rules } = isStricter ? then : now;
  return { ...tried, rule: rules.find(({ source }) => source === 'organization')?.name };
}
