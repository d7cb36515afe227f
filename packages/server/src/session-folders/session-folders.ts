import { statSync } from 'node:fs';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type SessionId, type TenantId, idPattern } from '@convoke/contract';
import { removeTree } from '../confined-fs/remove-tree.ts';
import type { Agent } from '../domain/agent.ts';
import type { ContextFile, LoadedContext } from '../domain/context.ts';
import { bareState } from '../domain/folder-snapshot.ts';
import type { Log } from '../ports/log.ts';
import type { Account } from '../ports/sandbox.ts';
import type {
  PrepareFolder,
  PreparedFolder,
  FolderOwner,
  TakeOutput,
  FolderChanges,
  SessionFolders,
} from '../ports/session-folders.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';
import { placeFiles } from './attached-files.ts';
import { readContextFile } from './context-files.ts';
import { type FolderManifest, emptyRecord, isEmpty, loadRecord, saveRecord } from './manifest.ts';
import { offerOutputs } from './outputs.ts';
import { updateSeeds } from './seeds.ts';
import { type AgentSkills, mirrorSkills, readSkills } from './skills.ts';
import type { FolderPaths } from './snapshots/archive.ts';
import { type SyncResult, FolderSync } from './snapshots/sync.ts';
import { type SourceFile, sourceFiles } from './source-files.ts';

const sessionsRemembered = 10_000;
/** Left out unless the agent asks for them: runtimes read them on their own wherever they lie. */
const instructionFiles = new Set(['CLAUDE.md', 'CLAUDE.local.md']);

/**
 * Session folders under `<dataDir>/workspaces/<tenant>/`: `<session>` is the agent's, `<session>.home` its HOME,
 * `<session>.json` the service's memory of what it put there, `<session>.saved` the state it was last saved at, where
 * sessions go from machine to machine. No id has a dot, so no two of them meet. They lie
 * side by side because making a folder is by far the dearest part of a session's first leg: a bare session
 * makes just one.
 */
export function openSessionFolders(options: OpenSessionFolders): SessionFolders {
  return new DiskSessionFolders(options);
}

export interface OpenSessionFolders {
  readonly dataDir: string;
  readonly log: Log;
  /** Frameworks that run in process and never look at a HOME: theirs is not made. */
  readonly withoutHome?: ReadonlySet<string>;
  /** Whose the folders are, when agents run their programs as another user than the server's. */
  readonly account?: Account | undefined;
  /** Whether sessions go from machine to machine, and their workspaces with them. */
  readonly follow?: boolean;
}

/** What an agent's folder holds for sessions. An `Agent` is one reading of its folder, so this is read once per `Agent`. */
interface Sources {
  readonly seeds: readonly SourceFile[];
  readonly skills: AgentSkills;
}

/** What a session was prepared with last, so that preparing it again costs nothing unless something changed. */
interface Prepared {
  readonly record: FolderManifest;
  readonly agent: Agent | undefined;
  readonly files: string;
}

class DiskSessionFolders implements SessionFolders {
  readonly #dataDir: string;
  readonly #log: Log;
  readonly #withoutHome: ReadonlySet<string>;
  readonly #account: Account | undefined;
  readonly #following: FolderSync | undefined;
  readonly #sources = new WeakMap<Agent, Promise<Sources>>();
  readonly #complaints = new WeakMap<Agent, Set<string>>();
  readonly #prepared = new BoundedMap<SessionId, Prepared>(sessionsRemembered);

  constructor(options: OpenSessionFolders) {
    const { dataDir, log, withoutHome = new Set(), account, follow = false } = options;
    this.#dataDir = dataDir;
    this.#log = log;
    this.#withoutHome = withoutHome;
    this.#account = account;
    this.#following = follow ? new FolderSync({ dataDir, log, account }) : undefined;
  }

