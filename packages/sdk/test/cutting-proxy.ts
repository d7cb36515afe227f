import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export interface CuttingProxy extends AsyncDisposable {
  readonly baseUrl: string;
  /** Connections cut so far. */
  readonly cuts: number;
}

/**
 * A proxy that cuts connections of a server after so many bytes of answers, wherever that is: in a head, in a
 * body, in a frame, in a character. `nextCut` says after how many; undefined spares the connection.
 */
export async function startCuttingProxy(
  upstream: string,
  nextCut: () => number | undefined,
): Promise<CuttingProxy> {
  const { hostname, port } = new URL(upstream);
  const sockets = new Set<Socket>();
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let left = nextCut();
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        end();
      });
      socket.on('error', end);
    }
    near.pipe(far);
    far.on('data', (bytes) => {
      if (left === undefined) return void near.write(bytes);
      const passed = bytes.subarray(0, left);
      left -= passed.length;
      near.write(passed, () => {
        if (left !== 0 || near.destroyed) return;
        cuts += 1;
        end();
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Chance that can be had again: a linear congruential generator, from 0 to 1. */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
