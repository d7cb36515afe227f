import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '../../support/eventually.ts';
import { endingWithThis } from './process-tree.ts';
import { freePort } from '../../../../../test/free-port.ts';

/** A NATS of the test's own, to be stopped and started at will, always on the same port. */
export class NatsServer {
  readonly url: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `nats://127.0.0.1:${port}`;
  }

  static async open(): Promise<NatsServer> {
    const server = new NatsServer(await freePort());
    await server.start();
    return server;
  }

  /** Returns when it takes connections. */
  async start(): Promise<void> {
    const words = ['-a', '127.0.0.1', '-p', String(this.#port)];
    const process = spawn(...endingWithThis('nats-server', words), {
      env: { ...globalThis.process.env, PATH: `${globalThis.process.env['PATH']}:/usr/sbin` },
      stdio: 'ignore',
    });
    this.#process = process;
    await until(() => this.#answers(), { what: 'answer from nats-server' });
  }

  async stop(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined) return;
    const ended = once(process, 'close');
    process.kill('SIGKILL');
    await ended;
  }

  #answers(): Promise<boolean> {
    const socket = connect(this.#port, '127.0.0.1');
    return new Promise((resolve) => {
      const settle = (isUp: boolean) => {
        socket.destroy();
        resolve(isUp);
      };
      socket.once('connect', () => settle(true));
      socket.once('error', () => settle(false));
    });
  }
}
