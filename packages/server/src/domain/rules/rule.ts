import type { AgentRule, OrganizationRule } from '@convoke/contract';
import { type Condition, readCondition } from './conditions.ts';
import { type Demands, noDemands, readDemands } from './demands.ts';
import { matchesAny } from './glob.ts';

/** Says what happens with the tool calls that match it (D-501). */
export type Rule = RuleBase &
  (
    | { readonly effect: 'allow' }
    | { readonly effect: 'deny'; readonly isObserved: boolean }
    | { readonly effect: 'ask'; readonly isObserved: boolean; readonly demands: Demands }
  );

interface RuleBase {
  readonly name: string;
  /** Globs of names; absent: of every agent. */
  readonly agents?: readonly string[];
  /** Ids; absent: of every tenant. */
  readonly tenants?: readonly string[];
  readonly tools: readonly string[];
  readonly when: readonly Condition[];
  readonly reason?: string;
}

/** In order: the first rule that matches decides (D-500). */
export type RuleList = readonly Rule[];

/** Makes a list of the bodies that its schema has accepted. */
export function readRules(bodies: readonly (AgentRule | OrganizationRule)[]): RuleList {
  return bodies.map(readRule);
}

function readRule(body: AgentRule | OrganizationRule): Rule {
  const { name, tools, when = [], reason, effect, observe = false } = body;
  const base = {
    name,
    tools,
    when: when.map(readCondition),
    ...('agents' in body && body.agents !== undefined && { agents: body.agents }),
    ...('tenants' in body && body.tenants !== undefined && { tenants: body.tenants }),
    ...(reason !== undefined && { reason }),
  };
  if (effect === 'allow') return { ...base, effect };
  if (effect === 'deny') return { ...base, effect, isObserved: observe };
  return { ...base, effect, isObserved: observe, demands: readDemands(body) };
}

/** The list of an agent, of which its `approval_required_tools` are the last rule (D-504). */
export function rulesOfAgent(agent: {
  readonly rules: RuleList;
  readonly approvalRequiredTools: readonly string[];
}): RuleList {
  const { rules, approvalRequiredTools: tools } = agent;
  if (tools.length === 0) return rules;
  const last: Rule = {
    name: 'approval_required_tools',
    tools,
    when: [],
    effect: 'ask',
    isObserved: false,
    demands: noDemands,
  };
  return [...rules, last];
}

export interface NamedTool {
  readonly agentName: string;
  readonly tenantId: string;
  readonly toolName: string;
}

/** Whether the rule is about this tool of this agent and tenant, whatever its conditions say. */
export function isAbout(rule: Rule, { agentName, tenantId, toolName }: NamedTool): boolean {
  if (!matchesAny(rule.tools, toolName)) return false;
  if (rule.tenants !== undefined && !rule.tenants.includes(tenantId)) return false;
  return rule.agents === undefined || matchesAny(rule.agents, agentName);
}
