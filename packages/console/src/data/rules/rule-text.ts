import type { RuleRecord } from '@convoke/sdk';

type Condition = NonNullable<RuleRecord['when']>[number];

const signs = {
  eq: '=',
  ne: '≠',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  like: 'is like',
  in: 'is one of',
} as const;

/** A rule in one line, without its name and its reason. */
export function ruleText(rule: RuleRecord): string {
  const { agents, tenants, tools, when = [], observe, wait_hours: hours, on_expiry } = rule;
  return [
    observe === true ? `only observes: ${rule.effect}` : rule.effect,
    tools.join(', '),
    ...(agents === undefined ? [] : [`of ${agents.join(', ')}`]),
    ...(tenants === undefined ? [] : [`in ${tenants.join(', ')}`]),
    ...(when.length === 0 ? [] : [`when ${when.map(conditionText).join(' and ')}`]),
    ...approverTexts(rule),
    ...(hours === undefined ? [] : [`within ${hours} h`]),
    ...(on_expiry === 'deny' ? ['denied without an answer'] : []),
  ].join(' · ');
}

function conditionText(condition: Condition): string {
  const { path, present } = condition;
  if (present !== undefined) return `${path} is ${present ? 'there' : 'missing'}`;
  for (const [key, sign] of Object.entries(signs)) {
    const value = condition[key as keyof typeof signs];
    if (value !== undefined) return `${path} ${sign} ${valueText(value)}`;
  }
  return path;
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function approverTexts({ approvers, remember }: RuleRecord): readonly string[] {
  const kept = remember === undefined || remember === 'never' ? [] : [`remembered: ${remember}`];
  if (approvers === undefined) return kept;
  const { role = 'operator', people = 1, not_starter, clients, end_users } = approvers;
  const who = [
    people === 1 ? '1 person' : `${people} people`,
    role === 'admin' ? 'admin or owner' : role === 'owner' ? 'owner' : 'operator or higher',
    ...(not_starter === true ? ['not the starter'] : []),
    ...(clients === true ? ['or a client'] : []),
    ...(end_users === true ? ['or an end user'] : []),
  ];
  return [who.join(', '), ...kept];
}

/** The rules as a person edits them: one line for each key, without the frame of the document. */
export function rulesAsText(rules: readonly RuleRecord[]): string {
  return JSON.stringify(rules, undefined, 2);
}

export type RulesText =
  | { readonly ok: true; readonly rules: readonly RuleRecord[] }
  | { readonly ok: false; readonly problem: string };

/** Reads what a person has typed: a list of rules, or a document with one. What they say is for the server to judge. */
export function rulesIn(text: string): RulesText {
  try {
    const value: unknown = JSON.parse(text);
    const list = Array.isArray(value) ? value : (value as { readonly rules?: unknown })?.rules;
    if (Array.isArray(list)) return { ok: true, rules: list as RuleRecord[] };
    return {
      ok: false,
      problem: 'Write a list of rules: [ { "name": …, "tools": …, "effect": … } ]',
    };
  } catch (error) {
    return {
      ok: false,
      problem: `This is no JSON: ${error instanceof Error ? error.message : ''}`,
    };
  }
}
