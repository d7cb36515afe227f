import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ProcessExit, SandboxedProcess } from '../../ports/sandbox.ts';
import { inBackground } from '../../runtime/in-background.ts';

/**
 * Claude's program, with the process interface of its SDK. The SDK needs the process at once, but the sandbox starts it
 * asynchronously: input written before that is buffered here.
 */
export class ClaudeProcess extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  killed = false;
  exitCode: number | null = null;
  readonly started: Promise<SandboxedProcess>;

  constructor(start: () => Promise<SandboxedProcess>) {
    super();
    // The SDK may have stopped listening by the time something fails, and an `error` without a listener ends the
    // server.
    for (const emitter of [this, this.stdin, this.stdout]) emitter.on('error', () => undefined);
    this.started = start();
    const fail = (error: unknown) => {
      this.exitCode = 1;
      this.stdout.end();
      this.emit('error', error);
    };
    inBackground(this.started.then((child) => this.#join(child), fail));
  }

  /** Called by the SDK. The leg kills a program that ignores the signal. */
  kill(signal: NodeJS.Signals = 'SIGTERM'): boolean {
    this.killed = true;
    this.started
      .then((child) => (signal === 'SIGKILL' ? child.kill() : child.terminate()))
      .catch(() => undefined);
    return true;
  }

  /** Kills the program; resolves when none of its processes runs. */
  async end(): Promise<void> {
    this.killed = true;
    const child = await this.started.catch(() => undefined);
    await child?.kill();
  }

  #join(child: SandboxedProcess): void {
    this.stdin.pipe(child.stdin);
    child.stdout.pipe(this.stdout);
    const report = (exit: ProcessExit) => {
      this.exitCode = exit.code;
      this.emit('exit', exit.code, null);
    };
    inBackground(child.exited.then(report));
  }
}
