import { z } from 'zod';
import type { Agent } from '../domain/agent.ts';
import type { AgentProblem } from '../ports/harness.ts';
import type { ProcessLimits, SandboxMode } from '../ports/sandbox.ts';

/** What an `agent.yaml` says about the program that is the agent, for frameworks that start one. */
export interface ProcessSettings {
  readonly command: readonly string[];
  /** With references to secrets still in it. */
  readonly env: Readonly<Record<string, string>>;
  readonly mode: SandboxMode;
  readonly network: readonly string[];
  readonly limits: ProcessLimits;
}

/** The shape is the one `agent-schema.ts` gave it; what is absent was made by hand. */
const settingsSchema = z.looseObject({
  command: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  limits: z
    .looseObject({ memory_mb: z.number().default(1024), pids: z.number().default(128) })
    .prefault({}),
  sandbox: z
    .looseObject({
      mode: z.enum(['auto', 'bwrap', 'none']).default('auto'),
      network: z.array(z.string()).default([]),
    })
    .prefault({}),
});

export function processSettings(agent: Agent): ProcessSettings {
  const { command, env, limits, sandbox } = settingsSchema.parse(agent.settings);
  return {
    command,
    env,
    mode: sandbox.mode,
    network: sandbox.network,
    limits: { memoryMb: limits.memory_mb, pids: limits.pids },
  };
}

export function checkCommand(agent: Agent): readonly AgentProblem[] {
  if (processSettings(agent).command.length > 0) return [];
  const message = `is needed: the program to run, as in [./agent.sh] for one in the agent's folder`;
  return [{ path: ['command'], message }];
}
