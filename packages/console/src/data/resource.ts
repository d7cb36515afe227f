import { type ReadonlySignal, type Signal, batch, signal } from '@preact/signals';
import { inBackground } from './in-background.ts';

/** Data of a screen: the last answer stays while the next one is fetched. */
export interface Resource<T> {
  readonly data: ReadonlySignal<T | undefined>;
  readonly error: ReadonlySignal<unknown>;
  readonly isLoading: ReadonlySignal<boolean>;
  /** Fetches again. Calls during a fetch share one more fetch after it, so a burst of notices costs two requests. */
  refresh(): Promise<void>;
  /** Puts a record in place that another answer brought. */
  set(value: T): void;
}

export type Read<T> = (signal: AbortSignal) => Promise<T>;

class Entry<T> implements Resource<T> {
  readonly data: Signal<T | undefined> = signal(undefined);
  readonly error: Signal<unknown> = signal(undefined);
  readonly isLoading = signal(false);
  readonly #stop = new AbortController();
  #read: Read<T>;
  #current: Promise<void> | undefined;
  #again = false;

  constructor(read: Read<T>) {
    this.#read = read;
  }

  /** The newest reader is used: it holds the newest client. */
  renew(read: Read<T>): void {
    this.#read = read;
  }

  refresh(): Promise<void> {
    if (this.#current !== undefined) {
      this.#again = true;
      return this.#current;
    }
    this.#current = this.#fetch().finally(() => {
      this.#current = undefined;
    });
    return this.#current;
  }

  set(value: T): void {
    batch(() => {
      this.data.value = value;
      this.error.value = undefined;
    });
  }

  drop(): void {
    this.#stop.abort();
    batch(() => {
      this.data.value = undefined;
      this.error.value = undefined;
    });
  }

  async #fetch(): Promise<void> {
    this.isLoading.value = true;
    do {
      this.#again = false;
      try {
        const value = await this.#read(this.#stop.signal);
        if (this.#stop.signal.aborted) return;
        this.set(value);
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.error.value = error;
      }
    } while (this.#again);
    this.isLoading.value = false;
  }
}

/** More than a person opens in an hour; the oldest one is dropped first. */
const maxEntries = 300;

/** The answers that the page holds, by key. Secrets never come here. */
export class Resources {
  readonly #entries = new Map<string, Entry<unknown>>();

  /** Returns the entry of the key and fetches it if it was never fetched. */
  get<T>(key: string, read: Read<T>): Resource<T> {
    const known = this.#entries.get(key) as Entry<T> | undefined;
    if (known !== undefined) {
      known.renew(read);
      return known;
    }
    const entry = new Entry<T>(read);
    this.#entries.set(key, entry);
    this.#trim();
    inBackground(entry.refresh());
    return entry;
  }

  /** Fetches again what begins with one of the prefixes. */
  refresh(...prefixes: readonly string[]): void {
    for (const [key, entry] of this.#entries) {
      if (prefixes.some((prefix) => key.startsWith(prefix))) inBackground(entry.refresh());
    }
  }

  /** Fetches again what could not be read. */
  retryFailed(): void {
    for (const entry of this.#entries.values()) {
      if (entry.error.value !== undefined) inBackground(entry.refresh());
    }
  }

  /** Forgets everything: another person, or none, is signed in. */
  clear(): void {
    for (const entry of this.#entries.values()) entry.drop();
    this.#entries.clear();
  }

  #trim(): void {
    while (this.#entries.size > maxEntries) {
      const [oldest] = this.#entries.keys();
      if (oldest === undefined) return;
      this.#entries.delete(oldest);
    }
  }
}
