import type { Services } from '../app/services.ts';
import type { FolderState } from '../domain/folder-snapshot.ts';
import type { CallResult } from '../domain/run/tool-call.ts';
import type { Effects, NewCall } from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import type { LegWriter } from './recording/leg-writer.ts';
import type { SaveFolder } from './folders/save-before-call.ts';

const outputMaxCharacters = 64 * 1024;

export interface LedgerParts {
  readonly claimed: ClaimedLeg;
  readonly writer: LegWriter;
  /** Aborted when the leg is over: no call may begin any more. */
  readonly signal: AbortSignal;
  readonly saveFolder: SaveFolder;
}

/** Made when the first call is begun: most legs of a chat begin none. */
interface BegunCalls {
  /** A call is begun once per leg, however often the harness asks. */
  readonly known: Set<string>;
  readonly inFlight: Set<string>;
  /** Calls in flight that may change the session folder. */
  readonly changing: Set<string>;
}

/** The ledger of tool calls for one leg (D-80). Entries share the commits of the leg's events. */
export class CallLedger implements Effects {
  readonly #clock: Services['clock'];
  readonly #parts: LedgerParts;
  #begun: BegunCalls | undefined;
  /** Resolves when the folder is no longer being archived: until then no call begins. */
  #saving: Promise<void> | undefined;

  constructor({ clock }: Pick<Services, 'clock'>, parts: LedgerParts) {
    this.#clock = clock;
    this.#parts = parts;
  }

  /** Calls that have begun and not ended. */
  get inFlight(): number {
    return this.#begun?.inFlight.size ?? 0;
  }

  async begin(call: NewCall): Promise<boolean> {
    const { signal } = this.#parts;
    this.#begun ??= { known: new Set(), inFlight: new Set(), changing: new Set() };
    const begun = this.#begun;
    if (begun.known.has(call.ref) || signal.aborted) return false;
    begun.known.add(call.ref);
    begun.inFlight.add(call.ref);
    const mayStart = await this.#beginInTurn(call, begun);
    // An intent that became durable meanwhile is in doubt: harmless, and the only safe reading.
    if (mayStart && !signal.aborted) return true;
    this.#forget(call.ref);
    return false;
  }

  async end(ref: string, { ok, output }: CallResult): Promise<void> {
    const { claimed, writer } = this.#parts;
    const { epoch } = claimed.holder;
    const result = { ok, output: output.slice(0, outputMaxCharacters) };
    await writer.endCall({ ref, epoch, result, endedAt: this.#clock.now() });
    this.#forget(ref);
  }

  key(ref: string): string {
    return `${this.#parts.claimed.holder.runId}.${ref}`;
  }

  async #beginInTurn(call: NewCall, { changing }: BegunCalls): Promise<boolean> {
    const { claimed, writer } = this.#parts;
    while (this.#saving !== undefined) await this.#saving;
    const { epoch } = claimed.holder;
    const write = (snapshot?: FolderState) =>
      writer.beginCall({ ...call, epoch, begunAt: this.#clock.now() }, snapshot);
    if (call.touches !== 'outside') {
      changing.add(call.ref);
      return write();
    }
    // An archive of a folder that is being changed would have half of a change.
    return changing.size > 0 ? write() : this.#beginSaved(write);
  }

  async #beginSaved(write: (snapshot?: FolderState) => Promise<boolean>): Promise<boolean> {
    const { saveFolder, signal } = this.#parts;
    const turn = Promise.withResolvers<void>();
    this.#saving = turn.promise;
    const release = () => {
      if (this.#saving === turn.promise) this.#saving = undefined;
      turn.resolve();
    };
    try {
      const saved = await saveFolder();
      // Other calls then share the commit.
      if (saved === undefined) release();
      const mayStart = !signal.aborted && (await write(saved?.state));
      await (mayStart ? saved?.settle() : saved?.abandon());
      return mayStart;
    } finally {
      release();
    }
  }

  #forget(ref: string): void {
    this.#begun?.inFlight.delete(ref);
    this.#begun?.changing.delete(ref);
  }
}
