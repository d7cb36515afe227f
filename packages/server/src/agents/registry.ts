import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent, BrokenAgent } from '../domain/agent.ts';
import type { Prices } from '../domain/usage/prices.ts';
import type { Agents } from '../ports/agents.ts';
import type { Log } from '../ports/log.ts';
import { errorCode, hasCode } from '../runtime/error-code.ts';
import {
  type AgentHarnesses,
  type ReadAgent,
  missingCalls,
  readAgentFolder,
} from './agent-folder.ts';
import { type FolderScan, scanFolder } from './folder-scan.ts';
import { FolderWatch, type ScanResult } from './folder-watch.ts';
import { Readings } from './readings.ts';

const agentsMax = 1000;
const readAtOnce = 16;
/** A person makes the folder first and then writes its `agent.yaml`: it is not broken in between. */
const graceMs = 1000;
/** A scan does not wait longer for one folder. */
const patienceMs = 1000;
/**
 * Pauses before a folder whose reading failed for a passing reason is read again; each is twice the one before (D-366).
 */
const pauseMs = 30_000;
const pauseMaxMs = 15 * 60_000;

export interface OpenAgents {
  readonly folder: string;
  /** The harnesses of this build, by framework. */
  readonly harnesses: AgentHarnesses;
  readonly log: Log;
  /** Needed to tell what a run costs; none when absent. */
  readonly prices?: Prices | undefined;
  /** How long a scan waits for one folder, whose agent may take long to load. */
  readonly patienceMs?: number;
  /** How often to scan without an event, because watchers can lose events. */
  readonly pollMs?: number;
  /** Now, in milliseconds. */
  readonly now?: () => number;
  /** Set to false where the file system reports no events (network mounts); then only polling finds changes. */
  readonly watch?: boolean;
}

/** Reads every agent folder, and reads a folder again whenever it changes. */
export async function openAgents(options: OpenAgents): Promise<Agents> {
  const registry = new AgentRegistry(options);
  await registry.start();
  return registry;
}

/** The result of reading all folders. It is replaced as a whole, so callers never see half of a change. */
interface Snapshot {
  readonly agents: readonly Agent[];
  readonly byName: ReadonlyMap<string, Agent>;
  readonly problems: readonly BrokenAgent[];
}

/** A folder that did not change keeps its reading, so its `Agent` stays the same object. */
interface Reading {
  readonly fingerprint: string;
  readonly result: ReadAgent;
  /** When to read it again although nothing has changed, and how often that was in vain. */
  readonly again?: { readonly at: number; readonly failures: number };
}

class AgentRegistry implements Agents {
  readonly #options: OpenAgents;
  readonly #watch: FolderWatch;
  readonly #slow: Readings;
  #readings = new Map<string, Reading>();
  /** When each folder that has no `agent.yaml` yet was first seen; undefined before the first scan is over. */
  #arriving: ReadonlyMap<string, number> | undefined;
  #snapshot: Snapshot = { agents: [], byName: new Map(), problems: [] };

