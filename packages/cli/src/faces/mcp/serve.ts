import { createInterface } from 'node:readline';
import { noteTerminal } from '../note-terminal.ts';
import { Bridge, type BridgeParts } from './bridge.ts';

/**
 * Passes messages between the client on standard input and output and the server, until the client closes them (D-216).
 */
export async function serveMcp(parts: Pick<BridgeParts, 'fetch' | 'url'>): Promise<void> {
  noteTerminal('an assistant');
  const bridge = new Bridge({
    ...parts,
    write: (line) => {
      process.stdout.write(`${line}\n`);
    },
  });
  const underWay = new Set<Promise<void>>();
  for await (const line of createInterface(process.stdin)) {
    const taken = bridge.take(line).finally(() => underWay.delete(taken));
    underWay.add(taken);
  }
  bridge.close();
  await Promise.all(underWay);
}
