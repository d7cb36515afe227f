import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
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
import { unprivilegedAccount } from './account.ts';
import {
  type Findings,
  missingPrograms,
  refusalFor,
  reportOf,
  setupProblem,
  socatMissing,
} from './capabilities.ts';
import { openCgroups } from './cgroups.ts';
import type { EgressProxy } from './egress-proxy.ts';
import { environmentFor } from './environment.ts';
import { writeEtc } from './etc-files.ts';
import { insidePlaces, viewArguments } from './file-system-view.ts';
import {
  bareCommand,
  environmentScript,
  namespaceArguments,
  wrappedCommand,
} from './launch-chain.ts';
import { launch } from './launch.ts';
import { type Probe, probe } from './probe.ts';
import { findPrograms } from './programs.ts';

export interface OpenSandbox {
  /** What the operator set. */
  readonly mode: SandboxMode;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
}

const probeLimits = { memoryMb: 256, pids: 16, seconds: 20 };

/**
 * Finds out what holds on this machine without keeping the server from starting, and says it in one line
 * of the log. An operator who insists on bubblewrap is told at once when it does not hold.
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
  /** The sandbox's own files: what is shown as /etc, and the sockets of proxies. */
  readonly #folder: string;
  readonly #findings: Promise<Findings>;
  readonly #running = new Set<SandboxedProcess>();
  #isClosed = false;

  constructor(options: OpenSandbox) {
    this.#options = options;
    this.#folder = join(options.dataDir, 'sandbox');
    this.#findings = this.#find();
    this.#findings.then(
      (findings) => this.#report(findings),
      (error: unknown) => options.log.error('the sandbox could not be examined', error),
    );
  }

  async describe(): Promise<SandboxReport> {
    return reportOf(this.#options.mode, await this.#findings, this.#user());
  }

  async spawn(command: readonly string[], options: SpawnOptions): Promise<SandboxedProcess> {
    const findings = await this.#findings;
    const { mode } = this.#options;
    const isBare = options.mode === 'none' || (options.mode === 'auto' && mode === 'none');
    const refusal = refusalFor(isBare ? 'none' : 'bwrap', mode, findings);
    if (refusal !== undefined) throw new SandboxUnavailable(refusal);
    const proxy = isBare ? undefined : await this.#openProxy(options.network, findings);
    if (this.#isClosed) {
      await proxy?.close();
      throw new SandboxUnavailable('The server is stopping.');
    }
    const child = isBare
      ? this.#launchBare(command, options, findings)
      : this.#launchWrapped(command, { options, findings, proxy });
    this.#running.add(child);
    void child.exited.then(() => this.#running.delete(child));
    return child;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#findings.catch(() => undefined);
    await Promise.all(Array.from(this.#running, (child) => child.kill()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #find(): Promise<Findings> {
    await rm(this.#folder, { recursive: true, force: true });
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeEtc(join(this.#folder, 'etc'), this.#user());
    const programs = findPrograms();
    const cgroups = openCgroups();
    const missing = missingPrograms(programs);
    if (missing !== undefined || programs.bwrap === undefined) {
      const wrapped: Probe = { holds: false, reason: missing ?? '' };
      return { programs, cgroups, wrapped, sizesTemporary: false };
    }
    const { stdout: help } = await promisify(execFile)(programs.bwrap, ['--help']);
    const sizesTemporary = help.includes('--size ');
    const wrapped: Probe = { holds: false, reason: 'not examined yet' };
    const findings = { programs, cgroups, wrapped, sizesTemporary };
    return { ...findings, wrapped: await this.#probe(findings) };
  }

  async #probe(findings: Findings): Promise<Probe> {
    const place = join(this.#folder, 'probe');
    const [sessionFolder, home] = [join(place, 'workspace'), join(place, 'home')];
    const { uid, gid } = this.#user();
    for (const folder of [sessionFolder, home]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chown(folder, uid, gid);
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
      this.#launchWrapped(command, { options, findings, proxy: undefined });
    const found = await probe(start, { hidden: this.#options.dataDir, uid });
    await rm(place, { recursive: true, force: true });
    if (!found.holds) return { holds: false, reason: setupProblem(found.reason) };
    return found.hasNetwork
      ? { holds: false, reason: 'bubblewrap leaves programs the network of this machine' }
      : found;
  }

  async #openProxy(
    network: readonly string[],
    { programs }: Findings,
  ): Promise<EgressProxy | undefined> {
    if (network.length === 0) return undefined;
    if (programs.socat === undefined) throw new SandboxUnavailable(socatMissing);
    const { openEgressProxy } = await import('./egress-proxy.ts');
    return openEgressProxy(join(this.#folder, `net-${randomUUID()}`), network);
  }

  #launchWrapped(command: readonly string[], { options, findings, proxy }: Wrapping) {
    const { programs, cgroups, sizesTemporary } = findings;
    const { limits } = options;
    const cgroup = cgroups?.make(limits);
    const view = {
      ...options,
      etc: join(this.#folder, 'etc'),
      proxySocket: proxy?.socket,
      memoryBytes: sizesTemporary ? limits.memoryMb * 1024 * 1024 : undefined,
    };
    const { account } = this;
    const chain = { programs, account, limits, isGrouped: cgroup !== undefined };
    const hasProxy = proxy !== undefined;
    const inside = inFolder(command, insidePlaces.folder);
    return launch({
      command: wrappedCommand({ ...chain, hasProxy, command: inside }),
      environment: environmentScript(environmentFor(insidePlaces, options.env, { hasProxy })),
      bubblewrap: [...namespaceArguments(account), ...viewArguments(view)],
      cwd: '/',
      places: insidePlaces,
      cgroup,
      seconds: limits.seconds,
      clock: this.#options.clock,
      onEnd: async () => proxy?.close(),
    });
  }

  #launchBare(command: readonly string[], options: SpawnOptions, findings: Findings) {
    const { programs, cgroups } = findings;
    const { sessionFolder, home, folder, limits } = options;
    const cgroup = cgroups?.make(limits);
    const places = { sessionFolder, home, folder };
    const chain = { programs, account: undefined, limits, isGrouped: cgroup !== undefined };
    return launch({
      command: bareCommand({ ...chain, hasProxy: false, command: inFolder(command, folder) }),
      environment: environmentScript(environmentFor(places, options.env, { hasProxy: false })),
      bubblewrap: undefined,
      cwd: sessionFolder,
      places,
      cgroup,
      seconds: limits.seconds,
      clock: this.#options.clock,
      onEnd: async () => undefined,
    });
  }

  #report(findings: Findings): void {
    const report = reportOf(this.#options.mode, findings, this.#user());
    const { level, userNamespace, network, limits, uid, problems } = report;
    const fields = { level, user_namespace: userNamespace, network, limits, uid };
    const { log } = this.#options;
    if (level === 'bwrap') log.info('sandbox examined', fields);
    else if (level === 'none') log.warn('agents run their programs without a sandbox', fields);
    else log.warn('agents cannot run programs here', { ...fields, problems: problems.join('; ') });
  }

  #user(): Account {
    const { account } = this;
    return account ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  }
}

interface Wrapping {
  readonly options: SpawnOptions;
  readonly findings: Findings;
  readonly proxy: EgressProxy | undefined;
}

/** A part of a command that starts with `./` is a path in the agent's folder, wherever the program starts. */
function inFolder(command: readonly string[], folder: string): readonly string[] {
  return command.map((part) => (part.startsWith('./') ? join(folder, part) : part));
}
