import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NameLookup } from '../egress/name-lookup.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import {
  type Account,
  type Sandbox,
  type SandboxMode,
  type SandboxReport,
  SandboxUnavailable,
  type SandboxedProcess,
  type SpawnOptions,
} from '../ports/sandbox.ts';
import { inBackground } from '../runtime/in-background.ts';
import { unprivilegedAccount } from './account.ts';
import {
  type Capabilities,
  type FilterResult,
  missingPrograms,
  refusalFor,
  reportOf,
  setupProblem,
  socatMissing,
} from './capabilities.ts';
import { openCgroups } from './cgroups.ts';
import type { EgressProxy } from './egress-proxy.ts';
import { environmentFor } from './environment.ts';
import { writeEtcFiles } from './etc-files.ts';
import { insidePlaces, viewArguments } from './file-system-view.ts';
import {
  bareCommand,
  environmentScript,
  namespaceArguments,
  wrappedCommand,
} from './launch-chain.ts';
import { type WatchedProcess, launch } from './launch.ts';
import { type ProbeResult, probe } from './probe.ts';
import { findPrograms, hasWatcher } from './programs.ts';
import { seccompFilter } from './seccomp-filter.ts';

export interface OpenSandbox {
  /** As set by the operator. */
  readonly mode: SandboxMode;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
}

const stopping = 'The server is stopping.';
const probeLimits = { memoryMb: 256, pids: 16, seconds: 20 };

/**
 * Opens the sandbox of this machine. What the machine supports is detected by the first that asks for it or starts a
 * program, and logged. Only where the operator requires bubblewrap, this asks, and rejects when it does not work.
 */
export async function openSandbox(options: OpenSandbox): Promise<Sandbox> {
  const sandbox = new ProcessSandbox(options);
  if (options.mode !== 'bwrap') return sandbox;
  const { level, problems } = await sandbox.describe();
  if (level === 'bwrap') return sandbox;
  await sandbox.close();
  throw new Error(`CONVOKE_SANDBOX=bwrap: ${problems.join('; ')}`);
}

class ProcessSandbox implements Sandbox {
  readonly account: Account | undefined = unprivilegedAccount();
  readonly #options: OpenSandbox;
  /** Also for the sandbox's own files: the /etc files it shows, and the sockets of proxies. */
  readonly folder: string;
  #detected: Promise<Capabilities> | undefined;
  readonly #running = new Set<WatchedProcess>();
  /** Monotonic time until which programs may run; `undefined` before the first `keepAlive`. */
  #aliveUntil: number | undefined;
  #isClosed = false;

  constructor(options: OpenSandbox) {
    this.#options = options;
    this.folder = join(options.dataDir, 'sandbox');
  }

