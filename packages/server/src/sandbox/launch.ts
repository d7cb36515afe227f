import { type ChildProcess, spawn } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Clock } from '../ports/clock.ts';
import type { Places, ProcessExit, SandboxedProcess } from '../ports/sandbox.ts';
import { inBackground } from '../runtime/in-background.ts';
import type { Cgroup } from './cgroups.ts';
import { readStatus, readable, send, signalCode, writable } from './launch-streams.ts';
import { markProcesses, stopProcesses } from './process-list.ts';
import { systemPath } from './program-path.ts';

export interface Launch {
  /** The whole chain of programs, of which the agent's is the last. */
  readonly command: readonly string[];
  /** Script that the chain reads from descriptor 3, after the line it waits for. */
  readonly environment: string;
  /** What bubblewrap reads; `undefined` without bubblewrap. */
  readonly bubblewrap: BubblewrapInput | undefined;
  readonly cwd: string;
  readonly places: Places;
  readonly cgroup: Cgroup | undefined;
  readonly seconds: number | undefined;
  /** How long the watcher of the chain lets it run unless that is extended; `undefined` without a watcher. */
  readonly watchedMs: number | undefined;
  readonly clock: Clock;
  /** Gets what the program writes to standard error. */
  readonly onErrorOutput?: ((chunk: Buffer) => void) | undefined;
  /** Called when the program and all its processes have ended. */
  readonly onEnd: () => Promise<void>;
}

export interface BubblewrapInput {
  /** Read from descriptor 4. */
  readonly options: readonly string[];
  /** The seccomp program, read from descriptor 6. */
  readonly filter: Buffer | undefined;
}

const errorOutputMaxBytes = 16 * 1024;
/** How long the killed program may take to end before bubblewrap itself is killed. */
const killAgainMs = 1000;
const idleCheckMs = 250;

/** A program whose watcher, if it has one, kills it at the end of the time that it was last given. */
export interface WatchedProcess extends SandboxedProcess {
  keepAlive(ms: number): void;
}

/** Starts the chain, adds it to its control group and lets it continue. */
export function launch(request: Launch): WatchedProcess {
  const child = new LaunchedProcess(request);
  child.release();
  return child;
}

class LaunchedProcess implements WatchedProcess {
  readonly places: Places;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exited: Promise<ProcessExit>;
  readonly #request: Launch;
  readonly #child: ChildProcess;
  readonly #timers: (() => void)[] = [];
  readonly #watcher: Writable | undefined;
  #errors: Buffer = Buffer.alloc(0);
  /** Pid on the host of the first process in the program's pid namespace. */
  #init: number | undefined;
  #stopped: readonly number[] = [];
  #isReleased = false;
  #isOver = false;
  #timedOut = false;

