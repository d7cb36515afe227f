import {
  type CallToolResult,
  type MCPClient,
  type MCPClientConfig,
  createMCPClient,
} from '@ai-sdk/mcp';
import { type JSONSchema7, jsonSchema } from 'ai';
import { z } from 'zod';
import type { McpServer } from '../../../agents/mcp-servers.ts';
import { type SandboxedProcess, SandboxUnavailable } from '../../../ports/sandbox.ts';
import {
  type AgentTool,
  type ToolOutput,
  type ToolUse,
  failed,
  shortened,
  succeeded,
} from './agent-tool.ts';
import { type AuthorizedRequests, type McpAccount, requestsAs } from './mcp-account.ts';
import { fetchAnswers } from './mcp-answers.ts';
import { fetchWithCallKey, underCallMeta } from './mcp-call-key.ts';
import { SandboxedTransport } from './mcp-transport.ts';

const connectMs = 60_000;
const callMs = 10 * 60_000;
const toolsMax = 512;
const pagesMax = 32;
const reasonCharsMax = 500;

/** An MCP server of an agent, with its references resolved. */
export interface McpTarget {
  readonly name: string;
  readonly server: McpServer;
  /** Authorizes the requests to a remote server. */
  readonly account?: McpAccount | undefined;
  /** Starts a local server in the sandbox. */
  spawn(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<SandboxedProcess>;
}

export interface McpConnection {
  /** The name of the server. */
  readonly name: string;
  /** Whether the server says that it has tools. */
  readonly hasTools: boolean;
  readonly tools: readonly AgentTool[];
  close(): Promise<void>;
}

/** The message names the server and the problem, and may be shown to the caller. */
export class McpUnavailable extends Error {
  override readonly name = 'McpUnavailable';
}

export async function connectMcp(target: McpTarget, signal: AbortSignal): Promise<McpConnection> {
  const { name, server, account } = target;
  const requests = account && requestsAs(account, fetchWithCallKey);
  let local: SandboxedTransport | undefined;
  const open = (transport: MCPClientConfig['transport'], isLegacy: boolean) =>
    createMCPClient({
      transport,
      initializationOptions: { signal, timeout: connectMs },
      clientName: 'convoke',
      // A repeated call might be executed twice, and an approval is for one call.
      maxRetries: 0,
      // When a server fails between calls, the next call reports it.
      onUncaughtError: () => undefined,
      protocolVersionDiscovery: !isLegacy,
    });
  const connect = (isLegacy: boolean) => {
    if ('url' in server) return open(remoteTransport(server, requests), isLegacy);
    local = new SandboxedTransport(() =>
      target.spawn([server.command, ...server.args], server.env),
    );
    return open(local, isLegacy);
  };
  try {
    const client = await connect(false).catch((error: unknown) => {
      const era = eraAfter(error);
      if (era === undefined) throw error;
      return connect(era === 'legacy');
    });
    return await connectionOf({ ...target, requests }, client, signal);
  } catch (error) {
    await local?.close();
    if (error instanceof SandboxUnavailable) throw error;
    const problem = requests?.problem();
    if (problem !== undefined) throw problem;
    const reason = reasonIn(local?.errorOutput() ?? '') ?? messageOf(error);
    const message = `The MCP server ${name} is not available: ${reason.slice(0, reasonCharsMax)}`;
    throw new McpUnavailable(message, { cause: error });
  }
}

/** Picks the line of the error output that most likely gives the reason. */
function reasonIn(errorOutput: string): string | undefined {
  const lines = errorOutput.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /\berror|cannot|not found|denied/i.test(line)) ?? lines.at(-1);
}

function remoteTransport(
  { type, url, headers }: Extract<McpServer, { readonly url: string }>,
  requests: AuthorizedRequests | undefined,
) {
  const fetch = fetchAnswers(type, requests?.fetch ?? fetchWithCallKey);
  return { type, url, headers, redirect: 'error' as const, fetch };
}

const versionRefusal = z.looseObject({
  code: z.literal(-32_022),
  data: z.looseObject({ supported: z.array(z.string()) }),
});
/** The versions of the protocol in which a client introduces itself first; later ones have no such step. */
const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const modernVersion = '2026-07-28';

/** How to try again with a server that refused the version of the protocol and named those that it knows (D-486). */
function eraAfter(error: unknown): 'modern' | 'legacy' | undefined {
  const supported = versionRefusal.safeParse(error).data?.data.supported ?? [];
  if (supported.includes(modernVersion)) return 'modern';
  return supported.some((version) => legacyVersions.includes(version)) ? 'legacy' : undefined;
}

