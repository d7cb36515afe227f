/**
 * Checks whether the disk accepts writes. A server whose write was refused reports that it is not ready. It probes the
 * disk itself, because without requests no other write would show that there is space again.
 */
import { open, rm } from 'node:fs/promises';

/** More than a usual group commit needs: free space in half-used pages must not count as space. */
const probeBytes = 256 * 1024;

export class SqliteWriteProbe {
  readonly #path: string;
  readonly #commit: () => Promise<unknown>;
  #isRefused = false;
  #running: Promise<boolean> | undefined;

  /** `commit` writes a page of the database without changing its content. */
  constructor(path: string, commit: () => Promise<unknown>) {
    this.#path = `${path}-probe`;
    this.#commit = commit;
  }

  /** Call when a transaction was rejected because the storage could not keep it. */
  noteRefusal(): void {
    this.#isRefused = true;
  }

  /** Probes only after a refusal, and returns true otherwise. Concurrent callers share one probe. */
  acceptsWrites(): Promise<boolean> {
    if (!this.#isRefused) return Promise.resolve(true);
    this.#running ??= this.#runProbe().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #runProbe(): Promise<boolean> {
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
