import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';

/** The direction in which no byte passes; connections stay open, as in a real network partition. */
export type Cut = 'to-target' | 'from-target';

/** A way between two programs that a test can break. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<{ readonly near: Socket; readonly far: Socket }>();
  readonly #cuts = new Set<Cut>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server);
    server.on('connection', (near) => proxy.#join(near, connect(target)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy is closed');
    return address.port;
  }

  cut(...ways: readonly Cut[]): void {
    for (const way of ways) this.#cuts.add(way);
    for (const pair of this.#pairs) this.#apply(pair);
  }

  heal(): void {
    this.#cuts.clear();
    for (const pair of this.#pairs) this.#apply(pair);
  }

  async close(): Promise<void> {
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, far: Socket): void {
    const pair = { near, far };
    this.#pairs.add(pair);
    const part = () => {
      near.destroy();
      far.destroy();
      this.#pairs.delete(pair);
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk) => to.write(chunk));
      from.on('end', () => to.end());
      from.on('error', part);
      from.on('close', part);
    }
    this.#apply(pair);
  }

  /** Unread bytes queue in the kernel and arrive after `heal`, as on a real network. */
  #apply({ near, far }: { readonly near: Socket; readonly far: Socket }): void {
    if (this.#cuts.has('to-target')) near.pause();
    else near.resume();
    if (this.#cuts.has('from-target')) far.pause();
    else far.resume();
  }
}
