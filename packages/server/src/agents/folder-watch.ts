import { type FSWatcher, watch } from 'node:fs';
import type { Log } from '../ports/log.ts';
import { errorCode } from '../runtime/error-code.ts';
import type { FolderScan } from './folder-scan.ts';

const settleMs = 100;
const defaultPollMs = 5000;
/** Looking takes at most one part in this many of the time, however many folders there are. */
const pollShare = 50;
const watchedMax = 4096;

export interface WatchFolders {
  readonly log: Log;
  readonly pollMs: number | undefined;
  readonly watch: boolean | undefined;
  /** Looks at everything; answers the directories to be told about from then on. */
  onChange(): Promise<FolderScan['directories']>;
}

/**
 * Calls `onChange` once at the start, soon after each change, and every so often all the same: a
 * watcher can lose events, hit the system's limit, or find nothing to watch yet. Calls never overlap.
 * It watches each directory by itself instead of one tree recursively, because Node builds the latter
 * on Linux from one watch per file, whose errors nobody can catch.
 */
export class FolderWatch {
  readonly #options: WatchFolders;
  readonly #watched = new Map<string, { inode: number; watcher: FSWatcher }>();
  #timer: NodeJS.Timeout | undefined;
  #soon = false;
  #looking: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #warned = false;

  constructor(options: WatchFolders) {
    this.#options = options;
  }

  /** Fails when the first look does: there is nothing to go on with then. */
  async start(): Promise<void> {
    const directories = await this.#options.onChange();
    this.#schedule(this.#follow(directories) ? settleMs : this.#pollMs());
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
    await this.#looking;
  }

  #pollMs(tookMs = 0): number {
    return Math.max(this.#options.pollMs ?? defaultPollMs, tookMs * pollShare);
  }

  #changed(): void {
    if (this.#looking !== undefined) this.#again = true;
    // The first event sets the time; later ones do not push it away, so constant change cannot starve it.
    else if (!this.#soon) this.#schedule(settleMs);
  }

  #schedule(ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#soon = ms === settleMs;
    this.#timer = setTimeout(() => {
      this.#soon = false;
      this.#looking = this.#look();
    }, ms).unref();
  }

  async #look(): Promise<void> {
    const begun = performance.now();
    this.#again = false;
    let unsettled = false;
    try {
      unsettled = this.#follow(await this.#options.onChange());
    } catch (error) {
      this.#options.log.error('agent folders cannot be read', error);
    }
    this.#looking = undefined;
    this.#schedule(unsettled || this.#again ? settleMs : this.#pollMs(performance.now() - begun));
  }

  /** True when a watch was added: something may have happened in there before it was. */
  #follow(directories: FolderScan['directories']): boolean {
    if (this.#closed || this.#options.watch === false) return false;
    const wanted = new Map(
      directories.slice(0, watchedMax).map(({ path, inode }) => [path, inode]),
    );
    for (const [path, { inode }] of this.#watched) {
      if (wanted.get(path) !== inode) this.#forget(path);
    }
    let added = false;
    for (const [path, inode] of wanted) {
      if (this.#watched.has(path)) continue;
      const watcher = this.#open(path);
      if (watcher === undefined) continue;
      this.#watched.set(path, { inode, watcher });
      added = true;
    }
    return added;
  }

  #open(path: string): FSWatcher | undefined {
    try {
      const watcher = watch(path, { persistent: false }, () => this.#changed());
      watcher.on('error', () => this.#forget(path));
      return watcher;
    } catch (error) {
      const code = errorCode(error) ?? 'unknown';
      // Gone again since it was seen: nothing to watch. All else is the system's limit, said once.
      if (code === 'ENOENT' || this.#warned) return undefined;
      this.#warned = true;
      this.#options.log.warn('some agent folders are polled, not watched', { code });
      return undefined;
    }
  }

  #forget(path: string): void {
    this.#watched.get(path)?.watcher.close();
    this.#watched.delete(path);
  }
}
