import { randomUUID } from 'node:crypto';
import type { Json } from '@convoke/contract';
import type { OperationCall } from '../../support/checked-calls.ts';
import type { TestServer } from '../../support/server.ts';

interface Answer {
  readonly id: Json;
  readonly result?: { readonly [name: string]: Json };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: readonly { readonly reason: string; readonly domain: string }[];
  };
}

interface RawCall extends OperationCall {
  readonly agent?: string;
}

/** What is read of a task in version 1.0. */
export interface RawTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: {
    readonly state: string;
    readonly message?: { readonly parts: readonly { readonly data?: Record<string, Json> }[] };
  };
}

/** Calls of JSON-RPC to the agents of a server, as they are written. */
export class A2aCalls {
  readonly #server: TestServer;

  constructor(server: TestServer) {
    this.#server = server;
  }

  get place() {
    const { organization_id, tenant_id } = this.#server.quickstart;
    return { organization_id, tenant_id };
  }

  async post(body: unknown, { agent = 'echo', ...call }: RawCall = {}): Promise<Answer> {
    const headers = { 'a2a-version': '1.0', 'content-type': 'application/json', ...call.headers };
    const params = { ...this.place, agent_name: agent, ...call.params };
    const sent = { ...call, params, headers, body };
    const { text } = await this.#server.send('call_published_agent', sent);
    return JSON.parse(text) as Answer;
  }

  call(method: string, params?: unknown, more: RawCall = {}): Promise<Answer> {
    return this.post({ jsonrpc: '2.0', id: 7, method, params }, more);
  }

  /** The task that a message begins or answers. */
  async task(params: object, more: RawCall = {}): Promise<RawTask> {
    const { result, error } = await this.call('SendMessage', params, more);
    if (result === undefined) throw new Error(`no task: ${error?.message}`);
    return result['task'] as unknown as RawTask;
  }
}

export const said = (text: string, more: object = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
});
