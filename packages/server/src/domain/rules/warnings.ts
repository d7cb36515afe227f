import type { RuleWarningCode } from '@convoke/contract';
import type { Role } from '../member.ts';
import { rolesOf } from './approvers.ts';
import { areaCovers, matchesAny, mayMatchSame } from './glob.ts';
import type { Rule, RuleList } from './rule.ts';

/** Warnings about rules that are accepted (D-528). */
export interface RuleWarning {
  readonly rule: string;
  readonly code: RuleWarningCode;
  readonly message: string;
}

/** The fields of an agent that rules refer to. */
export interface RuledAgent {
  readonly name: string;
  readonly framework?: string | undefined;
  /** Globs; absent where they cannot be read. */
  readonly tools?: readonly string[] | undefined;
}

export interface RuledWorld {
  readonly agents: readonly RuledAgent[];
  /** How many members have each role; absent where another issuer knows. */
  readonly people?: ReadonlyMap<Role, number> | undefined;
}

/** The remote agent carries out its calls itself, and this server sees none of them. */
const withoutCalls = 'a2a';

export function warningsOf(rules: RuleList, world: RuledWorld): readonly RuleWarning[] {
  return rules.flatMap((rule, index) =>
    [
      unknownAgent(rule, world),
      unknownTool(rule, world),
      unreachable(rule, rules.slice(0, index)),
      tooFewApprovers(rule, world),
      notEnforced(rule, world),
    ].flatMap((warning) => (warning === undefined ? [] : [{ rule: rule.name, ...warning }])),
  );
}

type Warning = Omit<RuleWarning, 'rule'> | undefined;

function unknownAgent({ agents: globs = [] }: Rule, { agents }: RuledWorld): Warning {
  const unknown = globs.filter((glob) => !agents.some(({ name }) => matchesAny([glob], name)));
  if (unknown.length === 0) return undefined;
  return { code: 'unknown_agent', message: `No agent has the name ${listed(unknown, 'or')}.` };
}

function unknownTool(rule: Rule, world: RuledWorld): Warning {
  const agents = ruledBy(rule, world);
  if (agents.length === 0) return undefined;
  const tools = new Set(agents.flatMap((agent) => agent.tools ?? ['*']));
  const isKnown = rule.tools.some((glob) => [...tools].some((tool) => mayMatchSame(glob, tool)));
  if (isKnown) return undefined;
  const isAny = rule.agents === undefined && agents.length > 1;
  const whose = isAny ? 'any agent' : listed(agents.map(nameOf), 'or');
  return {
    code: 'unknown_tool',
    message: `${listed(rule.tools, 'or')} is not a tool of ${whose}.`,
  };
}

/** A rule without conditions leaves nothing of what it names to the rules behind it. */
function unreachable(rule: Rule, before: RuleList): Warning {
  const above = before.find((each) => decidesAlways(each) && covers(each, rule));
  if (above === undefined) return undefined;
  const message = `The rule ${above.name} above it decides about every call that it names.`;
  return { code: 'unreachable', message };
}

function decidesAlways(rule: Rule): boolean {
  return rule.when.length === 0 && (rule.effect === 'allow' || !rule.isObserved);
}

function covers(above: Rule, rule: Rule): boolean {
  return (
    areaCovers(above.tools, rule.tools) &&
    (above.agents === undefined ||
      (rule.agents !== undefined && areaCovers(above.agents, rule.agents))) &&
    (above.tenants === undefined ||
      (rule.tenants?.every((tenant) => above.tenants?.includes(tenant)) ?? false))
  );
}

function tooFewApprovers(rule: Rule, { people }: RuledWorld): Warning {
  if (rule.effect !== 'ask' || people === undefined) return undefined;
  const { approvers } = rule.demands;
  const { people: needed, clients, endUsers } = approvers;
  if (clients || endUsers) return undefined;
  const roles = rolesOf(approvers);
  const able = roles.reduce((sum, each) => sum + (people.get(each) ?? 0), 0);
  if (able >= needed) return undefined;
  const who = listed(roles, 'or');
  const message = `${needed} ${needed === 1 ? 'person is' : 'people are'} needed; ${able} ${able === 1 ? 'is' : 'are'} ${who}.`;
  return { code: 'too_few_approvers', message };
}

function notEnforced(rule: Rule, world: RuledWorld): Warning {
  if (rule.agents === undefined) return undefined;
  const remote = ruledBy(rule, world).filter(({ framework }) => framework === withoutCalls);
  if (remote.length === 0) return undefined;
  const names = listed(remote.map(nameOf), 'and');
  const message = `Calls of ${names} are not seen here: ${remote.length === 1 ? 'it is an agent' : 'they are agents'} of another service.`;
  return { code: 'not_enforced', message };
}

function ruledBy({ agents: globs }: Rule, { agents }: RuledWorld): readonly RuledAgent[] {
  return globs === undefined ? agents : agents.filter(({ name }) => matchesAny(globs, name));
}

function nameOf({ name }: RuledAgent): string {
  return name;
}

/** More names than this are counted, not listed. */
const namesMax = 5;

function listed(names: readonly string[], word: 'and' | 'or'): string {
  const shown = names.slice(0, namesMax);
  const rest = names.length - shown.length;
  const last = rest > 0 ? `${rest} more` : shown.pop();
  return shown.length === 0 ? (last ?? '') : `${shown.join(', ')} ${word} ${last ?? ''}`;
}