  constructor(options: OpenAgents) {
    this.#options = options;
    this.#watch = new FolderWatch({
      log: options.log,
      pollMs: options.pollMs,
      watch: options.watch,
      onChange: () => this.#refresh(),
    });
    this.#slow = new Readings({
      patienceMs: options.patienceMs ?? patienceMs,
      onReady: () => this.#watch.changed(),
    });
  }

  start(): Promise<void> {
    return this.#watch.start();
  }

  all(): readonly Agent[] {
    return this.#snapshot.agents;
  }

  find(name: string): Agent | undefined {
    return this.#snapshot.byName.get(name);
  }

  problems(): readonly BrokenAgent[] {
    return this.#snapshot.problems;
  }

  close(): Promise<void> {
    return this.#watch.close();
  }

  async #refresh(): Promise<ScanResult> {
    const { folder } = this.#options;
    const names = await listFolders(folder);
    if (names === undefined) {
      const reason = 'the agents folder does not exist: make it, or set CONVOKE_AGENTS_DIR';
      this.#swap(new Map([[folder, { fingerprint: '', result: { ok: false, reason } }]]));
      return { directories: [] };
    }
    const directories = [{ path: folder, inode: (await stat(folder)).ino }];
    const readings = new Map<string, Reading>();
    const arriving = new Map<string, number>();
    const read = names.slice(0, agentsMax);
    this.#slow.retain(new Set(read));
    for (const [name, found] of await this.#readAll(read)) {
      directories.push(...found.directories);
      if (found.since !== undefined) arriving.set(name, found.since);
      if (found.reading !== undefined) readings.set(name, found.reading);
    }
    if (names.length > agentsMax) {
      const reason = `contains ${names.length} agents, but only the first ${agentsMax} by name are read: remove the others`;
      readings.set(folder, { fingerprint: reason, result: { ok: false, reason } });
    }
    this.#swap(readings);
    this.#arriving = arriving;
    return { directories, ...(arriving.size > 0 && { againMs: graceMs }) };
  }

  /** The result of reading each folder, in the order of the names. A slow folder does not delay the others. */
  async #readAll(names: readonly string[]): Promise<readonly (readonly [string, FoundFolder])[]> {
    const found = new Map<string, FoundFolder | undefined>();
    const next = names.values();
    const readNext = async () => {
      for (const name of next) found.set(name, await this.#read(name));
    };
    await Promise.all(Array.from({ length: readAtOnce }, readNext));
    return names.flatMap((name) => {
      const each = found.get(name);
      return each === undefined ? [] : [[name, each] as const];
    });
  }

  async #read(name: string): Promise<FoundFolder | undefined> {
    const { folder, harnesses, prices, now = Date.now } = this.#options;
    let scan: FolderScan;
    try {
      scan = await scanFolder(join(folder, name));
    } catch (error) {
      const code = errorCode(error) ?? 'unknown';
      // The folder was removed or replaced during the scan; that change causes the next scan.
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      const reason = `the folder cannot be read (${code})`;
      return { reading: { fingerprint: reason, result: { ok: false, reason } }, directories: [] };
    }
    const { fingerprint, directories, problem } = scan;
    const before = this.#readings.get(name);
    const isSame = before?.fingerprint === fingerprint;
    if (isSame && now() < (before.again?.at ?? Number.POSITIVE_INFINITY)) {
      return { reading: before, directories };
    }
    if (before === undefined && !scan.hasDefinition && this.#arriving !== undefined) {
      const since = this.#arriving.get(name) ?? now();
      if (now() - since < graceMs) return { since, directories };
    }
    const request = { folder: scan.folder, name, harnesses, prices, now: now() };
    const result: ReadAgent | undefined =
      problem === undefined
        ? await this.#slow.read({
            name,
            fingerprint,
            // A server that did not know all its agents would end their runs, so it does not start before (D-427).
            isAwaited: this.#arriving === undefined,
            read: () => readAgentFolder({ ...request, before: before?.result }),
          })
        : { ok: false, reason: problem };
    // Until it has been read, the last reading counts.
    if (result === undefined)
      return { directories, ...(before !== undefined && { reading: before }) };
    const failures = isSame ? (before.again?.failures ?? 0) : 0;
    return { reading: { fingerprint, result, ...laterIf(result, failures, now()) }, directories };
  }

  /**
   * An agent whose edit cannot be read is no longer listed, although its last good reading is still in memory. The edit
   * may have been meant to gate a tool or to exclude a tenant; using the old definition would silently undo that.
   */
  #swap(readings: Map<string, Reading>): void {
    const before = this.#readings;
    this.#readings = readings;
    if (isSame(before, readings)) return;
    const { log } = this.#options;
    const agents: Agent[] = [];
    const problems: BrokenAgent[] = [];
    for (const [folder, { result, fingerprint }] of readings) {
      if (result.ok) {
        agents.push(result.agent);
        if (before.get(folder)?.fingerprint !== fingerprint) this.#warn(result, readings);
      } else {
        const { ok: _ok, isTransient: _isTransient, ...problem } = result;
        problems.push({ folder, ...problem });
        if (before.get(folder)?.fingerprint === fingerprint) continue;
        log.warn('agent folder is broken', { folder, reason: result.reason });
      }
    }
    const byName = new Map(agents.map((agent) => [agent.name, agent]));
    this.#snapshot = Object.freeze({ agents, byName, problems });
    if (this.#arriving !== undefined) logChanges(log, before, readings);
  }

  #warn(
    { agent, warnings }: Extract<ReadAgent, { ok: true }>,
    folders: ReadonlyMap<string, Reading>,
  ): void {
    for (const reason of [...warnings, ...missingCalls(agent, folders)]) {
      this.#options.log.warn('agent folder has a flaw', { folder: agent.name, reason });
    }
  }
}

function laterIf(result: ReadAgent, failures: number, now: number): Pick<Reading, 'again'> {
  if (result.ok || result.isTransient !== true) return {};
  const at = now + Math.min(pauseMs * 2 ** failures, pauseMaxMs);
  return { again: { at, failures: failures + 1 } };
}

/** The result of reading one folder. */
interface FoundFolder {
  readonly directories: FolderScan['directories'];
  /** Absent while there is none. */
  readonly reading?: Reading;
  /** When it was first seen, if it has no `agent.yaml` yet. */
  readonly since?: number;
}

/** Reports the reading to the person who edits agents. */
function logChanges(
  log: Log,
  before: ReadonlyMap<string, Reading>,
  after: ReadonlyMap<string, Reading>,
): void {
  for (const [name, reading] of after) {
    const earlier = before.get(name);
    if (reading === earlier || !reading.result.ok) continue;
    log.info(`agent ${name} ${earlier?.result.ok === true ? 'reloaded' : 'loaded'}`);
  }
  for (const [name, { result }] of before) {
    if (result.ok && !after.has(name)) log.info(`agent ${name} removed`);
  }
}

function isSame(a: ReadonlyMap<string, Reading>, b: ReadonlyMap<string, Reading>): boolean {
  return a.size === b.size && [...b].every(([name, reading]) => a.get(name) === reading);
}

/** Entries that other programs create next to agents. Hidden folders are ignored, too. */
const neverAgents: ReadonlySet<string> = new Set(['node_modules', '__pycache__']);

/** Names of the folders that are agents, sorted; `undefined` when there is no agents folder. */
export async function listFolders(folder: string): Promise<readonly string[] | undefined> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  });
  if (entries === undefined) return undefined;
  const names: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.') || neverAgents.has(entry.name)) continue;
    if (entry.isDirectory() || (await isLinkToFolder(join(folder, entry.name))))
      names.push(entry.name);
  }
  return names.sort();
}

/** Agents may be linked into the agents folder from elsewhere. */
async function isLinkToFolder(path: string): Promise<boolean> {
  if (!(await lstat(path)).isSymbolicLink()) return false;
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
