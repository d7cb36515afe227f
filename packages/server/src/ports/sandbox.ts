import type { Readable, Writable } from 'node:stream';

/** Runs untrusted programs: tools, and agents that are processes. */
export interface Sandbox {
  /**
   * Account of the programs, when it is not the server's own user. It must own the folders that programs
   * write to.
   */
  readonly account: Account | undefined;
  /**
   * For files of this server that end with it: emptied before the first program starts, and removed with the sandbox.
   */
  readonly folder: string;
  /** Capabilities of the sandbox on this machine, found by running a command in it. */
  describe(): Promise<SandboxReport>;
  /** Starts a program. Rejects with `SandboxUnavailable` when it may not run here. */
  spawn(command: readonly string[], options: SpawnOptions): Promise<SandboxedProcess>;
  /**
   * Lets all programs, also those started from now on, run for this long. Unless it is called again in time, a process
   * outside this one kills them, so it works also while this one is stopped. Without a first call there is no such
   * limit.
   */
  keepAlive(ms: number): void;
  /** Ends every program that still runs. */
  close(): Promise<void>;
}

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export type SandboxMode = 'auto' | 'bwrap' | 'none';

export interface SpawnOptions {
  /** Mode the agent requests. `none` is rejected unless the operator set it too. */
  readonly mode: SandboxMode;
  /** Writable, and the folder the program starts in. */
  readonly sessionFolder: string;
  /** Writable: the program's HOME. */
  readonly home: string;
  /** Readable: the agent's folder. A part of the command that starts with `./` is a path in it. */
  readonly folder: string;
  /** More folders and files the program may read, at their own paths. */
  readonly readOnly?: readonly string[];
  /** The program's environment, beside HOME, PATH and the like. The server's environment is not inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: ProcessLimits;
  /** Hosts it may reach (`domain/egress.ts`). Empty means no network at all. */
  readonly network: readonly string[];
  /** Gets the lines of its standard error. */
  readonly onErrorOutput?: ((chunk: Buffer) => void) | undefined;
}

export interface ProcessLimits {
  readonly memoryMb: number;
  readonly pids: number;
  /** Killed after this. */
  readonly seconds?: number;
}

export interface SandboxedProcess {
  /** Paths of its folders as the program sees them, which differ from the server's. */
  readonly places: Places;
  readonly stdin: Writable;
  /** With backpressure: unread output blocks the program. */
  readonly stdout: Readable;
  /** The end of its standard error; earlier output is dropped. */
  errorOutput(): string;
  /** Drops the lines of its standard error so far. */
  dropErrorOutput(): void;
  /** Never rejects. Resolves when every process of the program has ended. */
  readonly exited: Promise<ProcessExit>;
  /** Remembers the current processes. The returned function counts the running ones that started since. */
  mark(): Promise<() => Promise<number>>;
  /**
   * Stops all its processes until `resume`: they execute nothing (SIGSTOP). False when that failed; it should be killed
   * then. `kill` ends a stopped program, too.
   */
  suspend(): Promise<boolean>;
  resume(): void;
  /** Asks the program and its children to end (SIGTERM). */
  terminate(): void;
  /** Kills the program and every process it started (SIGKILL). */
  kill(): Promise<void>;
}

export interface Places {
  readonly sessionFolder: string;
  readonly home: string;
  readonly folder: string;
}

export interface ProcessExit {
  /** False when the sandbox itself could not be set up: the program never ran. */
  readonly started: boolean;
  /** As in a shell: 128 plus the signal's number for a program that a signal ended. */
  readonly code: number;
  readonly outOfMemory: boolean;
  readonly timedOut: boolean;
}

export interface SandboxReport {
  readonly mode: SandboxMode;
  /** Sandbox of an agent with mode `auto`; `nothing` means that it fails with `sandbox_unavailable`. */
  readonly level: 'bwrap' | 'none' | 'nothing';
  readonly userNamespace: boolean;
  /** `filtered`: calls that container runtimes refuse fail (seccomp). */
  readonly systemCalls: 'filtered' | 'unfiltered';
  /** `allow-list`: only the agent's hosts, through a proxy. `off`: no network; an allow-list needs socat. */
  readonly network: 'allow-list' | 'off' | 'open';
  readonly limits: 'cgroup v2' | 'cgroup v1' | 'prlimit' | 'none';
  /** User id of programs, seen from the host. */
  readonly uid: number;
  /** Missing capabilities, each with its remedy. */
  readonly problems: readonly string[];
}

/** The message may be shown to the client that started the run, and tells the operator what to do. */
export class SandboxUnavailable extends Error {
  override readonly name = 'SandboxUnavailable';
}
