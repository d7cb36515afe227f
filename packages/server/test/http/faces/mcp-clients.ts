// Clients of MCP over HTTP that are not ours: the two packages of the protocol's maintainers, in both of its eras.
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
  tools(): Promise<readonly { readonly name: string; readonly description?: string }[]>;
  call(name: string, given: Record<string, unknown>, options?: CallOptions): Promise<CallResult>;
  close(): Promise<void>;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
}

export interface Connecting {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** What the user fills in; without it the client has no forms. */
  readonly fill?: (form: ShownForm) => Filled | Promise<Filled>;
  /** The ways in which the client can ask: forms where nothing else is said. */
  readonly modes?: readonly ('form' | 'url')[];
  readonly fetch?: typeof fetch;
}

type Connect = (connecting: Connecting) => Promise<Assistant>;

const info = { name: 'test', version: '1' };
const callMs = 120_000;
/** A busy machine takes its time to start a server. */
const reconnectionOptions = {
  initialReconnectionDelay: 50,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 1000,
};

function capabilitiesOf({ fill, modes = ['form'] }: Connecting) {
  if (fill === undefined) return {};
  return { elicitation: Object.fromEntries(modes.map((mode) => [mode, {}])) };
}

const connectOld: Connect = async (connecting) => {
  const { url, headers, fill } = connecting;
  const client = new OldClient(info, { capabilities: capabilitiesOf(connecting) });
  if (fill !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      ...(await fill(params as unknown as ShownForm)),
    }));
  }
  const transport = new OldTransport(new URL(url), {
    requestInit: { headers },
    reconnectionOptions,
    ...(connecting.fetch && { fetch: connecting.fetch }),
  });
  await client.connect(transport);
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

function connectNew(mode: 'legacy' | { readonly pin: string }): Connect {
  return async (connecting) => {
    const { url, headers, fill } = connecting;
    const client = new NewClient(info, {
      capabilities: capabilitiesOf(connecting),
      versionNegotiation: { mode },
    });
    if (fill !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params }) => ({
        ...(await fill(params as unknown as ShownForm)),
      }));
    }
    await client.connect(
      new NewTransport(new URL(url), {
        requestInit: { headers },
        reconnectionOptions,
        ...(connecting.fetch && { fetch: connecting.fetch }),
      }),
    );
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

export const mcpClients: Readonly<Record<string, Connect>> = {
  '@modelcontextprotocol/sdk 1.32': connectOld,
  '@modelcontextprotocol/client 2.4 on 2025-11-25': connectNew('legacy'),
  '@modelcontextprotocol/client 2.4 on 2026-07-28': connectNew({ pin: '2026-07-28' }),
};
