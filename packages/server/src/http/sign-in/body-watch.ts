import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../ports/clock.ts';

/** No form of the sign-in pages takes longer, even over the slowest connection. */
const silentMs = 30_000;
const wholeMs = 60_000;
const checkMs = 5_000;

/**
 * Closes the connection of a request whose body stays silent for 30 s or is not complete after a minute. The identity
 * provider reads bodies itself, without such a bound, so a caller could hold connections for as long as it likes.
 */
export function watchBody(message: IncomingMessage, clock: Clock): void {
  const { socket } = message;
  const startedAt = clock.now();
  let [bytesSeen, changedAt] = [socket.bytesRead, startedAt];

  function check(): void {
    if (message.complete) return;
    const now = clock.now();
    if (socket.bytesRead !== bytesSeen) [bytesSeen, changedAt] = [socket.bytesRead, now];
    const isLate = now - changedAt >= silentMs || now - startedAt >= wholeMs;
    if (isLate) socket.destroy();
    else cancel = clock.after(checkMs, check);
  }
  let cancel = clock.after(checkMs, check);
  message.once('close', () => cancel());
}