  get #capabilities(): Promise<Capabilities> {
    this.#detected ??= this.#detectAndReport();
    return this.#detected;
  }

  async describe(): Promise<SandboxReport> {
    return reportOf(this.#options.mode, await this.#capabilities, this.#user());
  }

  async spawn(command: readonly string[], options: SpawnOptions): Promise<SandboxedProcess> {
    if (this.#isClosed) throw new SandboxUnavailable(stopping);
    const capabilities = await this.#capabilities;
    const { mode } = this.#options;
    const isBare = options.mode === 'none' || (options.mode === 'auto' && mode === 'none');
    const refusal = refusalFor(isBare ? 'none' : 'bwrap', mode, capabilities);
    if (refusal !== undefined) throw new SandboxUnavailable(refusal);
    const proxy = isBare ? undefined : await this.#openProxy(options.network, capabilities);
    if (this.#isClosed) {
      await proxy?.close();
      throw new SandboxUnavailable(stopping);
    }
    try {
      const watchedMs = this.#timeLeft(capabilities);
      const child = isBare
        ? this.#launchBare(command, { options, capabilities, watchedMs })
        : this.#launchWrapped(command, { options, capabilities, proxy, watchedMs });
      this.#running.add(child);
      inBackground(child.exited.then(() => this.#running.delete(child)));
      return child;
    } catch (error) {
      await proxy?.close();
      throw error;
    }
  }

  keepAlive(ms: number): void {
    if (this.#aliveUntil === undefined) this.#warnWithoutWatcher();
    this.#aliveUntil = performance.now() + ms;
    for (const child of this.#running) child.keepAlive(ms);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#detected?.catch(() => undefined);
    await Promise.all(Array.from(this.#running, (child) => child.kill()));
    await rm(this.folder, { recursive: true, force: true });
  }

  #detectAndReport(): Promise<Capabilities> {
    const detected = this.#detect();
    detected.then(
      (capabilities) => this.#report(capabilities),
      (error: unknown) => this.#options.log.error('sandbox detection failed', error),
    );
    return detected;
  }

  async #detect(): Promise<Capabilities> {
    await rm(this.folder, { recursive: true, force: true });
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await writeEtcFiles(join(this.folder, 'etc'), this.#user());
    const programs = findPrograms();
    const cgroups = openCgroups();
    const missing = missingPrograms(programs);
    if (missing !== undefined || programs.bwrap === undefined) {
      const nothing = { works: false, reason: missing ?? '' } as const;
      return { programs, cgroups, bubblewrap: nothing, filter: nothing, limitsTmpfs: false };
    }
    const { stdout: help } = await promisify(execFile)(programs.bwrap, ['--help']);
    const limitsTmpfs = help.includes('--size ');
    const bubblewrap: ProbeResult = { works: false, reason: 'not probed yet' };
    const filter = filterFor(help);
    return this.#probeBoth({ programs, cgroups, bubblewrap, filter, limitsTmpfs });
  }

  /** Where programs run only without the filter of system calls, they run without it, and the report says so. */
  async #probeBoth(capabilities: Capabilities): Promise<Capabilities> {
    const bubblewrap = await this.#probe(capabilities);
    if (!capabilities.filter.works) return { ...capabilities, bubblewrap };
    if (bubblewrap.works && bubblewrap.isFiltered) return { ...capabilities, bubblewrap };
    const reason = bubblewrap.works ? 'the kernel ignores the seccomp filter' : bubblewrap.reason;
    const unfiltered = { ...capabilities, filter: { works: false, reason } as const };
    return { ...unfiltered, bubblewrap: await this.#probe(unfiltered) };
  }

  async #probe(capabilities: Capabilities): Promise<ProbeResult> {
    const folder = join(this.folder, 'probe');
    const [sessionFolder, home] = [join(folder, 'workspace'), join(folder, 'home')];
    const { uid, gid } = this.#user();
    for (const path of [sessionFolder, home]) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await chown(path, uid, gid);
    }
    const options: SpawnOptions = {
      mode: 'bwrap',
      sessionFolder,
      home,
      folder: '/usr',
      env: {},
      network: [],
      limits: probeLimits,
    };
    const start = (command: readonly string[]) =>
      this.#launchWrapped(command, {
        options,
        capabilities,
        proxy: undefined,
        watchedMs: undefined,
      });
    const found = await probe(start, { hidden: this.#options.dataDir, uid });
    await rm(folder, { recursive: true, force: true });
    if (!found.works) return { works: false, reason: setupProblem(found.reason) };
    return found.hasNetwork
      ? { works: false, reason: 'bubblewrap does not isolate the network of this machine' }
      : found;
  }

  async #openProxy(
    network: readonly string[],
    { programs }: Capabilities,
  ): Promise<EgressProxy | undefined> {
    if (network.length === 0) return undefined;
    if (programs.socat === undefined) throw new SandboxUnavailable(socatMissing);
    const { openEgressProxy } = await import('./egress-proxy.ts');
    const { resolve } = new NameLookup(this.#options);
    return openEgressProxy(join(this.folder, `net-${randomUUID()}`), { network, resolve });
  }

  #warnWithoutWatcher(): void {
    const problem = 'programs of agents run on while this server stands still: install bash';
    const warn = ({ programs }: Capabilities) => {
      if (!hasWatcher(programs)) this.#options.log.warn('the sandbox is incomplete', { problem });
    };
    this.#capabilities.then(warn, () => undefined);
  }

  /** `undefined` for a program without a watcher. */
  #timeLeft({ programs }: Capabilities): number | undefined {
    if (this.#aliveUntil === undefined || !hasWatcher(programs)) return undefined;
    const leftMs = this.#aliveUntil - performance.now();
    if (leftMs > 0) return leftMs;
    throw new SandboxUnavailable('The lease of this server has expired.');
  }

  #launchWrapped(command: readonly string[], { proxy, ...launching }: Wrapping) {
    const { options, capabilities, watchedMs } = launching;
    const { programs, cgroups, filter, limitsTmpfs } = capabilities;
    const { limits } = options;
    const cgroup = cgroups?.make(limits);
    const view = {
      ...options,
      etc: join(this.folder, 'etc'),
      proxySocket: proxy?.socket,
      memoryBytes: limitsTmpfs ? limits.memoryMb * 1024 * 1024 : undefined,
    };
    const { account } = this;
    const hasProxy = proxy !== undefined;
    const hasFilter = filter.works;
    const isGrouped = cgroup !== undefined;
    const isWatched = watchedMs !== undefined;
    const chain = { programs, account, limits, isGrouped, hasProxy, hasFilter, isWatched };
    const inside = inFolder(command, insidePlaces.folder);
    return launch({
      command: wrappedCommand({ ...chain, command: inside }),
      environment: environmentScript(environmentFor(insidePlaces, options.env, { hasProxy })),
      bubblewrap: {
        options: [...namespaceArguments(account, { hasFilter }), ...viewArguments(view)],
        filter: filter.works ? filter.program : undefined,
      },
      cwd: '/',
      places: insidePlaces,
      cgroup,
      seconds: limits.seconds,
      watchedMs,
      clock: this.#options.clock,
      onErrorOutput: options.onErrorOutput,
      onEnd: async () => proxy?.close(),
    });
  }

  #launchBare(command: readonly string[], { options, capabilities, watchedMs }: Launching) {
    const { programs, cgroups } = capabilities;
    const { sessionFolder, home, folder, limits } = options;
    const cgroup = cgroups?.make(limits);
    const places = { sessionFolder, home, folder };
    const isGrouped = cgroup !== undefined;
    const bare = { account: undefined, hasProxy: false, hasFilter: false };
    const chain = { programs, limits, isGrouped, isWatched: watchedMs !== undefined, ...bare };
    return launch({
      command: bareCommand({ ...chain, command: inFolder(command, folder) }),
      environment: environmentScript(environmentFor(places, options.env, { hasProxy: false })),
      bubblewrap: undefined,
      cwd: sessionFolder,
      places,
      cgroup,
      seconds: limits.seconds,
      watchedMs,
      clock: this.#options.clock,
      onErrorOutput: options.onErrorOutput,
      onEnd: async () => undefined,
    });
  }

  #report(capabilities: Capabilities): void {
    const report = reportOf(this.#options.mode, capabilities, this.#user());
    const { level, userNamespace, systemCalls, network, limits, uid, problems } = report;
    const fields = {
      isolation: level,
      user_namespace: userNamespace,
      system_calls: systemCalls,
      network,
      limits,
      uid,
    };
    const { log } = this.#options;
    if (level === 'bwrap') {
      log.info('sandbox detected', fields);
      for (const problem of problems) log.warn('the sandbox is incomplete', { problem });
    } else if (level === 'none') log.warn('agents run their programs without a sandbox', fields);
    else log.warn('agents cannot run programs here', { ...fields, problems: problems.join('; ') });
  }

  #user(): Account {
    const { account } = this;
    return account ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  }
}

interface Launching {
  readonly options: SpawnOptions;
  readonly capabilities: Capabilities;
  readonly watchedMs: number | undefined;
}

interface Wrapping extends Launching {
  readonly proxy: EgressProxy | undefined;
}

function filterFor(bubblewrapHelp: string): FilterResult {
  const program = seccompFilter(process.arch);
  if (program === undefined) {
    return { works: false, reason: `there is no filter for the architecture ${process.arch}` };
  }
  return bubblewrapHelp.includes('--seccomp ')
    ? { works: true, program }
    : { works: false, reason: 'this version of bubblewrap has no --seccomp; install a newer one' };
}

/** A part of a command that starts with `./` is a path in the agent's folder, not in the working directory. */
function inFolder(command: readonly string[], folder: string): readonly string[] {
  return command.map((part) => (part.startsWith('./') ? join(folder, part) : part));
}
