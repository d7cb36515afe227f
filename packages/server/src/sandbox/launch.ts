import { type ChildProcess, spawn } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Clock } from '../ports/clock.ts';
import type { Places, ProcessExit, SandboxedProcess } from '../ports/sandbox.ts';
import type { Cgroup } from './cgroups.ts';
import { readStatus, readable, send, signalCode, writable } from './launch-streams.ts';
import { markProcesses } from './process-list.ts';
import { systemPath } from './program-path.ts';

export interface Launch {
  /** The whole chain of programs, of which the agent's is the last. */
  readonly command: readonly string[];
  /** What the chain reads from descriptor 3 after the line that lets it go on. */
  readonly environment: string;
  /** What bubblewrap reads from descriptor 4; `undefined` without bubblewrap. */
  readonly bubblewrap: readonly string[] | undefined;
  readonly cwd: string;
  readonly places: Places;
  readonly cgroup: Cgroup | undefined;
  readonly seconds: number | undefined;
  readonly clock: Clock;
  /** Called when nothing of the program runs any more. */
  readonly onEnd: () => Promise<void>;
}

const errorOutputMaxBytes = 16 * 1024;
/** For what was killed to be gone, before the process around it is killed as well. */
const strikeAgainMs = 1000;
const idleCheckMs = 250;

/** Starts the chain, and lets it go on once it is in its control group. */
export function launch(request: Launch): SandboxedProcess {
  const child = new LaunchedProcess(request);
  child.release();
  return child;
}

class LaunchedProcess implements SandboxedProcess {
  readonly places: Places;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exited: Promise<ProcessExit>;
  readonly #request: Launch;
  readonly #child: ChildProcess;
  readonly #timers: (() => void)[] = [];
  #errors: Buffer = Buffer.alloc(0);
  /** The first process of the program's own process namespace, as the host numbers it. */
  #init: number | undefined;
  #isReleased = false;
  #isOver = false;
  #timedOut = false;

  constructor(request: Launch) {
    const [program = '', ...parameters] = request.command;
    const isWrapped = request.bubblewrap !== undefined;
    this.#request = request;
    this.places = request.places;
    // The kernel's signal at the parent's death follows the thread that forked: this must be the main thread.
    this.#child = spawn(program, parameters, {
      cwd: request.cwd,
      detached: true,
      env: { PATH: systemPath },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', ...(isWrapped ? (['pipe', 'pipe'] as const) : [])],
    });
    const stdio: readonly unknown[] = this.#child.stdio;
    const [stdin, stdout, stderr, , , status] = stdio;
    this.stdin = writable(stdin);
    this.stdout = isWrapped ? readable(stdout) : this.#untilIdle(readable(stdout));
    readable(stderr).on('data', (chunk: Buffer) => this.#keepErrors(chunk));
    const onInit = (pid: number) => {
      this.#init = pid;
    };
    this.exited = this.#watch(isWrapped ? readStatus(readable(status), onInit) : undefined);
  }

  release(): void {
    const { bubblewrap, cgroup, environment, seconds } = this.#request;
    const { pid, stdio } = this.#child;
    if (pid === undefined) return;
    try {
      cgroup?.add(pid);
    } catch (error) {
      this.#keepErrors(Buffer.from(`no control group: ${String(error)}\n`));
      this.#signal('SIGKILL');
      return;
    }
    this.#isReleased = true;
    if (bubblewrap !== undefined) writable(stdio[4]).end(bubblewrap.map(terminated).join(''));
    writable(stdio[3]).end(`go\n${environment}`);
    if (seconds !== undefined) this.#after(seconds * 1000, () => this.#onTimeout());
  }

  errorOutput(): string {
    return this.#errors.toString('utf8');
  }

  async mark(): Promise<() => Promise<number>> {
    const root = this.#init ?? this.#child.pid;
    if (root === undefined) return async () => 0;
    const count = await markProcesses(root);
    return async () => (this.#isOver ? 0 : count());
  }

  terminate(): void {
    if (this.#isOver) return;
    if (this.#request.bubblewrap === undefined) this.#signal('SIGTERM');
    // The first process of a namespace does not take this signal; everybody else in its group does.
    else if (this.#init !== undefined) send(-this.#init, 'SIGTERM');
    else void this.kill();
  }

  async kill(): Promise<void> {
    if (!this.#isOver) {
      // All of a namespace dies with its first process, and before that counts as gone.
      if (this.#init !== undefined) send(this.#init, 'SIGKILL');
      else this.#signal('SIGKILL');
      this.#after(strikeAgainMs, () => this.#signal('SIGKILL'));
    }
    await this.exited;
  }

  async #watch(told: Promise<number | undefined> | undefined): Promise<ProcessExit> {
    const code = await this.#ended();
    const status = await told;
    this.#isOver = true;
    for (const forget of this.#timers) forget();
    const outOfMemory = this.#request.cgroup?.ranOutOfMemory() ?? false;
    await this.#request.cgroup?.remove();
    await this.#request.onEnd();
    return {
      started: told === undefined ? this.#isReleased : status !== undefined,
      code: status ?? code,
      outOfMemory,
      timedOut: this.#timedOut,
    };
  }

  #ended(): Promise<number> {
    return new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#keepErrors(Buffer.from(`${error.message}\n`));
        resolve(signalCode(null));
      });
      this.#child.once('exit', (code, signal) => {
        // Without a namespace, what the program started and left may still be there.
        this.#signal('SIGKILL');
        resolve(code ?? signalCode(signal));
      });
    });
  }

  /**
   * A namespace takes everybody with it who holds the other end of the output. Without one, somebody may have
   * left the process group with it: then the output ends with the program, once nothing more comes.
   */
  #untilIdle(source: Readable): Readable {
    const output = new PassThrough();
    source.pipe(output);
    const look = () => {
      if (source.readableEnded) return;
      if (source.readableLength + output.readableLength === 0) {
        source.destroy();
        output.end();
      } else this.#request.clock.after(idleCheckMs, look);
    };
    this.#child.once('exit', () => this.#request.clock.after(idleCheckMs, look));
    return output;
  }

  #onTimeout(): void {
    this.#timedOut = true;
    void this.kill();
  }

  #after(ms: number, callback: () => void): void {
    this.#timers.push(this.#request.clock.after(ms, callback));
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) send(-this.#child.pid, signal);
  }

  #keepErrors(chunk: Buffer): void {
    const joined = Buffer.concat([this.#errors, chunk]);
    this.#errors = joined.subarray(Math.max(0, joined.length - errorOutputMaxBytes));
  }
}

function terminated(part: string): string {
  return `${part}\0`;
}
