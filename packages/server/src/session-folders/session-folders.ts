import { statSync } from 'node:fs';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionId, TenantId } from '@convoke/contract';
import { removeTree } from '../confined-fs/remove-tree.ts';
import type { Agent } from '../domain/agent.ts';
import type { ContextFile, ContextTexts, LoadedContext } from '../domain/context.ts';
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
import { placeAttachedFiles } from './attached-files.ts';
import { keptFolders } from './kept-folders.ts';
import { readContextFile } from './context-files.ts';
import { type FolderPaths, folderPaths } from './folder-paths.ts';
import {
  type FolderManifest,
  emptyManifest,
  isEmpty,
  loadManifest,
  saveManifest,
} from './manifest.ts';
import { offerOutputs } from './outputs.ts';
import { updateSeeds } from './seeds.ts';
import { type AgentSkills, mirrorSkills, readSkills } from './skills.ts';
import { type SyncResult, FolderSync } from './snapshots/sync.ts';
import { type SourceFile, sourceFiles } from './source-files.ts';

const sessionsRemembered = 10_000;
/** Not copied unless the agent enables them: runtimes read them from any folder on their own. */
const instructionFiles = new Set(['CLAUDE.md', 'CLAUDE.local.md']);

/**
 * Session folders under `<dataDir>/workspaces/<tenant>/`: `<session>` is the agent's working folder, `<session>.home`
 * its HOME, `<session>.json` the manifest, and in a cluster `<session>.saved` the state it was last saved at. Ids have
 * no dots, so these names never collide. They are siblings because making a folder is the most expensive part of a
 * session's first leg: a bare session makes only one.
 */
export function openSessionFolders(options: OpenSessionFolders): SessionFolders {
  return new DiskSessionFolders(options);
}

export interface OpenSessionFolders {
  readonly dataDir: string;
  readonly log: Log;
  /** Frameworks that run in process and use no HOME: none is made for them. */
  readonly withoutHome?: ReadonlySet<string>;
  /** Owner of the folders, when agents run their programs as another user than the server's. */
  readonly account?: Account | undefined;
  /** Whether several machines execute runs: then session folders are archived, and restored where they are needed. */
  readonly isClustered?: boolean;
}

/**
 * Files of an agent's folder for sessions. An `Agent` is one reading of its folder, so they are read once per `Agent`.
 */
interface Sources {
  readonly seeds: readonly SourceFile[];
  readonly skills: AgentSkills;
}

/** State of a session's last preparation, so that preparing it again costs nothing unless something changed. */
interface LastPreparation {
  /**
   * Undefined while it is empty: the maps of an empty one take a kilobyte, and most sessions have nothing in theirs.
   */
  readonly manifest: FolderManifest | undefined;
  readonly agent: Agent | undefined;
  readonly files: string;
}

class DiskSessionFolders implements SessionFolders {
  readonly #dataDir: string;
  readonly #log: Log;
  readonly #withoutHome: ReadonlySet<string>;
  readonly #account: Account | undefined;
  readonly #sync: FolderSync | undefined;
  readonly #sources = new WeakMap<Agent, Promise<Sources>>();
  readonly #warnedPaths = new WeakMap<Agent, Set<string>>();
  readonly #prepared = new BoundedMap<SessionId, LastPreparation>(sessionsRemembered);

  constructor(options: OpenSessionFolders) {
    const { dataDir, log, withoutHome = new Set(), account, isClustered = false } = options;
    this.#dataDir = dataDir;
    this.#log = log;
    this.#withoutHome = withoutHome;
    this.#account = account;
    this.#sync = isClustered ? new FolderSync({ dataDir, log, account }) : undefined;
  }

