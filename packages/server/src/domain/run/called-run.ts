import type { Agent } from '../agent.ts';
import { type Json, isObject } from '../json.ts';
import { callersOf } from './ancestry.ts';
import type { Run } from './run.ts';

/** How many runs may stand above a called one. */
const callDepthMax = 5;
const callsPerRun = 100;
/** Runs below one that no run has called. Calls that are made at the same time may pass it by their number. */
export const calledRunsMax = 1000;

export interface WantedCall {
  readonly caller: Pick<Run, 'agentName' | 'ancestors'>;
  /** Undefined where the folder of the agent is gone. */
  readonly agent: Pick<Agent, 'name' | 'calls'> | undefined;
  readonly name: string;
  readonly input: Json;
}

/** Why the agent may not be called so, by the caller's declaration alone (D-920); undefined if it may. */
export function refusedCall({ caller, agent, name, input }: WantedCall): string | undefined {
  if (agent?.calls?.includes(name) !== true) {
    return `${caller.agentName} may not call ${name}: name it in agents of agent.yaml.`;
  }
  if (!isObject(input)) return 'The input of a call must be an object.';
  if (input['files'] !== undefined) return 'A called run takes no files.';
  if (callersOf(caller).length >= callDepthMax) {
    return `Calls go ${callDepthMax} deep at most.`;
  }
  return undefined;
}

/**
 * Why the caller may call no further run, or not this agent; `chain` are the agents of the caller and of its callers.
 */
export function refusedInTree({
  name,
  chain,
  calls,
  below,
}: {
  readonly name: string;
  readonly chain: readonly string[];
  readonly calls: number;
  readonly below: number;
}): string | undefined {
  if (chain.includes(name)) return `${name} is one of the callers, and would call itself.`;
  if (calls >= callsPerRun) return `A run calls at most ${callsPerRun} others.`;
  if (below >= calledRunsMax) return `At most ${calledRunsMax} runs are called below one.`;
  return undefined;
}
