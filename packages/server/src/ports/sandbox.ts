import type { Readable, Writable } from 'node:stream';

/** Where programs run that nobody has to trust: tools, and agents that are processes. */
export interface Sandbox {
  /**
   * Who the programs run as, when that is not the server's own user. Folders they write into must be
   * theirs.
   */
  readonly account: Account | undefined;
  /** What was found to hold on this machine, by running a command in it. */
  describe(): Promise<SandboxReport>;
  /** Starts a program. Rejects with `SandboxUnavailable` when it may not run here. */
  spawn(command: readonly string[], options: SpawnOptions): Promise<SandboxedProcess>;
  /** Ends every program that still runs. */
  close(): Promise<void>;
}

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export type SandboxMode = 'auto' | 'bwrap' | 'none';

export interface SpawnOptions {
  /** What the agent asks for. `none` is refused unless the operator set it too. */
  readonly mode: SandboxMode;
  /** Writable, and the folder the program starts in. */
  readonly sessionFolder: string;
  /** Writable: the program's HOME. */
  readonly home: string;
  /** Readable: the agent's folder. A part of the command that starts with `./` is a path in it. */
  readonly folder: string;
  /** More folders and files the program may read, at their own paths. */
  readonly readOnly?: readonly string[];
  /** Everything the program gets, beside HOME, PATH and the like. The server's own environment is not inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: ProcessLimits;
  /** Hosts it may reach (`domain/egress.ts`). Empty means no network at all. */
  readonly network: readonly string[];
}

export interface ProcessLimits {
  readonly memoryMb: number;
  readonly pids: number;
  /** Killed after this. */
  readonly seconds?: number;
}

export interface SandboxedProcess {
  /** Where the program sees its folders: elsewhere than the server does. */
  readonly places: Places;
  readonly stdin: Writable;
  /** Flow-controlled: what is not read holds the program back. */
  readonly stdout: Readable;
  /** The last of what it wrote to its standard error; the rest is dropped. */
  errorOutput(): string;
  /** Never rejects. When it resolves, nothing of the program runs any more. */
  readonly exited: Promise<ProcessExit>;
  /** Remembers what runs now. What it gives counts the processes that were started since and still run. */
  mark(): Promise<() => Promise<number>>;
  /** Asks the program and its children to end (SIGTERM). */
  terminate(): void;
  /** Ends the program and whatever it started, at once. */
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
  /** As a shell tells it: 128 and the signal's number for a program that a signal ended. */
  readonly code: number;
  readonly outOfMemory: boolean;
  readonly timedOut: boolean;
}

export interface SandboxReport {
  readonly mode: SandboxMode;
  /** What an agent of mode `auto` runs in; `nothing` means that it fails with `sandbox_unavailable`. */
  readonly level: 'bwrap' | 'none' | 'nothing';
  readonly userNamespace: boolean;
  /** `allow-list`: off, but for the agent's hosts through a proxy. `off`: an allow-list would need socat. */
  readonly network: 'allow-list' | 'off' | 'open';
  readonly limits: 'cgroup v2' | 'cgroup v1' | 'prlimit' | 'none';
  /** What programs run as, seen from the host. */
  readonly uid: number;
  /** What does not hold, and what to do about it. */
  readonly problems: readonly string[];
}

/** The message may be shown to whoever started the run, and tells an operator what to do. */
export class SandboxUnavailable extends Error {
  override readonly name = 'SandboxUnavailable';
}
