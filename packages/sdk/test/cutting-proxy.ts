import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export interface CuttingProxy extends AsyncDisposable {
  readonly baseUrl: string;
  /** Connections cut so far. */
  readonly cuts: number;
}

/**
 * A proxy that cuts connections of a server after so many bytes of answers, wherever that is: in a head, in a
 * body, in a frame, in a character. `nextCut` says after how many, from the first bytes of the first request; undefined
 * spares the connection, and a text is the answer, so that the server never sees the request.
 */
export async function startCuttingProxy(
  upstream: string,
  nextCut: (request: string) => number | string | undefined,
): Promise<CuttingProxy> {
  const { hostname, port } = new URL(upstream);
  const sockets = new Set<Socket>();
  let cuts = 0;
  const forward = (near: Socket, first: Buffer, cut: number | undefined) => {
    const far = connect(Number(port), hostname);
    let left = cut;
    const end = () => {
      near.destroy();
      far.destroy();
    };
    sockets.add(far);
    for (const socket of [near, far]) socket.once('close', end);
    far.once('close', () => sockets.delete(far));
    far.on('error', end);
    far.write(first);
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
  };
  const server = createServer((near) => {
    sockets.add(near);
    near.once('close', () => sockets.delete(near));
    near.on('error', () => near.destroy());
    near.once('data', (first) => {
      near.pause();
      const fault = nextCut(first.toString('latin1'));
      if (typeof fault !== 'string') return forward(near, first, fault);
      cuts += 1;
      near.end(fault);
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
