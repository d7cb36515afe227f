/**
 * Whether the disk takes writes. A server that was refused one says that it is not ready, and tries by itself whether
 * that is over: once nobody sends it anything, no other write would find out.
 */
import { open, rm } from 'node:fs/promises';

/** More than a usual group of commits takes: what is left in half-used pages must not look like room. */
const probeBytes = 256 * 1024;

export class SqliteRoom {
  readonly #path: string;
  readonly #commit: () => Promise<unknown>;
  #isRefused = false;
  #probe: Promise<boolean> | undefined;

  /** `commit` changes a page of the database and nothing that it holds. */
  constructor(path: string, commit: () => Promise<unknown>) {
    this.#path = `${path}-probe`;
    this.#commit = commit;
  }

  /** A transaction was refused because the storage could not keep it. */
  noteRefusal(): void {
    this.#isRefused = true;
  }

  /** True without trying while nothing was refused since the last time. Callers at once share one try. */
  takesWrites(): Promise<boolean> {
    if (!this.#isRefused) return Promise.resolve(true);
    this.#probe ??= this.#tryOut().finally(() => {
      this.#probe = undefined;
    });
    return this.#probe;
  }

  async #tryOut(): Promise<boolean> {
    this.#isRefused = false;
    try {
      await writeBytes(this.#path);
      await this.#commit();
    } catch {
      this.#isRefused = true;
    }
    return !this.#isRefused;
  }
}

async function writeBytes(path: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(new Uint8Array(probeBytes));
    await file.sync();
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}
