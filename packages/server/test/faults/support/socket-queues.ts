import { readFileSync } from 'node:fs';

const established = '01';

/**
 * Of every open connection to a local port, how many bytes the server has handed to the system that the
 * other side has not taken yet.
 */
export function unsentBytes(port: number): number[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(`:${hexPort}`) && state === established)
    .map(([, , , , queues = '0']) => Number.parseInt(queues.split(':')[0] ?? '0', 16));
}
