import { type RuleEffect, type RuleSource, ruleEffects, ruleSources } from '@convoke/contract';
import type { Json } from '../json.ts';
import { compare } from './conditions.ts';
import { type Demands, bothDemands, noDemands } from './demands.ts';
import { isKeptPart } from './kept-part.ts';
import { type NamedTool, type Rule, type RuleList, isAbout } from './rule.ts';

/** Both lists that count for a run (D-500). */
export interface RuleLists {
  readonly agent: RuleList;
  readonly organization: RuleList;
}

export interface CallToDecide extends NamedTool {
  readonly input: Json;
}

/** A rule that matched, as people see it. */
export interface MatchedRule {
  readonly source: RuleSource;
  readonly name: string;
  readonly reason?: string;
}

/** A list's part in an `ask`, kept with the request: later changes of the rules are compared with it (D-515). */
export interface AskingRule extends MatchedRule {
  readonly demands: Demands;
}

/** The decision of the rules about a call. `rules` are those that decided, the organization's first. */
export type Decision = {
  /** Matches of rules that only observe (D-525). */
  readonly observed: readonly ObservedRule[];
} & (
  | { readonly effect: 'allow'; readonly rules: readonly MatchedRule[] }
  | {
      readonly effect: 'ask';
      readonly rules: readonly AskingRule[];
      /** What satisfies all of them (D-505). */
      readonly demands: Demands;
    }
  | {
      readonly effect: 'deny';
      readonly rules: readonly MatchedRule[];
      /** For the agent (D-510). */
      readonly reason: string;
    }
);

export interface ObservedRule extends MatchedRule {
  readonly effect: RuleEffect;
}

interface Match {
  readonly source: RuleSource;
  readonly rule: Rule;
}

/** D-500: the first rule of each list that matches decides, and of both results the stricter counts. */
export function decide(lists: RuleLists, call: CallToDecide): Decision {
  const observed: ObservedRule[] = [];
  const matches = ruleSources.flatMap((source): readonly Match[] => {
    const rules = matchesIn(lists[source], call, (each) => {
      observed.push({ ...matched({ source, rule: each }), effect: each.effect });
    });
    return rules.map((rule) => ({ source, rule }));
  });
  const effect = strictest(matches);
  const rules = matches.filter(({ rule }) => rule.effect === effect);
  switch (effect) {
    case 'allow':
      return { observed, effect, rules: rules.map(matched) };
    case 'deny':
      return { observed, effect, rules: rules.map(matched), reason: denialOf(rules) };
    case 'ask': {
      const asking = rules.flatMap(askingRules);
      return { observed, effect, rules: asking, demands: demandsOf(asking) };
    }
    default:
      return effect satisfies never;
  }
}

/** D-515: with the part of an agent that cannot be read any more, as it was when it asked. */
export function withKeptPart(decision: Decision, asked: readonly AskingRule[]): Decision {
  const kept = asked.filter(({ source }) => source === 'agent');
  if (kept.length === 0 || decision.effect === 'deny') return decision;
  const { observed } = decision;
  const rules = [...(decision.effect === 'ask' ? decision.rules : []), ...kept];
  return { observed, effect: 'ask', rules, demands: demandsOf(rules) };
}

/** What satisfies all rules that ask (D-505), or a request that no rule has asked for. */
export function demandsOf(asking: readonly AskingRule[]): Demands {
  return asking.length === 0 ? noDemands : asking.map(({ demands }) => demands).reduce(bothDemands);
}

/** The rules of a list that the call meets: those that observe it, and the one that decides. */
export function rulesMet(list: RuleList, call: CallToDecide): readonly Rule[] {
  const met: Rule[] = [];
  const decisive = matchesIn(list, call, (rule) => met.push(rule));
  return [...met, ...decisive];
}

/** D-508: whether some rule may decide about calls of this tool. */
export function namesTool({ agent, organization }: RuleLists, tool: NamedTool): boolean {
  return [...organization, ...agent].some((rule) => isAbout(rule, tool));
}

/** The first rule that matches. Where only a part of the input was kept, all that the whole may meet first (D-904). */
function matchesIn(
  list: RuleList,
  call: CallToDecide,
  observe: (rule: Rule) => void,
): readonly Rule[] {
  const found: Rule[] = [];
  const isPart = isKeptPart(call.input);
  for (const rule of list) {
    if (!isAbout(rule, call) || !hasConditions(rule, call.input)) continue;
    if (rule.effect !== 'allow' && rule.isObserved) {
      observe(rule);
      continue;
    }
    found.push(rule);
    if (!isPart || rule.when.every((each) => compare(call.input, each) === true)) break;
  }
  return found;
}

/**
 * D-503: what cannot be compared fulfils the conditions of a rule that restricts, and never those of one that allows.
 */
function hasConditions({ effect, when }: Rule, input: Json): boolean {
  return when.every((condition) => {
    const result = compare(input, condition);
    return result === 'unknown' ? effect !== 'allow' : result;
  });
}

function strictest(matches: readonly Match[]): RuleEffect {
  const strictness = matches.map(({ rule }) => ruleEffects.indexOf(rule.effect));
  return ruleEffects[Math.max(0, ...strictness)] ?? 'deny';
}

function matched({ source, rule: { name, reason } }: Match): MatchedRule {
  return { source, name, ...(reason !== undefined && { reason }) };
}

function askingRules(match: Match): readonly AskingRule[] {
  return match.rule.effect === 'ask' ? [{ ...matched(match), demands: match.rule.demands }] : [];
}

function denialOf([first]: readonly Match[]): string {
  if (first === undefined) return 'Not allowed.';
  const { source, rule } = first;
  const sentence = `Not allowed by the rule ${rule.name} of the ${source}`;
  return rule.reason === undefined ? `${sentence}.` : `${sentence}: ${rule.reason}`;
}
