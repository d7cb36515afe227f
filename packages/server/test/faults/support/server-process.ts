import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { programPath } from '../../../../../test/bundled-programs.ts';
import { compileCache } from '../../../../../test/compile-cache.ts';
import { until } from '../../support/eventually.ts';
import { inheriting } from '../../support/inherited-files.ts';
import { exchange } from './exchange.ts';
import { endingWithThis, isAlive, processTree } from './process-tree.ts';
import type { ServerFolder } from './server-folder.ts';

const streams = ['ignore', 'pipe', 'pipe'] as const;
const outputMaxCharacters = 200_000;

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Spawning {
  readonly command?: 'dev' | 'serve';
  /** Instead of, or beside, the settings of the folder. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The command line of another release. */
  readonly program?: string;
  /** Modules that are loaded before the server. */
  readonly imports?: readonly string[];
  /** An open file that the server inherits. */
  readonly inherited?: FileHandle;
}

/** The real server in a process of its own, as an operator would start it. */
export class ServerProcess {
  readonly folder: ServerFolder;
  readonly pid: number;
  /** How the process ended. */
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  #output = '';

  private constructor(
    folder: ServerFolder,
    { command = 'dev', settings = {}, program, imports = [], inherited }: Spawning,
  ) {
    this.folder = folder;
    const started = program ?? programPath('convoke');
    const words = [...imports.flatMap((path) => ['--import', path]), started, command];
    this.#child = spawn(...endingWithThis(process.execPath, words), {
      env: {
        ...environment(),
        ...compileCache,
        ...(program === undefined && noDelay),
        ...settingsOf(folder),
        ...settings,
      },
      stdio: inherited === undefined ? [...streams] : inheriting(inherited, streams),
    });
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-outputMaxCharacters);
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
    this.ended = once(this.#child, 'close').then(([code, signal]) => ({ code, signal }));
    this.pid = this.#child.pid ?? 0;
  }

  /** Does not wait for anything. */
  static spawn(folder: ServerFolder, spawning: Spawning = {}): ServerProcess {
    return new ServerProcess(folder, spawning);
  }

  /** Resolves when the server says that it is ready. */
  static async start(folder: ServerFolder, spawning: Spawning = {}): Promise<ServerProcess> {
    const server = new ServerProcess(folder, spawning);
    await server.ready();
    return server;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.folder.port}`;
  }

  /** Standard output and standard error of the process. */
  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return isAlive(this.pid) && this.#child.exitCode === null;
  }

  async ready(): Promise<void> {
    await until(async () => (await this.readiness()) === 200 || !this.isRunning, {
      what: () => `ready server; it wrote:\n${this.#output}`,
    });
    if (!this.isRunning) throw new Error(`the server did not start:\n${this.#output}`);
  }

  /** The status of the readiness probe; undefined without an answer. */
  async readiness(): Promise<number | undefined> {
    const url = `${this.baseUrl}/readyz`;
    const reply = await exchange({ method: 'GET', url, timeoutMs: 5_000 }).catch(() => undefined);
    return reply?.status;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The processes of the server now: itself and whatever it started. */
  tree(): readonly number[] {
    return processTree(this.pid);
  }

  /** SIGKILL. Resolves with the processes of the tree that stay alive, at once when there are none. */
  async kill(tree = this.tree()): Promise<number[]> {
    this.#child.kill('SIGKILL');
    await this.ended;
    return this.#survivors(tree);
  }

  async #survivors(tree: readonly number[]): Promise<number[]> {
    const alive = () => tree.filter(isAlive);
    await until(() => alive().length === 0, { what: 'end' }).catch(() => {});
    return alive();
  }
}

/** No load balancer has to notice that a server of a test stops. Another release may not know the setting. */
const noDelay = { CONVOKE_DRAIN_DELAY_SECONDS: '0' };

function settingsOf(folder: ServerFolder): Record<string, string> {
  return {
    CONVOKE_PORT: String(folder.port),
    CONVOKE_DATA_DIR: folder.dataDir,
    CONVOKE_AGENTS_DIR: folder.agentsDir,
    ...folder.settings,
  };
}

/** The test's own settings are not the server's. */
function environment(): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(CONVOKE_|NODE_|VITEST)/.test(name),
  );
  return Object.fromEntries(own);
}
