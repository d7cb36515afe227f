import { createServer } from 'node:net';

const lowestPort = 20_000;
const highestPort = 32_000;

/**
 * A port that is free at this moment, below the range that the system gives to outgoing connections. A port of that
 * range may be taken by any connection before a server listens on it, or be given to a client that reconnects to the
 * server.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowestPort + Math.floor(Math.random() * (highestPort - lowestPort));
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen({ host: '127.0.0.1', port }, () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}
