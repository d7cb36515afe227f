import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { programPath } from '../../../../test/bundled-programs.ts';
import { compileCache } from '../../../../test/compile-cache.ts';
import type { Quickstart } from '../../src/quickstart.ts';
import type { Death } from './mortal-server.ts';

/** A process with a server that kills itself on demand. It is started again with the same settings. */
export class MortalProcess {
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(settings: Readonly<Record<string, string>>) {
    this.#settings = settings;
  }

  /** The `base_url` is the address of this start. */
  async start(): Promise<Quickstart> {
    const child = fork(programPath('mortal-server'), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: {
        PATH: process.env['PATH'],
        ...compileCache,
        // Tokens name this address; each start listens on another port.
        CONVOKE_BASE_URL: 'http://convoke.test',
        CONVOKE_LOG_LEVEL: 'silent',
        ...this.#settings,
      },
    });
    this.#child = child;
    const ended = once(child, 'exit');
    this.#ended = ended;
    const failed = ended.then(() => Promise.reject(new Error('the server did not start')));
    // After the start its end is what the test waits for.
    failed.catch(() => {});
    const [quickstart] = (await Promise.race([once(child, 'message'), failed])) as [Quickstart];
    return quickstart;
  }

  /** Resolves when the process has died. */
  async dieAt(death: Death): Promise<void> {
    const ended = this.#ended;
    this.#child?.send(death);
    await ended;
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }
}