/** Tools are optional in the protocol: a server may offer something else only (D-486). */
interface ConnectedTarget extends McpTarget {
  readonly requests: AuthorizedRequests | undefined;
}

async function connectionOf(
  target: ConnectedTarget,
  client: MCPClient,
  signal: AbortSignal,
): Promise<McpConnection> {
  const hasTools = client.initializeResult.capabilities.tools !== undefined;
  try {
    const tools = hasTools ? await toolsOf(target, client, signal) : [];
    return { name: target.name, hasTools, tools, close: () => client.close() };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function toolsOf(
  { name: server, server: declared, requests }: ConnectedTarget,
  client: MCPClient,
  signal: AbortSignal,
): Promise<readonly AgentTool[]> {
  const tools: AgentTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax && tools.length < toolsMax; page += 1) {
    const listed = await client.listTools({
      ...(cursor !== undefined && { params: { cursor } }),
      options: { signal, timeout: connectMs },
    });
    for (const { name, description, inputSchema, annotations } of listed.tools) {
      tools.push({
        name: `${server}/${name}`,
        wireName: wireNameOf(server, name),
        description: description ?? '',
        inputSchema: jsonSchema(schemaForModel(inputSchema)),
        ...effectOf(declared, annotations),
        run: (input, use) => call({ client, name, input, requests, ...use }),
      });
    }
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, toolsMax);
}

/**
 * D-81: a program of ours can change the session folder, and both kinds the world outside. Annotations are hints that
 * any server can give, so they count only for servers that the agent's author trusts.
 */
function effectOf(
  server: McpServer,
  annotations: { readOnlyHint?: boolean | undefined; idempotentHint?: boolean | undefined } = {},
): Pick<AgentTool, 'touches' | 'isRepeatable'> {
  const { readOnlyHint = false, idempotentHint = false } =
    server.trust_annotations === true ? annotations : {};
  const touches = 'url' in server ? 'outside' : 'both';
  return {
    touches: readOnlyHint ? 'none' : touches,
    isRepeatable: readOnlyHint || idempotentHint,
  };
}

/** The server validates the input itself; its schema, which nothing has checked, is for the model only. */
function schemaForModel(schema: { readonly properties?: unknown }): JSONSchema7 {
  return { ...schema, properties: schema.properties ?? {} } as JSONSchema7;
}

/** Providers accept 64 of these characters; the catalogue makes the names unique. */
function wireNameOf(server: string, tool: string): string {
  return `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

const argumentsSchema = z.record(z.string(), z.unknown());

interface McpCall extends ToolUse {
  readonly client: MCPClient;
  readonly requests: AuthorizedRequests | undefined;
  readonly name: string;
  readonly input: unknown;
}

async function call({
  client,
  requests,
  name,
  input,
  signal,
  key,
  traceparent,
}: McpCall): Promise<ToolOutput> {
  const parsed = argumentsSchema.safeParse(input);
  if (!parsed.success) return failed(`${name}: the input must be an object`);
  try {
    const options = { signal, timeout: callMs };
    const request = { name, arguments: parsed.data, options };
    return outputOf(await underCallMeta({ key, traceparent }, () => client.callTool(request)));
  } catch (error) {
    return failed(
      `${name}: ${signal.aborted ? 'the run was cancelled' : messageOf(requests?.problem() ?? error)}`,
    );
  }
}

const resultSchema = z.looseObject({
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
  content: z
    .array(
      z.looseObject({
        type: z.string(),
        text: z.string().optional(),
        mimeType: z.string().optional(),
        uri: z.string().optional(),
        resource: z.looseObject({ text: z.string().optional(), uri: z.string() }).optional(),
      }),
    )
    .default([]),
});

function outputOf(result: CallToolResult): ToolOutput {
  const { isError = false, content, structuredContent } = resultSchema.parse(result);
  const parts = content.map(({ type, text, mimeType, uri, resource }) => {
    const place = uri ?? resource?.uri;
    const about = [type, mimeType, place].filter((part) => part !== undefined).join(' ');
    return text ?? resource?.text ?? `(${about})`;
  });
  if (parts.length === 0 && structuredContent !== undefined)
    parts.push(JSON.stringify(structuredContent));
  const text = shortened(parts.join('\n') || '(no output)');
  return isError ? failed(text) : succeeded(text);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'it failed';
}
