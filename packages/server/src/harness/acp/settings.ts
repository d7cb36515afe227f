import { type McpServers, readMcpServers } from '../../agents/mcp-servers.ts';
import {
  type ProcessSettings,
  commandProblems,
  processSettings,
} from '../../agents/process-settings.ts';
import { matchesGlob } from '../../domain/rules/glob.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { AgentProblem, DeclaredAgent, ReadSettings } from '../../ports/harness.ts';

/** Kinds of tool calls in the protocol, used as tool names: it has no reliable names of tools. */
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
  /** Kinds of tool calls that the agent may make. */
  readonly tools: readonly string[];
  readonly mcpServers: McpServers;
  /** Whether a person can be asked. */
  readonly asksUser: boolean;
  readonly authMethod: string | undefined;
  /** One of the modes that the agent itself offers. */
  readonly agentMode: string | undefined;
  /** Agent-specific parameters for opening a session (`_meta`). */
  readonly meta: JsonObject | undefined;
}

export function readAcp(agent: DeclaredAgent): ReadSettings<AcpSettings> {
  const { declared, approvalRequiredTools } = agent;
  const { instructions = '', tools, asksUser, acp } = declared;
  const mcp = readMcpServers(declared.mcpServers);
  const problems = [
    ...commandProblems(declared),
    ...mcp.problems,
    // A glob that matches no kind would have no effect, and leave calls without the approval it was meant for.
    ...unknownKinds(approvalRequiredTools, ['approval_required_tools']),
    ...unknownKinds(tools, ['tools']),
    ...agent.rules.flatMap((rule, at) => unknownKinds(rule.tools, ['rules', at, 'tools'])),
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

function unknownKinds(
  globs: readonly string[],
  place: AgentProblem['path'],
): readonly AgentProblem[] {
  return globs.flatMap((glob, index) =>
    toolKinds.some((kind) => matchesGlob(glob, kind))
      ? []
      : [
          {
            path: [...place, index],
            message: `matches no kind of tool call; the kinds of ACP are ${toolKinds.join(', ')}, and * matches all`,
          },
        ],
  );
}
