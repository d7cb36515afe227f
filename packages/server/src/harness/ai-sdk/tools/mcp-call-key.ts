import { AsyncLocalStorage } from 'node:async_hooks';
import type { JSONRPCMessage } from '@ai-sdk/mcp';
import { z } from 'zod';

/**
 * D-82: every tool call carries a key in its `_meta`, the same in every attempt, so that a server can recognize a
 * repetition. The MCP client has no parameter for `_meta`, so the transports add it to the message on its way out.
 */
const keyName = 'convoke/idempotency_key';

const keyOfCall = new AsyncLocalStorage<string>();

/** Messages sent while `work` executes carry this key. */
export function underCallKey<T>(key: string, work: () => Promise<T>): Promise<T> {
  return keyOfCall.run(key, work);
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
  if (keyOfCall.getStore() === undefined || typeof init?.body !== 'string') {
    return fetch(input, init);
  }
  return fetch(input, { ...init, body: JSON.stringify(keyed(JSON.parse(init.body))) });
};

function keyed(message: unknown): unknown {
  const key = keyOfCall.getStore();
  const call = toolCall.safeParse(message);
  if (key === undefined || !call.success) return message;
  const { params } = call.data;
  return { ...call.data, params: { ...params, _meta: { ...params._meta, [keyName]: key } } };
}