  async prepare(request: PrepareFolder): Promise<PreparedFolder> {
    const { agent, sessionId } = request;
    const place = this.#placeOf(request.tenantId, sessionId);
    const found = await this.#bringUp(place, request);
    if (found === 'lost') return { found: false };
    let isFirst = false;
    if (found !== 'fresh') {
      // The agent may be of another framework now than when the session began.
      const wantsHome = !this.#withoutHome.has(agent.framework);
      if (wantsHome && !isFolder(place.stateDir)) await this.#makeFolders(place, agent);
    } else if (await this.#makeFolders(place, agent)) {
      isFirst = true;
      this.#prepared.set(sessionId, { record: emptyRecord(), agent: undefined, files: '' });
    }
    const sources = await this.#sourcesOf(agent);
    await this.#update(place, request, sources);
    if (isFirst) await this.#following?.startFrom(place);
    const context = await this.#readContext(place.sessionFolder, agent);
    const { report } = sources.skills;
    return {
      found: true,
      sessionFolder: place.sessionFolder,
      stateDir: place.stateDir,
      ...(isFirst && this.#following !== undefined && { startsAs: bareState }),
      ...context,
      ...(report !== undefined && { skills: report }),
    };
  }

  /** Another machine may have executed the last leg: then what lies here, if anything, is of an earlier time. */
  async #bringUp(place: FolderPaths, request: PrepareFolder): Promise<SyncResult> {
    const { saved, expected, sessionId } = request;
    if (!expected) return 'fresh';
    const isThere = isFolder(place.sessionFolder);
    if (saved === undefined || this.#following === undefined) return isThere ? 'current' : 'lost';
    const found = await this.#following.restoreIfStale(place, { saved, isThere });
    if (found === 'restored') this.#prepared.delete(sessionId);
    return found;
  }

  async changes({ tenantId, sessionId }: FolderOwner): Promise<FolderChanges | undefined> {
    const place = this.#placeOf(tenantId, sessionId);
    const known = this.#prepared.get(sessionId)?.record;
    return this.#following?.changes(place, async () => known ?? (await loadRecord(place.record)));
  }

  async takeOutputs({ tenantId, sessionId }: FolderOwner, take: TakeOutput): Promise<void> {
    const place = this.#placeOf(tenantId, sessionId);
    const record = this.#prepared.get(sessionId)?.record ?? (await loadRecord(place.record));
    const log = this.#log;
    const changed = await offerOutputs(place.sessionFolder, record.outputs, { take, log });
    if (changed) await saveRecord(place.record, record);
  }

  async remove(tenantId: TenantId, sessionId: SessionId): Promise<void> {
    const place = this.#placeOf(tenantId, sessionId);
    const { sessionFolder, stateDir, record } = place;
    this.#prepared.delete(sessionId);
    await this.#following?.forget(place);
    for (const path of [sessionFolder, stateDir, record]) await removeTree(path);
  }

  #placeOf(tenantId: TenantId, sessionId: SessionId): FolderPaths {
    // Ids become folder names: whatever is not one must not become a path.
    if (!idPattern.test(tenantId) || !idPattern.test(sessionId)) throw new Error('not an id');
    const sessionFolder = join(this.#dataDir, 'workspaces', tenantId, sessionId);
    return { sessionFolder, stateDir: `${sessionFolder}.home`, record: `${sessionFolder}.json` };
  }

  /** True when the session had no folder yet. The home comes first: where there is a workspace there is a home. */
  async #makeFolders({ sessionFolder, stateDir }: FolderPaths, agent: Agent): Promise<boolean> {
    const options = { recursive: true, mode: 0o700 } as const;
    if (this.#withoutHome.has(agent.framework)) {
      return (await mkdir(sessionFolder, options)) !== undefined;
    }
    await mkdir(stateDir, options);
    const isFirst = (await mkdir(sessionFolder, options)) !== undefined;
    if (this.#account === undefined) return isFirst;
    for (const folder of [stateDir, sessionFolder])
      await chown(folder, this.#account.uid, this.#account.gid);
    return isFirst;
  }

  #sourcesOf(agent: Agent): Promise<Sources> {
    const known = this.#sources.get(agent);
    if (known !== undefined) return known;
    const reading = readSources(agent);
    this.#sources.set(agent, reading);
    // A failure is not remembered: the next leg looks again.
    reading.catch(() => this.#sources.delete(agent));
    return reading;
  }

  async #update(place: FolderPaths, request: PrepareFolder, sources: Sources): Promise<void> {
    const { agent, sessionId } = request;
    const files = request.files.map(({ id, sha256 }) => `${id} ${sha256}`).join('\n');
    const before = this.#prepared.get(sessionId);
    if (before?.agent === agent && before.files === files) return;
    const record = before?.record ?? (await loadRecord(place.record));
    const root = place.sessionFolder;
    if (sources.seeds.length + sources.skills.files.length + files.length > 0 || !isEmpty(record)) {
      let changed = true;
      try {
        const seeded = await updateSeeds(root, sources.seeds, record.seeds);
        const mirrored = await mirrorSkills(root, sources.skills.files, record.skills);
        const placed = await placeFiles(root, given(request.files, record), record.files);
        changed = seeded || mirrored || placed;
      } finally {
        // Also after a failure: what was placed until then is the service's, not the session's.
        if (changed) await saveRecord(place.record, record);
      }
    }
    this.#prepared.set(sessionId, { record, agent, files });
  }

  async #readContext(root: string, agent: Agent): Promise<LoadedContext> {
    const contextFiles: ContextFile[] = [];
    for (const path of agent.contextFiles) {
      const read = await readContextFile(root, path);
      if (read.ok) contextFiles.push(read.file);
      else this.#complain(agent, path, read.reason);
    }
    if (!agent.enableClaudeMd) return { contextFiles };
    const read = await readContextFile(root, 'CLAUDE.md');
    return read.ok ? { contextFiles, claudeMd: read.file } : { contextFiles };
  }

  /**
   * A context file that is not there does not stop a run: the session may have deleted or moved it. It
   * is announced by its absence from the events, and said in the log once per reading of the agent.
   */
  #complain(agent: Agent, path: string, reason: string): void {
    const said = this.#complaints.get(agent) ?? new Set();
    this.#complaints.set(agent, said);
    if (said.has(path)) return;
    said.add(path);
    this.#log.warn('a context file was left out', { agent: agent.name, path, reason });
  }
}

/** What the agent itself left stays where it left it. */
function given(files: PrepareFolder['files'], { outputs }: FolderManifest) {
  const left = new Set(Array.from(outputs.values(), ({ id }) => id));
  return left.size === 0 ? files : files.filter(({ id }) => !left.has(id));
}

async function readSources(agent: Agent): Promise<Sources> {
  const isWanted = (name: string) => agent.enableClaudeMd || !instructionFiles.has(name);
  const seeds = await sourceFiles(join(agent.folder, 'workspace'), isWanted);
  return { seeds, skills: await readSkills(agent) };
}

/**
 * Synchronous on purpose: it is one lookup of a name that the kernel has at hand, and a way through the
 * thread pool costs ten times as much on every leg.
 */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
