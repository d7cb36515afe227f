import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ProcessExit, SandboxedProcess } from '../../ports/sandbox.ts';

/**
 * Claude's program, in the form in which its SDK wants a process. The SDK wants it at once and the sandbox
 * takes a moment, so that what is written meanwhile waits here.
 */
export class ClaudeProcess extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  killed = false;
  exitCode: number | null = null;
  readonly started: Promise<SandboxedProcess>;

  constructor(start: () => Promise<SandboxedProcess>) {
    super();
    this.started = start();
    this.started.then(
      (child) => this.#join(child),
      (error: unknown) => {
        this.exitCode = 1;
        this.stdout.end();
        this.emit('error', error);
      },
    );
  }

  /** The SDK asks for an end; whoever runs the leg ends what does not listen. */
  kill(signal: NodeJS.Signals = 'SIGTERM'): boolean {
    this.killed = true;
    void this.started.then(
      (child) => (signal === 'SIGKILL' ? child.kill() : child.terminate()),
      () => undefined,
    );
    return true;
  }

  /** Resolves when nothing of it runs any more. */
  async end(): Promise<void> {
    this.killed = true;
    const child = await this.started.catch(() => undefined);
    await child?.kill();
  }

  #join(child: SandboxedProcess): void {
    this.stdin.pipe(child.stdin);
    child.stdout.pipe(this.stdout);
    void child.exited.then((exit: ProcessExit) => {
      this.exitCode = exit.code;
      this.emit('exit', exit.code, null);
    });
  }
}
