import { setTimeout } from 'node:timers/promises';
import { ConnectionError, RateLimitError, ServerError } from '@convoke/sdk';

/** As long as following a run waits for a server: it covers a restart or a deployment. */
const patienceMs = 120_000;
const pauseMs = 1000;

/** A connection broke, or the server is away: the call may be repeated. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
}

/** Repeats a call that may be repeated while the server is away, so that an editor does not notice a restart. */
export async function patiently<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (signal?.aborted === true || !isAway(error) || performance.now() > until) throw error;
    }
    await setTimeout(pauseMs, undefined, signal && { signal });
  }
}

function isAway(error: unknown): boolean {
  return (
    error instanceof Interruption ||
    error instanceof ConnectionError ||
    error instanceof ServerError ||
    error instanceof RateLimitError
  );
}
