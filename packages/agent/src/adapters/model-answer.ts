import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../json.ts';
import type { StepCall } from '../steps.ts';

/** Requests that a provider asks to send again are, after these pauses; what has been said cannot be unsaid. */
const retryPausesMs = [1000, 4000];

/** Asks a model, inside of the step: a replay does not wait once more (D-360). */
export async function retried<T>({ signal }: StepCall, ask: () => Promise<T>): Promise<T> {
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
 * As JSON has it: a date becomes a text, bytes become base64, as which models take them, too. Undefined for what JSON does not
 * have, such as the result of a tool that returns nothing.
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
