// Clients of MCP that are not ours: the two packages of the protocol's maintainers, in both of its eras, over HTTP or
// as a test says.
import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** A form, or the link that the client offers to open. */
export interface ShownForm {
  readonly mode?: 'form' | 'url';
  readonly message: string;
  readonly url?: string;
  readonly requestedSchema: { readonly properties: Readonly<Record<string, unknown>> };
}

export interface Filled {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string>;
}

export interface CallResult {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, string>>;
  readonly isError?: boolean;
}

export interface Assistant {
  tools(): Promise<readonly OfferedTool[]>;
  call(name: string, given: Record<string, unknown>, options?: CallOptions): Promise<CallResult>;
  close(): Promise<void>;
}

interface OfferedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
}

/** What the user of a client does. */
export interface Filling {
  /** What the user fills in; without it the client has no forms. */
  readonly fill?: (form: ShownForm) => Filled | Promise<Filled>;
}

/** How clients of both eras reach their server, and what they say of the ways in which they can ask. */
export interface Reached<Connecting extends Filling> {
  readonly old: (connecting: Connecting) => Parameters<OldClient['connect']>[0];
  readonly new: (connecting: Connecting) => Parameters<NewClient['connect']>[0];
  readonly asks: (connecting: Connecting) => Partial<Record<'form' | 'url', Record<string, never>>>;
}

type Connect<Connecting> = (connecting: Connecting) => Promise<Assistant>;

const info = { name: 'test', version: '1' };
const callMs = 120_000;

function connectOld<Connecting extends Filling>(reached: Reached<Connecting>): Connect<Connecting> {
  return async (connecting) => {
    const { fill } = connecting;
    const client = new OldClient(info, { capabilities: capabilitiesOf(reached, connecting) });
    if (fill !== undefined) {
      client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
        ...(await fill(params as unknown as ShownForm)),
      }));
    }
    await client.connect(reached.old(connecting));
    return {
      tools: async () => (await client.listTools()).tools as never,
      call: async (name, given, options = {}) => {
        const limits = { timeout: callMs, resetTimeoutOnProgress: true };
        return (await client.callTool({ name, arguments: given }, undefined, {
          ...limits,
          ...options,
        })) as unknown as CallResult;
      },
      close: () => client.close(),
    };
  };
}

function connectNew<Connecting extends Filling>(
  reached: Reached<Connecting>,
  mode: 'legacy' | { readonly pin: string },
): Connect<Connecting> {
  return async (connecting) => {
    const { fill } = connecting;
    const client = new NewClient(info, {
      capabilities: capabilitiesOf(reached, connecting),
      versionNegotiation: { mode },
    });
    if (fill !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params }) => ({
        ...(await fill(params as unknown as ShownForm)),
      }));
    }
    await client.connect(reached.new(connecting));
    return {
      tools: async () => (await client.listTools()).tools as never,
      call: async (name, given, options = {}) =>
        (await client.callTool(
          { name, arguments: given },
          { timeout: callMs, ...options },
        )) as unknown as CallResult,
      close: () => client.close(),
    };
  };
}

function capabilitiesOf<Connecting extends Filling>(
  { asks }: Reached<Connecting>,
  connecting: Connecting,
) {
  return connecting.fill === undefined ? {} : { elicitation: asks(connecting) };
}

/** Assistants of both eras that reach their server in this way. */
export function assistantsOver<Connecting extends Filling>(
  reached: Reached<Connecting>,
): Readonly<Record<string, Connect<Connecting>>> {
  return {
    '@modelcontextprotocol/sdk 1.32': connectOld(reached),
    '@modelcontextprotocol/client 2.4 on 2025-11-25': connectNew(reached, 'legacy'),
    '@modelcontextprotocol/client 2.4 on 2026-07-28': connectNew(reached, { pin: '2026-07-28' }),
  };
}

export interface Connecting extends Filling {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** The ways in which the client can ask: forms where nothing else is said. */
  readonly modes?: readonly ('form' | 'url')[];
  readonly fetch?: typeof fetch;
}

function requestsOf({ headers, fetch: sent }: Connecting) {
  // A busy machine takes its time to start a server.
  const reconnectionOptions = {
    initialReconnectionDelay: 50,
    maxReconnectionDelay: 1000,
    reconnectionDelayGrowFactor: 1,
    maxRetries: 1000,
  };
  return { requestInit: { headers }, reconnectionOptions, ...(sent && { fetch: sent }) };
}

export const mcpClients = assistantsOver<Connecting>({
  old: (connecting) => new OldTransport(new URL(connecting.url), requestsOf(connecting)),
  new: (connecting) => new NewTransport(new URL(connecting.url), requestsOf(connecting)),
  asks: ({ modes = ['form'] }) => Object.fromEntries(modes.map((mode) => [mode, {}])),
});
