import { type FSWatcher, watch } from 'node:fs';
import type { Log } from '../ports/log.ts';
import { errorCode } from '../runtime/error-code.ts';
import type { FolderScan } from './folder-scan.ts';

const settleMs = 100;
const defaultPollMs = 5000;
/** Scans take at most 1/50 of the time, however many folders there are. */
const pollShare = 50;
const watchedMax = 4096;

export interface WatchFolders {
  readonly log: Log;
  readonly pollMs: number | undefined;
  readonly watch: boolean | undefined;
  /** Scans all folders. */
  onChange(): Promise<ScanResult>;
}

export interface ScanResult {
  /** The directories to watch from then on. */
  readonly directories: FolderScan['directories'];
  /** When to scan again at the latest, if that is sooner than the next poll. */
  readonly againMs?: number;
}

/**
 * Calls `onChange` once at the start, soon after each change, and at every poll: a watcher can lose events, reach the
 * system's limit, or have nothing to watch yet. Calls never overlap. It watches each directory on its own: on Linux,
 * Node implements a recursive watch with one watch per file, and errors of those cannot be caught.
 */
export class FolderWatch {
  readonly #options: WatchFolders;
  readonly #watched = new Map<string, { inode: number; watcher: FSWatcher }>();
  #timer: NodeJS.Timeout | undefined;
  #soon = false;
  #scanning: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #warned = false;

  constructor(options: WatchFolders) {
    this.#options = options;
  }

  /** Rejects when the first scan fails. */
  async start(): Promise<void> {
    const { directories } = await this.#options.onChange();
    this.#schedule(this.#follow(directories) ? settleMs : this.#pollMs());
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
    await this.#scanning;
  }

  #pollMs(tookMs = 0): number {
    // Whole milliseconds, as in `systemClock`.
    return Math.ceil(Math.max(this.#options.pollMs ?? defaultPollMs, tookMs * pollShare));
  }

  /** Scans soon. */
  changed(): void {
    if (this.#scanning !== undefined) this.#again = true;
    // Later events do not postpone the scan, so that constant changes cannot starve it.
    else if (!this.#soon) this.#schedule(settleMs);
  }

  #schedule(ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#soon = ms === settleMs;
    this.#timer = setTimeout(() => {
      this.#soon = false;
      this.#scanning = this.#scan();
    }, ms).unref();
  }

  async #scan(): Promise<void> {
    const begun = performance.now();
    this.#again = false;
    let unsettled = false;
    let againMs = Number.POSITIVE_INFINITY;
    try {
      const scanned = await this.#options.onChange();
      unsettled = this.#follow(scanned.directories);
      againMs = scanned.againMs ?? againMs;
    } catch (error) {
      this.#options.log.error('agent folders could not be read', error);
    }
    this.#scanning = undefined;
    const pollMs = this.#pollMs(performance.now() - begun);
    this.#schedule(unsettled || this.#again ? settleMs : Math.min(againMs, pollMs));
  }

  /** Returns whether a watch was added: the directory may have changed before that, so the caller scans again. */
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
      const watcher = watch(path, { persistent: false }, () => this.changed());
      watcher.on('error', () => this.#forget(path));
      return watcher;
    } catch (error) {
      const code = errorCode(error) ?? 'unknown';
      // ENOENT: the directory was removed since the scan. Anything else is the system's limit, logged once.
      if (code === 'ENOENT' || this.#warned) return undefined;
      this.#warned = true;
      this.#options.log.warn('some agent folders are polled instead of watched', { code });
      return undefined;
    }
  }

  #forget(path: string): void {
    this.#watched.get(path)?.watcher.close();
    this.#watched.delete(path);
  }
}
