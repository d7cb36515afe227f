import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../json.ts';
import type { StepCall } from '../steps.ts';

/** Pauses before a request is sent again, if the provider says that it may be. Only before text was emitted. */
const retryPausesMs = [1000, 4000];

/** Retries a request within its step, so that a replay does not wait again (D-360). */
export async function withRetries<T>({ signal }: StepCall, ask: () => Promise<T>): Promise<T> {
  for (const ms of retryPausesMs) {
    try {
      return await ask();
    } catch (error) {
      if ((error as { isRetryable?: unknown }).isRetryable !== true) throw error;
      await pause(ms, undefined, { signal });
    }
  }
  return ask();
}

/**
 * Returns the value as plain JSON: a date becomes a string, bytes become base64, which models accept. Returns undefined
 * for values that JSON does not have, such as the result of a tool that returns nothing.
 */
export function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, member: unknown) =>
    member instanceof Uint8Array ? Buffer.from(member).toString('base64') : member,
  ) as string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

export function revived<T extends JsonObject>(part: T): T {
  const { timestamp } = part;
  return typeof timestamp === 'string' ? { ...part, timestamp: new Date(timestamp) } : part;
}

export function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error(typeof error === 'string' ? error : JSON.stringify(error ?? 'unknown'));
}
