import { AsyncLocalStorage } from 'node:async_hooks';
import type { JSONRPCMessage } from '@ai-sdk/mcp';
import { z } from 'zod';

/**
 * D-82: every tool call carries a key in its `_meta`, the same in every attempt, so that a server can recognize a
 * repetition. The MCP client has no parameter for `_meta`, so the transports add it to the message on its way out.
 */
const keyName = 'convoke/idempotency_key';

/** What a call carries: its key, and its span as the parent of the server's (D-588). */
export interface CallMeta {
  readonly key: string;
  readonly traceparent?: string | undefined;
}

const metaOfCall = new AsyncLocalStorage<CallMeta>();

/** Messages sent while `work` executes carry this. */
export function underCallMeta<T>(meta: CallMeta, work: () => Promise<T>): Promise<T> {
  return metaOfCall.run(meta, work);
}

const toolCall = z.looseObject({
  method: z.literal('tools/call'),
  params: z.looseObject({ _meta: z.looseObject({}).optional() }),
});

/** The message with the key of the call, if it is a tool call. */
export function withCallKey(message: JSONRPCMessage): unknown {
  return keyed(message);
}

/** `fetch` for remote servers. */
export const fetchWithCallKey: typeof fetch = (input, init) => {
  const meta = metaOfCall.getStore();
  if (meta === undefined || typeof init?.body !== 'string') return fetch(input, init);
  const headers = new Headers(init.headers);
  if (meta.traceparent !== undefined) headers.set('traceparent', meta.traceparent);
  return fetch(input, { ...init, headers, body: JSON.stringify(keyed(JSON.parse(init.body))) });
};

function keyed(message: unknown): unknown {
  const meta = metaOfCall.getStore();
  const call = toolCall.safeParse(message);
  if (meta === undefined || !call.success) return message;
  const { params } = call.data;
  const { key, traceparent } = meta;
  const added = { [keyName]: key, ...(traceparent !== undefined && { traceparent }) };
  return { ...call.data, params: { ...params, _meta: { ...params._meta, ...added } } };
}
