import { z } from 'zod';
import { type McpServers, mcpServer } from '../../agents/mcp-servers.ts';
import { problemsOf } from '../../agents/problems.ts';
import { type ProcessSettings, processSettings } from '../../agents/process-settings.ts';
import type { Agent } from '../../domain/agent.ts';
import type { AgentProblem } from '../../ports/harness.ts';

/** The shape is the one `agent-schema.ts` gave it; what is absent was made by hand. */
const settingsSchema = z.looseObject({
  instructions: z.string().default(''),
  tools: z.array(z.string()).default(['*']),
  mcp_servers: z.record(z.string(), mcpServer).default({}),
  ask_user: z.boolean().default(true),
  limits: z.looseObject({ max_steps: z.number().default(25) }).prefault({}),
});

export interface ClaudeSettings extends Omit<ProcessSettings, 'command'> {
  readonly instructions: string;
  readonly tools: readonly string[];
  readonly mcpServers: McpServers;
  readonly asksUser: boolean;
  readonly stepsMax: number;
}

/** What is wrong with a Claude agent, for the registry to report when it reads the folder. */
export function checkClaude(agent: Agent): readonly AgentProblem[] {
  const { env } = processSettings(agent);
  const hasKey = Object.keys(env).some((name) => /^(ANTHROPIC|CLAUDE_CODE_USE)_/.test(name));
  const message = 'must give Claude its key: ANTHROPIC_API_KEY: "${env:ANTHROPIC_API_KEY}"';
  const parsed = settingsSchema.safeParse(agent.settings);
  return [
    ...(hasKey ? [] : [{ path: ['env'], message }]),
    ...(parsed.success ? [] : problemsOf(parsed.error, settingsSchema)),
  ];
}

/** The settings of an agent that the registry accepted. */
export function settingsOf(agent: Agent): ClaudeSettings {
  const { instructions, tools, mcp_servers, ask_user, limits } = settingsSchema.parse(
    agent.settings,
  );
  return {
    ...processSettings(agent),
    instructions,
    tools,
    mcpServers: mcp_servers,
    asksUser: ask_user,
    stepsMax: limits.max_steps,
  };
}

/** `server/tool`, as an `agent.yaml` names the tools of MCP servers; Claude has its own way to write that. */
export function toolNameOf(claudeName: string): string {
  return claudeName.replace(/^mcp__(.+?)__/, '$1/');
}
