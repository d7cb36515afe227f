import { type McpServers, readMcpServers } from '../../agents/mcp-servers.ts';
import {
  type ProcessSettings,
  commandProblems,
  processSettings,
} from '../../agents/process-settings.ts';
import { matchesGlob } from '../../domain/agent.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { AgentProblem, DeclaredAgent, ReadSettings } from '../../ports/harness.ts';

/** What a tool call of an ACP agent is said to be. The protocol has no names of tools that clients could rely on. */
const toolKinds = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const;

export interface AcpSettings extends ProcessSettings {
  readonly instructions: string;
  /** Kinds of tool calls that may be used at all. */
  readonly tools: readonly string[];
  readonly mcpServers: McpServers;
  /** Whether there is somebody to ask. */
  readonly asksUser: boolean;
  readonly authMethod: string | undefined;
  /** One of the modes that the agent itself offers. */
  readonly agentMode: string | undefined;
  /** What the agent takes beyond the protocol when a session is opened (`_meta`), in its own words. */
  readonly meta: JsonObject | undefined;
}

export function readAcp(agent: DeclaredAgent): ReadSettings<AcpSettings> {
  const { declared, approvalRequiredTools } = agent;
  const { instructions = '', tools, asksUser, acp } = declared;
  const mcp = readMcpServers(declared.mcpServers);
  const problems = [
    ...commandProblems(declared),
    ...mcp.problems,
    // A word that no call can match would leave open what it was meant to close.
    ...unknownKinds(approvalRequiredTools, 'approval_required_tools'),
    ...unknownKinds(tools, 'tools'),
  ];
  if (problems.length > 0) return { ok: false, problems };
  const settings: AcpSettings = {
    ...processSettings(declared),
    instructions,
    tools,
    mcpServers: mcp.servers,
    asksUser,
    authMethod: acp.authMethod,
    agentMode: acp.mode,
    meta: acp.meta,
  };
  return { ok: true, settings };
}

function unknownKinds(globs: readonly string[], key: string): readonly AgentProblem[] {
  return globs.flatMap((glob, index) =>
    toolKinds.some((kind) => matchesGlob(glob, kind))
      ? []
      : [
          {
            path: [key, index],
            message: `names no kind of tool call; ACP has ${toolKinds.join(', ')}, and * is all`,
          },
        ],
  );
}
