import type { ServerResponse } from 'node:http';
import { limits } from '@convoke/contract';
import type { Clock } from '../../ports/clock.ts';

/** Sends a body as fast as its reader takes it, so that no more than a part of it waits in memory. */
export async function sendParts(
  response: ServerResponse,
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  clock: Clock,
): Promise<void> {
  for await (const part of parts) {
    if (response.destroyed) return;
    if (!response.write(part) && !(await drained(response, clock))) return;
  }
  response.end();
}

/** Waits until the reader has read its buffer (true) or left (false). Closes a reader that stalls too long (D-33). */
export function drained(response: ServerResponse, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isDrained: boolean) => {
      cancelStall();
      drains.off('drain', onDrain);
      response.off('close', onClose);
      resolve(isDrained);
    };
    // What was written past the response is drained by its socket, and so is what the response passed on to it.
    const drains = response.socket ?? response;
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    const cancelStall = clock.after(limits.streamStallMs, () => response.destroy());
    drains.once('drain', onDrain);
    response.once('close', onClose);
    if (response.destroyed) settle(false);
  });
}