  async prepare(request: PrepareFolder): Promise<PreparedFolder> {
    const { agent, sessionId } = request;
    const paths = folderPaths(this.#dataDir, request);
    const found = await this.#restoreIfStale(paths, request);
    if (found === 'lost') return { found: false };
    let isFirst = false;
    if (found !== 'fresh') {
      // The agent's framework may have changed since the session began.
      const wantsHome = !this.#withoutHome.has(agent.framework);
      if (wantsHome && !isFolder(paths.stateDir)) await this.#makeFolders(paths, agent);
    } else if (await this.#makeFolders(paths, agent)) {
      isFirst = true;
      this.#prepared.set(sessionId, { manifest: undefined, agent: undefined, files: '' });
    }
    const sources = await this.#sourcesOf(agent);
    await this.#update(paths, request, sources);
    if (isFirst) await this.#sync?.markBare(paths);
    const context = await this.#readContext(paths.sessionFolder, agent);
    const { report, texts: skills } = sources.skills;
    return {
      found: true,
      sessionFolder: paths.sessionFolder,
      stateDir: paths.stateDir,
      // Also after a leg that made the folder and was lost before that was recorded.
      ...(found === 'fresh' && this.#sync !== undefined && { startsAs: bareState }),
      ...context.loaded,
      texts: { files: context.files, skills },
      ...(report !== undefined && { skills: report }),
    };
  }

  /** Another machine may have executed the last leg: then the folder on this machine, if any, is out of date. */
  async #restoreIfStale(paths: FolderPaths, request: PrepareFolder): Promise<SyncResult> {
    const { saved, expected, sessionId } = request;
    if (!expected) return 'fresh';
    const exists = isFolder(paths.sessionFolder);
    if (saved === undefined || this.#sync === undefined) return exists ? 'current' : 'lost';
    const mustRestore = request.mustRestore ?? false;
    const found = await this.#sync.restoreIfStale(paths, { saved, exists, mustRestore });
    if (found === 'restored' || found === 'fresh') this.#prepared.delete(sessionId);
    return found;
  }

  async changes({ tenantId, sessionId }: FolderOwner): Promise<FolderChanges | undefined> {
    if (this.#sync === undefined) return undefined;
    const paths = folderPaths(this.#dataDir, { tenantId, sessionId });
    return this.#sync.changes(paths, () => this.#manifestOf(sessionId, paths));
  }

  async content({ tenantId, sessionId }: FolderOwner): Promise<FolderChanges | undefined> {
    const paths = folderPaths(this.#dataDir, { tenantId, sessionId });
    return this.#sync?.content(paths, () => this.#manifestOf(sessionId, paths));
  }

  async takeOutputs({ tenantId, sessionId }: FolderOwner, take: TakeOutput): Promise<void> {
    const paths = folderPaths(this.#dataDir, { tenantId, sessionId });
    const manifest = await this.#manifestOf(sessionId, paths);
    const log = this.#log;
    try {
      const changed = await offerOutputs(paths.sessionFolder, manifest.outputs, { take, log });
      if (changed) await saveManifest(paths.manifest, manifest);
    } finally {
      // Also after a failure: what was taken before it is not taken again.
      this.#remember(sessionId, manifest);
    }
  }

  kept(): Promise<readonly FolderOwner[]> {
    return keptFolders(this.#dataDir);
  }

  async remove(tenantId: TenantId, sessionId: SessionId): Promise<void> {
    const paths = folderPaths(this.#dataDir, { tenantId, sessionId });
    const { sessionFolder, stateDir, manifest } = paths;
    this.#prepared.delete(sessionId);
    await this.#sync?.forget(paths);
    for (const path of [sessionFolder, stateDir, manifest]) await removeTree(path);
  }

  /** Returns whether the session had no folder yet. Makes HOME first: a session folder implies that HOME exists. */
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
    // A failure is not cached: the next leg reads again.
    reading.catch(() => this.#sources.delete(agent));
    return reading;
  }

  async #update(paths: FolderPaths, request: PrepareFolder, sources: Sources): Promise<void> {
    const { agent, sessionId } = request;
    const files = request.files.map(({ id, sha256 }) => `${id} ${sha256}`).join('\n');
    const before = this.#prepared.get(sessionId);
    if (before?.agent === agent && before.files === files) return;
    const manifest = await this.#manifestOf(sessionId, paths);
    const root = paths.sessionFolder;
    if (
      sources.seeds.length + sources.skills.files.length + files.length > 0 ||
      !isEmpty(manifest)
    ) {
      let changed = true;
      try {
        const seeded = await updateSeeds(root, sources.seeds, manifest.seeds);
        const mirrored = await mirrorSkills(root, sources.skills.files, manifest.skills);
        const placed = await placeAttachedFiles(
          root,
          withoutOutputs(request.files, manifest),
          manifest.files,
        );
        changed = seeded || mirrored || placed;
      } finally {
        // Also after a failure: files placed before it belong to the service, not to the session.
        this.#remember(sessionId, manifest);
        if (changed) await saveManifest(paths.manifest, manifest);
      }
    }
    this.#prepared.set(sessionId, { manifest: undefined, agent, files });
    this.#remember(sessionId, manifest);
  }

  /** Read from the disk only if this server has not prepared the session yet. */
  async #manifestOf(sessionId: SessionId, { manifest }: FolderPaths): Promise<FolderManifest> {
    const prepared = this.#prepared.get(sessionId);
    if (prepared === undefined) return loadManifest(manifest);
    return prepared.manifest ?? emptyManifest();
  }

  #remember(sessionId: SessionId, manifest: FolderManifest): void {
    const prepared = this.#prepared.get(sessionId);
    if (prepared === undefined || prepared.manifest === manifest || isEmpty(manifest)) return;
    this.#prepared.set(sessionId, { ...prepared, manifest });
  }

  async #readContext(
    root: string,
    agent: Agent,
  ): Promise<{ readonly loaded: LoadedContext; readonly files: ContextTexts['files'] }> {
    const contextFiles: ContextFile[] = [];
    const files: ContextTexts['files'][number][] = [];
    for (const path of agent.contextFiles) {
      const read = await readContextFile(root, path);
      if (read.ok) {
        contextFiles.push(read.file);
        files.push({ path, text: read.text });
      } else this.#warnOnce(agent, path, read.reason);
    }
    const path = 'CLAUDE.md';
    const read = agent.enableClaudeMd ? await readContextFile(root, path) : undefined;
    if (read?.ok !== true) return { loaded: { contextFiles }, files };
    files.push({ path, text: read.text });
    return { loaded: { contextFiles, claudeMd: read.file }, files };
  }

  /**
   * A missing context file does not fail the run: the session may have deleted or moved it. It is absent from the
   * events, and is logged once per reading of the agent.
   */
  #warnOnce(agent: Agent, path: string, reason: string): void {
    const warned = this.#warnedPaths.get(agent) ?? new Set();
    this.#warnedPaths.set(agent, warned);
    if (warned.has(path)) return;
    warned.add(path);
    this.#log.warn('a context file was left out', { agent: agent.name, path, reason });
  }
}

/** Files that were taken from `outputs/` stay there and are not placed again under `files/`. */
function withoutOutputs(files: PrepareFolder['files'], { outputs }: FolderManifest) {
  const taken = new Set(Array.from(outputs.values(), ({ id }) => id));
  return taken.size === 0 ? files : files.filter(({ id }) => !taken.has(id));
}

async function readSources(agent: Agent): Promise<Sources> {
  const isWanted = (name: string) => agent.enableClaudeMd || !instructionFiles.has(name);
  const seeds = await sourceFiles(join(agent.folder, 'workspace'), isWanted);
  return { seeds, skills: await readSkills(agent) };
}

/**
 * Synchronous on purpose: the lookup is served from the kernel's cache, and going through the thread pool would cost
 * ten times as much on every leg.
 */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
