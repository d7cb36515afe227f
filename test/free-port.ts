import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root } from './repository.ts';

const lowestPort = 20_000;
const highestPort = 32_000;
/** A file for each port that a process was given, with the id of that process. */
const reservations = join(root, '.cache/test-ports');
const reserved = new Set<string>();

/**
 * A port that is free, and that no other process of the tests is given while this one lives: its server may stop and
 * start again. It is below the range that the system gives to outgoing connections. A port of that range may be taken
 * by any connection before a server listens on it, or be given to a client that reconnects to the server.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowestPort + Math.floor(Math.random() * (highestPort - lowestPort));
    if (!reserve(port)) continue;
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

/** False where another process has the port. What a process left that was killed is taken away, for the next try. */
function reserve(port: number): boolean {
  const file = join(reservations, String(port));
  mkdirSync(reservations, { recursive: true });
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch {
    if (!isAlive(file)) rmSync(file, { force: true });
    return false;
  }
  if (reserved.size === 0) process.once('exit', giveBack);
  reserved.add(file);
  return true;
}

function isAlive(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}

function giveBack(): void {
  for (const file of reserved) rmSync(file, { force: true });
}
