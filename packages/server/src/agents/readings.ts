import { systemClock } from '../runtime/clock.ts';
import { inBackground } from '../runtime/in-background.ts';
import { within } from '../runtime/within.ts';
import type { ReadAgent } from './agent-folder.ts';

/** How many folders may be read beside the scans. Each may execute a program. */
const slowMax = 16;

interface Reading {
  readonly name: string;
  readonly fingerprint: string;
  /** Whether the scan waits for it, however long it takes. */
  readonly isAwaited: boolean;
  readonly read: () => Promise<ReadAgent>;
}

interface SlowReading {
  readonly fingerprint: string;
  result?: ReadAgent;
}

/**
 * Reads folders for scans. One that takes long, because its agent is slow to load, is read on beside them, so that
 * other folders need not wait for it (D-427). A folder is read once at a time.
 */
export class Readings {
  readonly #options: { readonly patienceMs: number; readonly onReady: () => void };
  /** By name. Those that have ended wait for the scan that asks for them. */
  readonly #slow = new Map<string, SlowReading>();

  /** `onReady` is called when a scan should ask for a result. */
  constructor(options: { readonly patienceMs: number; readonly onReady: () => void }) {
    this.#options = options;
  }

  /** Undefined while the folder is being read: a later scan gets the result. */
  async read({ name, fingerprint, isAwaited, read }: Reading): Promise<ReadAgent | undefined> {
    const slow = this.#slow.get(name);
    if (slow !== undefined) {
      if (slow.result === undefined) return undefined;
      this.#slow.delete(name);
      // The folder may have changed since.
      if (slow.fingerprint === fingerprint) return slow.result;
    }
    const reading = read();
    if (isAwaited) return reading;
    const patience = { clock: systemClock, ms: this.#options.patienceMs, late: undefined };
    const result = await within(patience, reading);
    if (result !== undefined) return result;
    if (this.#slow.size >= slowMax) return reading;
    const begun: SlowReading = { fingerprint };
    this.#slow.set(name, begun);
    inBackground(
      reading.then((result) => {
        begun.result = result;
        this.#options.onReady();
      }),
    );
    return undefined;
  }

  /** Drops results of folders that no longer exist. */
  retain(names: ReadonlySet<string>): void {
    for (const [name, { result }] of this.#slow) {
      if (result !== undefined && !names.has(name)) this.#slow.delete(name);
    }
  }
}
