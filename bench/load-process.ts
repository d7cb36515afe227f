import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { loadCore, pinned } from './cores.ts';
import type { FromLoad, ToLoad } from './load.ts';
import type { Figures, Scale, Scenario } from './scenario.ts';
import type { Server } from './server.ts';

const sliceMaxMs = 120_000;
const program = fileURLToPath(new URL('load.ts', import.meta.url));

/** The load generator, seen from the process that measures. */
export class LoadProcess {
  readonly #child: ChildProcess;

  constructor() {
    const [command, ...args] = pinned(loadCore, [process.execPath, program]);
    this.#child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  /** One slice, and what it cost the server in processor time per operation, unless the slice measures that. */
  async slice(
    { id, fresh }: Pick<Scenario, 'id' | 'fresh'>,
    server: Server,
    scale: Scale,
  ): Promise<Figures> {
    const before = await server.usage('usage');
    const address = await server.address();
    const figures = await this.#perform({ kind: 'slice', scenario: id, address, scale }, server);
    if (fresh === true) return figures;
    const after = await server.usage('usage');
    const cpuUs = (after.cpuUs - before.cpuUs) / (figures['operations'] ?? 1);
    return { cpuUs, ...figures };
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #perform(order: ToLoad, server: Server): Promise<Figures> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(deadline);
        this.#child.off('message', onMessage);
        this.#child.off('exit', onExit);
        end();
      };
      const send = (message: ToLoad) =>
        this.#child.send(message, (error) => {
          if (error !== null) settle(() => reject(error));
        });
      const deadline = setTimeout(
        () => settle(() => reject(new Error(`${server.name}: a slice took too long`))),
        sliceMaxMs,
      );
      const onExit = () => settle(() => reject(new Error('the load generator has ended')));
      const onMessage = (message: FromLoad) => {
        switch (message.kind) {
          case 'usage':
            return void server.usage(message.ask).then(
              (usage) => send({ kind: 'usage', usage }),
              (error: unknown) => settle(() => reject(error)),
            );
          case 'figures':
            return settle(() => resolve(message.figures));
          case 'failed':
            return settle(() => reject(new Error(`${server.name}: ${message.reason}`)));
          default:
            return message satisfies never;
        }
      };
      this.#child.on('message', onMessage);
      this.#child.on('exit', onExit);
      send(order);
    });
  }
}
