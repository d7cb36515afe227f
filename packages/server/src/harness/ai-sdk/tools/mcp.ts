import { type CallToolResult, type MCPClient, createMCPClient } from '@ai-sdk/mcp';
import { jsonSchema } from 'ai';
import { z } from 'zod';
import type { McpServer } from '../../../agents/mcp-servers.ts';
import { type SandboxedProcess, SandboxUnavailable } from '../../../ports/sandbox.ts';
import { type AgentTool, type ToolOutput, failed, shortened, succeeded } from './agent-tool.ts';
import { SandboxedTransport } from './mcp-transport.ts';

const connectMs = 60_000;
const callMs = 10 * 60_000;
const toolsMax = 512;
const pagesMax = 32;
const reasonCharsMax = 500;

/** An MCP server that an agent names, its references already resolved. */
export interface McpTarget {
  readonly name: string;
  readonly server: McpServer;
  /** Starts a local one in the sandbox. */
  spawn(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<SandboxedProcess>;
}

export interface McpConnection {
  readonly tools: readonly AgentTool[];
  close(): Promise<void>;
}

/** Says which server it is and what is wrong with it; whoever started the run may read it. */
export class McpUnavailable extends Error {
  override readonly name = 'McpUnavailable';
}

export async function connectMcp(target: McpTarget, signal: AbortSignal): Promise<McpConnection> {
  const { name, server } = target;
  const local =
    'url' in server
      ? undefined
      : new SandboxedTransport(() => target.spawn([server.command, ...server.args], server.env));
  try {
    const client = await createMCPClient({
      transport: local ?? remoteTransport(server),
      initializationOptions: { signal, timeout: connectMs },
      clientName: 'convoke',
      // A call that is sent again may be carried out again; one allow is for one call.
      maxRetries: 0,
      // A server may fail between calls; the next call says so.
      onUncaughtError: () => undefined,
    });
    return { tools: await toolsOf(name, client, signal), close: () => client.close() };
  } catch (error) {
    await local?.close();
    if (error instanceof SandboxUnavailable) throw error;
    const reason = complaintIn(local?.errorOutput() ?? '') ?? messageOf(error);
    const message = `The MCP server ${name} is not available: ${reason.slice(0, reasonCharsMax)}`;
    throw new McpUnavailable(message, { cause: error });
  }
}

/** Of what a program wrote before it died, the line that says why: mostly there are many more. */
function complaintIn(errorOutput: string): string | undefined {
  const lines = errorOutput.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /\berror|cannot|not found|denied/i.test(line)) ?? lines.at(-1);
}

function remoteTransport(server: McpServer) {
  if (!('url' in server)) throw new Error('not a remote server');
  const { type, url, headers } = server;
  return { type, url, headers, redirect: 'error' as const };
}

async function toolsOf(
  server: string,
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
    for (const { name, description, inputSchema } of listed.tools) {
      tools.push({
        name: `${server}/${name}`,
        wireName: wireNameOf(server, name),
        description: description ?? '',
        // The server checks what it is given; here only the model has to know the shape.
        inputSchema: jsonSchema({ ...inputSchema, properties: inputSchema.properties ?? {} }),
        run: (input, abort) => call({ client, name, input, signal: abort }),
      });
    }
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, toolsMax);
}

/** Providers take 64 of these characters, and two tools must not have one name: the catalogue sees to that. */
function wireNameOf(server: string, tool: string): string {
  return `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

const argumentsSchema = z.record(z.string(), z.unknown());

interface McpCall {
  readonly client: MCPClient;
  readonly name: string;
  readonly input: unknown;
  readonly signal: AbortSignal;
}

async function call({ client, name, input, signal }: McpCall): Promise<ToolOutput> {
  const parsed = argumentsSchema.safeParse(input);
  if (!parsed.success) return failed(`${name}: its input must be an object`);
  try {
    const options = { signal, timeout: callMs };
    return outputOf(await client.callTool({ name, arguments: parsed.data, options }));
  } catch (error) {
    return failed(`${name}: ${signal.aborted ? 'the run was cancelled' : messageOf(error)}`);
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
