import { z } from 'zod';
import { type McpServers, mcpServer } from '../../agents/mcp-servers.ts';
import { problemsOf } from '../../agents/problems.ts';
import {
  type ProcessSettings,
  checkCommand,
  processSettings,
} from '../../agents/process-settings.ts';
import { type Agent, matchesGlob } from '../../domain/agent.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { AgentProblem } from '../../ports/harness.ts';

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

/** The shape is the one `agent-schema.ts` gave it; what is absent was made by hand. */
const settingsSchema = z.looseObject({
  instructions: z.string().default(''),
  tools: z.array(z.string()).default(['*']),
  mcp_servers: z.record(z.string(), mcpServer).default({}),
  ask_user: z.boolean().default(true),
  acp: z
    .object({
      auth_method: z.string().optional(),
      mode: z.string().optional(),
      meta: z.record(z.string(), z.json()).optional(),
    })
    .prefault({}),
});

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

/** What is wrong with an ACP agent, for the registry to report when it reads the folder. */
export function checkAcp(agent: Agent): readonly AgentProblem[] {
  const parsed = settingsSchema.safeParse(agent.settings);
  return [
    ...checkCommand(agent),
    ...(parsed.success ? [] : problemsOf(parsed.error, settingsSchema)),
    // A word that no call can match would leave open what it was meant to close.
    ...unknownKinds(agent.approvalRequiredTools, 'approval_required_tools'),
    ...(parsed.success ? unknownKinds(parsed.data.tools, 'tools') : []),
  ];
}

/** The settings of an agent that the registry accepted. */
export function settingsOf(agent: Agent): AcpSettings {
  const { instructions, tools, mcp_servers, ask_user, acp } = settingsSchema.parse(agent.settings);
  return {
    ...processSettings(agent),
    instructions,
    tools,
    mcpServers: mcp_servers,
    asksUser: ask_user,
    authMethod: acp.auth_method,
    agentMode: acp.mode,
    meta: acp.meta,
  };
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
