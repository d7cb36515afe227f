import type { AgentRecord } from '@convoke/sdk';
import { Failure } from '../../../failure.ts';

/** Explains why there is no such agent. */
export async function noSuchAgent(name: string, agents: readonly AgentRecord[]): Promise<Failure> {
  const known = agents.map((agent) => agent.name).join(', ') || 'none';
  const { problemOf } = await import('./problem.ts');
  const problem = await problemOf(name);
  if (problem !== undefined) return new Failure(`the agent "${name}" is not loaded: ${problem}`);
  return new Failure(`there is no agent "${name}" (agents: ${known})`);
}
