import type { TenantId } from '@convoke/contract';
import type { Ceiling } from './usage/budget.ts';
import type { RuleList } from './rules/rule.ts';
import type { DeclaredConnection } from './connections/declared.ts';
import type { ValueSchema } from './run/value-schema.ts';

/** An agent as its folder declares it (`agent.yaml`), with every default filled in. */
export interface Agent {
  readonly name: string;
  readonly description: string;
  readonly framework: string;
  readonly model?: string;
  readonly approvalRequiredTools: readonly string[];
  /** Its `rules`, without `approval_required_tools` (`rulesOfAgent` has both). */
  readonly rules: RuleList;
  readonly sessionFiles: boolean;
  /** The services whose accounts it uses; absent where it uses none. */
  readonly connections?: readonly DeclaredConnection[];
  /** The agents that it may call; absent where it calls none. */
  readonly calls?: readonly string[];
  /** Schema of the input (D-562); absent where it is a prompt. */
  readonly input?: ValueSchema;
  /** Schema of the output (D-567); absent where any output, or none, is accepted. */
  readonly output?: ValueSchema;
  readonly onBusy: 'queue' | 'reject';
  readonly contextFiles: readonly string[];
  readonly enableClaudeMd: boolean;
  readonly skills: 'all' | 'none' | readonly string[];
  readonly limits: {
    readonly runSeconds: number;
    readonly waitHours: number;
    /** The ceiling of each run (D-132). */
    readonly ceiling?: Ceiling;
  };
  readonly recovery: RecoveryPolicy;
  readonly tenants: {
    readonly default: 'enabled' | 'disabled';
    readonly allow: readonly string[];
    readonly deny: readonly string[];
  };
  /** The protocols by which programs of others find and call it (D-233). */
  readonly publish: readonly Publication[];
  /** The folder it was read from, which also holds `workspace/` and `skills/`. */
  readonly folder: string;
  /**
   * What its harness read from the keys of `agent.yaml` that only its framework uses (`script`, `command`, `url`, …).
   * Only that harness knows the type (`ports/harness.ts`).
   */
  readonly settings: unknown;
  /** What people want to know about it; absent for an agent that was not read from a folder. */
  readonly facts?: AgentFacts;
  /** Whether its framework runs a tool call only with the input that it asked for. */
  readonly hasFixedToolInput: boolean;
  /** D-574: SHA-256 in hex, equal for agents that do the same. */
  readonly digest: string;
  /** Whether its framework names the cost of a run itself. */
  readonly reportsCost?: boolean;
}

export const publications = ['a2a'] as const;
export type Publication = (typeof publications)[number];

export interface AgentFacts {
  /** Globs of the tools that it may use. */
  readonly tools: readonly string[];
  /** Names of the folders in `skills/` that it uses. */
  readonly skills: readonly string[];
  /** Environment variables that it refers to and this server does not have (D-340). */
  readonly missingVariables: readonly string[];
  /** When its folder was read. */
  readonly loadedAt: number;
}

/** A folder that could not be read as an agent. */
export interface BrokenAgent {
  readonly folder: string;
  readonly reason: string;
  /** What `agent.yaml` says about tenants and framework, if that much of it can be read. */
  readonly tenants?: Agent['tenants'];
  readonly framework?: string;
}

/** What happens to a run whose worker is gone, and to its tool calls in doubt (D-83, D-88). */
export interface RecoveryPolicy {
  readonly onLoss: 'resume' | 'fail';
  /** How often in a row the run may lose its worker without getting further. */
  readonly attempts: number;
  readonly inDoubt: 'ask' | 'tell' | 'fail';
  /** Globs of tools that may be carried out twice without harm. */
  readonly repeatableTools: readonly string[];
  /** Whether the agent continues a message that was cut, or says it again from its beginning. */
  readonly cutMessage: 'continue' | 'again';
}

/** `deny` wins over `allow`, which wins over the default. */
export function isEnabledFor(agent: Pick<Agent, 'tenants'>, tenantId: TenantId): boolean {
  if (agent.tenants.deny.includes(tenantId)) return false;
  return agent.tenants.allow.includes(tenantId) || agent.tenants.default === 'enabled';
}

/** Whether the tenant's clients may call it by the protocol. */
export function isPublishedTo(agent: Agent, tenantId: TenantId, by: Publication): boolean {
  return agent.publish.includes(by) && isEnabledFor(agent, tenantId);
}