  constructor(request: Launch) {
    const [program = '', ...parameters] = request.command;
    const { bubblewrap } = request;
    const isWrapped = bubblewrap !== undefined;
    this.#request = request;
    this.places = request.places;
    // PDEATHSIG is sent when the forking thread ends, so this must run on the main thread.
    this.#child = spawn(program, parameters, {
      cwd: request.cwd,
      detached: true,
      env: { PATH: systemPath },
      stdio: [
        ...(['pipe', 'pipe', 'pipe', 'pipe'] as const),
        ...(isWrapped ? (['pipe', 'pipe'] as const) : []),
        ...(bubblewrap?.filter === undefined ? [] : (['pipe'] as const)),
        ...(request.watchedMs === undefined ? [] : (['pipe'] as const)),
      ],
    });
    // At once: an `error` without a listener ends the server.
    const ended = this.#ended();
    const stdio: readonly unknown[] | undefined = this.#child.stdio;
    // Where the server has no descriptors left, there are no streams.
    if (stdio === undefined) throw new Error('the program got no streams: too many open files');
    const [stdin, stdout, stderr, , , status] = stdio;
    this.stdin = writable(stdin);
    this.#watcher = request.watchedMs === undefined ? undefined : writable(stdio.at(-1));
    this.stdout = isWrapped ? readable(stdout) : this.#untilIdle(readable(stdout));
    readable(stderr).on('data', (chunk: Buffer) => {
      this.#keepErrors(chunk);
      request.onErrorOutput?.(chunk);
    });
    const onInit = (pid: number) => {
      this.#init = pid;
    };
    this.exited = this.#watch(ended, isWrapped ? readStatus(readable(status), onInit) : undefined);
  }

  release(): void {
    const { bubblewrap, cgroup, environment, seconds, watchedMs } = this.#request;
    const { pid } = this.#child;
    const stdio: readonly unknown[] = this.#child.stdio;
    if (pid === undefined) return;
    try {
      cgroup?.add(pid);
    } catch (error) {
      this.#keepErrors(Buffer.from(`no control group: ${String(error)}\n`));
      this.#signal('SIGKILL');
      return;
    }
    this.#isReleased = true;
    if (bubblewrap !== undefined) {
      writable(stdio[4]).end(bubblewrap.options.map(terminated).join(''));
      if (bubblewrap.filter !== undefined) writable(stdio[6]).end(bubblewrap.filter);
    }
    if (watchedMs !== undefined) this.keepAlive(watchedMs);
    writable(stdio[3]).end(`go\n${environment}`);
    if (seconds !== undefined) this.#after(seconds * 1000, () => this.#onTimeout());
  }

  keepAlive(ms: number): void {
    // A watcher that reads nothing has ended or is stopped: nothing may pile up for it.
    if (this.#watcher?.writable !== true || this.#watcher.writableNeedDrain) return;
    this.#watcher.write(`${(ms / 1000).toFixed(3)}\n`);
  }

  errorOutput(): string {
    return this.#errors.toString('utf8');
  }

  dropErrorOutput(): void {
    this.#errors = Buffer.alloc(0);
  }

  async mark(): Promise<() => Promise<number>> {
    const root = this.#init ?? this.#child.pid;
    if (root === undefined) return async () => 0;
    const count = await markProcesses(root);
    return async () => (this.#isOver ? 0 : count());
  }

  async suspend(): Promise<boolean> {
    const { pid } = this.#child;
    if (this.#isOver || pid === undefined) return false;
    // Without a namespace the child is the program itself; its watcher must stay awake.
    const stopped = this.#init === undefined ? [pid] : await stopProcesses(this.#init);
    if (this.#init === undefined) send(pid, 'SIGSTOP');
    this.#stopped = stopped ?? [];
    return stopped !== undefined && !this.#isOver;
  }

  resume(): void {
    if (!this.#isOver) for (const pid of this.#stopped) send(pid, 'SIGCONT');
    this.#stopped = [];
  }

  terminate(): void {
    if (this.#isOver) return;
    if (this.#request.bubblewrap === undefined) this.#signal('SIGTERM');
    // The first process of a pid namespace ignores this signal; the others of its process group receive it.
    else if (this.#init !== undefined) send(-this.#init, 'SIGTERM');
    else inBackground(this.kill());
  }

  async kill(): Promise<void> {
    if (!this.#isOver) {
      // The kernel kills all processes of a pid namespace before its first process ends.
      if (this.#init !== undefined) send(this.#init, 'SIGKILL');
      else this.#signal('SIGKILL');
      this.#after(killAgainMs, () => this.#signal('SIGKILL'));
    }
    await this.exited;
  }

  async #watch(
    ended: Promise<number>,
    reportedCode: Promise<number | undefined> | undefined,
  ): Promise<ProcessExit> {
    const code = await ended;
    const reported = await reportedCode;
    this.#isOver = true;
    for (const cancel of this.#timers) cancel();
    this.#watcher?.destroy();
    const outOfMemory = this.#request.cgroup?.ranOutOfMemory() ?? false;
    await this.#cleanUp();
    return {
      started: reportedCode === undefined ? this.#isReleased : reported !== undefined,
      code: reported ?? code,
      outOfMemory,
      timedOut: this.#timedOut,
    };
  }

  /** The program has ended, whether or not everything that belonged to it can be removed: `exited` never rejects. */
  async #cleanUp(): Promise<void> {
    for (const step of [() => this.#request.cgroup?.remove(), () => this.#request.onEnd()]) {
      try {
        await step();
      } catch (error) {
        this.#keepErrors(Buffer.from(`not removed: ${String(error)}\n`));
      }
    }
  }

  #ended(): Promise<number> {
    return new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#keepErrors(Buffer.from(`${error.message}\n`));
        resolve(signalCode(null));
      });
      this.#child.once('exit', (code, signal) => {
        // Without a namespace, children of the program may still run.
        this.#signal('SIGKILL');
        resolve(code ?? signalCode(signal));
      });
    });
  }

  /**
   * Ends the output once the program has exited and nothing more arrives. Without a namespace, a child that left the
   * process group may keep the pipe open for ever; in a namespace all processes end with the program.
   */
  #untilIdle(source: Readable): Readable {
    const output = new PassThrough();
    source.pipe(output);
    const check = () => {
      if (source.readableEnded) return;
      if (source.readableLength + output.readableLength === 0) {
        source.destroy();
        output.end();
      } else this.#request.clock.after(idleCheckMs, check);
    };
    this.#child.once('exit', () => this.#request.clock.after(idleCheckMs, check));
    return output;
  }

  #onTimeout(): void {
    this.#timedOut = true;
    inBackground(this.kill());
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
