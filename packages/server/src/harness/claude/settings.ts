import { type McpServers, readMcpServers } from '../../agents/mcp-servers.ts';
import { type ProcessSettings, processSettings } from '../../agents/process-settings.ts';
import type { DeclaredAgent, ReadSettings } from '../../ports/harness.ts';

export interface ClaudeSettings extends Omit<ProcessSettings, 'command'> {
  readonly instructions: string;
  readonly tools: readonly string[];
  readonly mcpServers: McpServers;
  readonly asksUser: boolean;
  readonly stepsMax: number;
}

export function readClaude({ declared }: DeclaredAgent): ReadSettings<ClaudeSettings> {
  const { env, instructions = '', tools, asksUser, stepsMax } = declared;
  const hasKey = Object.keys(env).some((name) => /^(ANTHROPIC|CLAUDE_CODE_USE)_/.test(name));
  const message = 'must contain the key of Claude: ANTHROPIC_API_KEY: "${env:ANTHROPIC_API_KEY}"';
  const mcp = readMcpServers(declared.mcpServers);
  const unclear = unclearNames(Object.keys(declared.mcpServers));
  const problems = [...(hasKey ? [] : [{ path: ['env'], message }]), ...mcp.problems, ...unclear];
  if (problems.length > 0) return { ok: false, problems };
  const { command: _, ...settings } = processSettings(declared);
  const mcpServers = mcp.servers;
  return {
    ok: true,
    settings: { ...settings, instructions, tools, mcpServers, asksUser, stepsMax },
  };
}

/** Claude joins the names of servers and tools with two underscores: rules would name other tools than are used. */
function unclearNames(servers: readonly string[]) {
  const message =
    'a name with "__", or with "_" at its end, cannot be told from the names of its tools';
  return servers
    .filter((name) => name.includes('__') || name.endsWith('_'))
    .map((name) => ({ path: ['mcp_servers', name], message }));
}

/** Converts Claude's name of an MCP tool, `mcp__server__tool`, into that of `agent.yaml`, `server/tool`. */
export function toolNameOf(claudeName: string): string {
  return claudeName.replace(/^mcp__(.+?)__/, '$1/');
}
