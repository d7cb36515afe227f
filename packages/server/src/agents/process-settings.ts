import type { AgentProblem, FrameworkKeys } from '../ports/harness.ts';

/** Keys of `agent.yaml` about the program that is the agent, for frameworks that start one. */
export type ProcessSettings = Pick<FrameworkKeys, 'command' | 'env' | 'sandbox' | 'limits'>;

export function processSettings(declared: FrameworkKeys): ProcessSettings {
  const { command, env, sandbox, limits } = declared;
  return { command, env, sandbox, limits };
}

export function commandProblems({ command }: FrameworkKeys): readonly AgentProblem[] {
  if (command.length > 0) return [];
  const message = `is missing: name the program to run, as in [./agent.sh] for one in the agent's folder`;
  return [{ path: ['command'], message }];
}
