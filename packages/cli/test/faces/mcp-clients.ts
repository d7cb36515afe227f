// Clients of `convoke mcp` that are not ours: the two packages of the protocol's maintainers, in both of its eras.
import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** A form that the client shows to its user. */
export interface ShownForm {
  readonly message: string;
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
  tools(): Promise<
    readonly {
      readonly name: string;
      readonly description?: string;
      readonly inputSchema?: unknown;
      readonly outputSchema?: unknown;
    }[]
  >;
  call(name: string, given: Record<string, unknown>, options?: CallOptions): Promise<CallResult>;
  close(): Promise<void>;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
}

export interface Program {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

export interface Connecting {
  /** What the user fills in; without it the client has no forms. */
  readonly fill?: (form: ShownForm) => Filled | Promise<Filled>;
}

type Connect = (program: Program, connecting: Connecting) => Promise<Assistant>;

const info = { name: 'test', version: '1' };
const callMs = 120_000;

const connectOld: Connect = async (program, { fill }) => {
  const capabilities = fill === undefined ? {} : { elicitation: {} };
  const client = new OldClient(info, { capabilities });
  if (fill !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      ...(await fill(params as unknown as ShownForm)),
    }));
  }
  await client.connect(new OldTransport({ ...program, stderr: 'ignore' }));
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
  return async (program, { fill }) => {
    const client = new NewClient(info, {
      capabilities: fill === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode },
    });
    if (fill !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params }) => ({
        ...(await fill(params as unknown as ShownForm)),
      }));
    }
    await client.connect(new NewTransport({ ...program, stderr: 'ignore' }));
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
