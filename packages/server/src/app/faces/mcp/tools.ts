import { type RunId, type Scope, idPattern, runId } from '@convoke/contract';
import {
  type McpTool,
  agentTool,
  answerTool,
  cancelTool,
  ownTools,
  waitTool,
} from '@convoke/faces';
import { type Agent, isEnabledFor } from '../../../domain/agent.ts';
import { shownName } from '../../../domain/preview.ts';
import type { Run } from '../../../domain/run/run.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type { Services } from '../../services.ts';
import { failTool } from './failure.ts';

/** D-217: an assistant reads the description of every tool, for each message. */
const agentsMax = 50;

/** What an address offers: the agents that it names, else those of the tenant. */
export interface Offer {
  readonly scope: TenantScope;
  readonly names: readonly string[] | undefined;
}

/** The scopes that a tool needs beside those of every call (D-613). */
export function scopesOfTool(name: string): readonly Scope[] {
  switch (name) {
    case waitTool:
      return [];
    case answerTool:
      return ['interactions:write'];
    case cancelTool:
      return ['runs:write'];
    default:
      return ['sessions:write', 'runs:write'];
  }
}

/** The tools that a caller with these scopes can use, the agents by name. */
export function offeredTools(
  { agents }: Pick<Services, 'agents'>,
  offer: Offer,
  scopes: ReadonlySet<Scope>,
): readonly McpTool[] {
  return [...offeredAgents(agents, offer).map(toolOf), ...ownTools].filter(({ name }) =>
    scopesOfTool(name).every((scope) => scopes.has(scope)),
  );
}

/** Those that are tools, by name. */
export function offeredAgents(agents: Services['agents'], offer: Offer): readonly Agent[] {
  return agents
    .all()
    .filter((agent) => isEnabledFor(agent, offer.scope.tenantId) && isNamed(offer, agent.name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, agentsMax);
}

function toolOf({ name, description, ...agent }: Agent): McpTool {
  return agentTool({ name, description, ...schemasOf(agent) });
}

/** Input and output schema of the agent, as fields of its tool. */
export function schemasOf({ input, output }: Pick<Agent, 'input' | 'output'>) {
  return { input_schema: input?.schema, output_schema: output?.schema };
}

/** Whether the address offers the agent, if the tenant has it. */
export function isNamed({ names }: Offer, agentName: string): boolean {
  return names === undefined || names.includes(agentName);
}

/** The run with this id; undefined where it is of another tenant, or of an agent that is not offered. */
export async function offeredRun(
  { store }: Pick<Services, 'store'>,
  offer: Offer,
  id: string,
): Promise<Run | undefined> {
  if (!idPattern.test(id)) return undefined;
  const run = await store.read.runs.findById(offer.scope, runId(id));
  return run !== undefined && isNamed(offer, run.agentName) ? run : undefined;
}

/** As `offeredRun`; one that is not offered is as unknown to the model as one that does not exist. */
export async function findRun(
  services: Pick<Services, 'store'>,
  offer: Offer,
  id: RunId | string,
): Promise<Run> {
  return (await offeredRun(services, offer, id)) ?? failTool(`There is no run ${shownName(id)}.`);
}
