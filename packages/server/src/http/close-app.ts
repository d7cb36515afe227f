import type { FastifyInstance } from 'fastify';
import type { Clock } from '../ports/clock.ts';

/** Time that open requests have to end. */
const requestGraceMs = 5_000;

/** Accepts no connection, waits for open requests, and drops those that do not end in time. */
export async function closeApp(app: FastifyInstance, clock: Clock): Promise<void> {
  const cancelTimer = clock.after(requestGraceMs, () => app.server.closeAllConnections());
  await app.close();
  cancelTimer();
}
