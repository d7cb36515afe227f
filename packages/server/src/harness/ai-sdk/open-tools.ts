import type { LanguageModel } from 'ai';
import type { McpServer } from '../../agents/mcp-servers.ts';
import { NameLookup } from '../../egress/name-lookup.ts';
import type { LegContext, LegEnd } from '../../ports/harness.ts';
import { NotConnected } from '../../ports/connections/leg-connections.ts';
import { SandboxUnavailable } from '../../ports/sandbox.ts';
import { systemClock } from '../../runtime/clock.ts';
import { failure } from './failure.ts';
import type { LegParts } from './parts.ts';
import { openModel } from './provider.ts';
import { type References, Unresolved } from './references.ts';
import { type AiSdkSettings, isAllowedTool } from './settings.ts';
import { systemPrompt } from './system-prompt.ts';
import type { AgentTool } from './tools/agent-tool.ts';
import { callTools } from './tools/called-agents.ts';
import { type Catalogue, catalogueOf } from './tools/catalogue.ts';
import { fetchUrlTool } from './tools/fetch-url.ts';
import { fileTools } from './tools/file-tools.ts';
import type { McpAccount } from './tools/mcp-account.ts';
import { type McpConnection, McpUnavailable, connectMcp } from './tools/mcp.ts';
import { type CommandPlace, runCommandTool } from './tools/run-command.ts';
import { sleepTool } from './tools/sleep.ts';
import { submitTool } from './tools/submit-output.ts';
import type { WaitTool } from './tools/wait-tool.ts';

/** The model, system prompt and tools of one leg. */
export interface ToolSet {
  readonly settings: AiSdkSettings;
  readonly model: LanguageModel;
  readonly system: string;
  readonly catalogue: Catalogue;
  readonly signal: AbortSignal;
  readonly limits: { readonly retries: number; readonly silenceMs: number };
  readonly isYielding: () => boolean;
  /** MCP servers that offer no tools. */
  readonly serversWithoutTools: readonly string[];
  /** Removes every secret of the leg from a text. */
  redact(text: string): string;
  close(): Promise<void>;
}

const defaultRetries = 2;
/** Reasoning models may take minutes before the first word. */
const defaultSilenceMs = 5 * 60_000;

/** Opens the model and the tools of a leg; an end with the reason when that fails. */
export async function openTools(
  context: LegContext<AiSdkSettings>,
  parts: LegParts,
): Promise<ToolSet | LegEnd> {
  const { settings, signal } = context;
  const { references } = parts;
  const connections: McpConnection[] = [];
  const close = async () => {
    await Promise.all(connections.map((connection) => connection.close()));
  };
  try {
    const env = await references.resolve(`the agent's env`, settings.env);
    const model = await openModel(settings, env);
    const place = placeOf(context);
    const sources = { parts, settings, place, signal, references };
    await connectAll(sources, connections);
    const tools = [
      ...bundledTools(sources),
      ...connections.flatMap((connection) => connection.tools),
    ]
      .filter(({ name }) => isAllowedTool(settings, name))
      .map((tool) => withoutSecrets(tool, references));
    const names = new Set(tools.map(({ name }) => name));
    const { retries = defaultRetries, silenceMs = defaultSilenceMs } = parts;
    return {
      settings,
      model,
      system: systemPrompt(context, names),
      catalogue: catalogueOf(tools, {
        asksUser: settings.asksUser,
        waits: waitTools(context),
        submit: submitTool(context.agent),
      }),
      signal,
      limits: { retries, silenceMs },
      isYielding: parts.isYielding,
      serversWithoutTools: connections.filter(({ hasTools }) => !hasTools).map(({ name }) => name),
      redact: (text) => references.redact(text),
      close,
    };
  } catch (error) {
    await close();
    if (signal.aborted) return { type: 'end', outcome: 'cancelled' };
    if (error instanceof SandboxUnavailable) return failure('sandbox_unavailable', error.message);
    if (error instanceof NotConnected) return failure('connection_missing', error.message);
    if (error instanceof McpUnavailable || error instanceof Unresolved)
      return failure('agent_error', references.redact(error.message));
    throw error;
  }
}

/** With them a call of the model becomes a wait of the run. */
function waitTools({ called = [], settings }: LegContext<AiSdkSettings>): readonly WaitTool[] {
  return [...callTools(called), ...(settings.sleeps === true ? [sleepTool(systemClock)] : [])];
}

interface ToolSources {
  readonly parts: LegParts;
  readonly settings: AiSdkSettings;
  readonly place: CommandPlace;
  readonly signal: AbortSignal;
  readonly references: References;
}

function placeOf(context: LegContext<AiSdkSettings>): CommandPlace {
  const { agent, settings, sessionFolder, stateDir } = context;
  return {
    ...settings.sandbox,
    sessionFolder,
    home: stateDir,
    folder: agent.folder,
    limits: settings.limits,
  };
}

function bundledTools({ parts, settings, place }: ToolSources): readonly AgentTool[] {
  const { network } = settings.sandbox;
  return [
    ...fileTools(place.sessionFolder),
    runCommandTool(parts.processes, place),
    // Without a host in sandbox.network there is nothing to fetch.
    ...(network.length > 0
      ? [fetchUrlTool(network, new NameLookup({ clock: systemClock }).resolve)]
      : []),
  ];
}

/** Connects to the MCP servers; a server without an allowed tool is not started. */
async function connectAll(sources: ToolSources, connections: McpConnection[]): Promise<void> {
  const { parts, settings, place, signal, references } = sources;
  const wanted = Object.entries(settings.mcpServers).filter(([name]) => mayUseSome(settings, name));
  const results = await Promise.allSettled(
    wanted.map(async ([name, server]) => {
      const account = accountOf(server, references);
      if (account === 'missing') return undefined;
      const resolved = await resolveServer(name, server, references);
      const spawn = (command: readonly string[], env: Readonly<Record<string, string>>) =>
        parts.processes.spawn(command, { ...place, env });
      return connectMcp({ name, server: resolved, account, spawn }, signal);
    }),
  );
  for (const result of results) {
    if (result.status === 'fulfilled' && result.value !== undefined) connections.push(result.value);
  }
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** A server whose account is missing, and need not be there, is not offered (D-596). */
function accountOf(server: McpServer, references: References): McpAccount | undefined | 'missing' {
  if (!('url' in server) || server.connection === undefined) return undefined;
  const { connections } = references;
  const { connection: service } = server;
  if (connections?.atStart(service) === undefined) return 'missing';
  return { service, connections, onSecret: (secret) => references.add(secret) };
}

/** Whether some `server/tool` could match, decided by the part of each glob before its first star. */
function mayUseSome({ tools }: AiSdkSettings, server: string): boolean {
  return tools.some((glob) => {
    const [head = ''] = glob.split('*');
    return glob === head ? glob.startsWith(`${server}/`) : prefixesMeet(head, `${server}/`);
  });
}

function prefixesMeet(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}

/** Resolves the references of one MCP server; the values reach that server only. */
async function resolveServer(
  name: string,
  server: McpServer,
  references: References,
): Promise<McpServer> {
  const where = `mcp_servers.${name}`;
  return 'url' in server
    ? { ...server, headers: await references.resolve(where, server.headers) }
    : { ...server, env: await references.resolve(where, server.env) };
}

/** An MCP server may print its secret; this keeps it from the model and from the events. */
function withoutSecrets(tool: AgentTool, references: References): AgentTool {
  return {
    ...tool,
    async run(input, use) {
      const { ok, text } = await tool.run(input, use);
      return { ok, text: references.redact(text) };
    },
  };
}
