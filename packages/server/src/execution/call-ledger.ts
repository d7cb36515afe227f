import type { Services } from '../app/services.ts';
import type { FolderState } from '../domain/folder-snapshot.ts';
import type { Json } from '../domain/json.ts';
import type { CallResult } from '../domain/run/tool-call.ts';
import type { Effects, NewCall } from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import type { LegWriter } from './recording/leg-writer.ts';
import type { SaveFolder } from './folders/save-before-call.ts';

/** Agents as code refuse a larger result themselves, and store with it what its step said (D-176). */
const outputMaxCharacters = 1024 * 1024;

export interface LedgerParts {
  readonly claimed: ClaimedLeg;
  readonly writer: LegWriter;
  /** Aborted when the leg is over: no call may begin any more. */
  readonly signal: AbortSignal;
  readonly saveFolder: SaveFolder;
  /** Called before a recovery point is stored with a result. */
  readonly beforePoint?: () => Promise<void> | undefined;
}

/** The ledger of tool calls for one leg (D-80). Entries share the commits of the leg's events. */
export class CallLedger implements Effects {
  readonly #clock: Services['clock'];
  readonly #parts: LedgerParts;
  /** A call is begun once per leg, however often the harness asks. */
  readonly #known = new Set<string>();
  readonly #inFlight = new Set<string>();
  /** Calls in flight that may change the session folder. */
  readonly #changing = new Set<string>();
  /** Resolves when the folder is no longer being archived: until then no call begins. */
  #saving: Promise<void> | undefined;

  constructor({ clock }: Pick<Services, 'clock'>, parts: LedgerParts) {
    this.#clock = clock;
    this.#parts = parts;
  }

  /** Calls that have begun and not ended. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  async begin(call: NewCall): Promise<boolean> {
    const { signal } = this.#parts;
    if (this.#known.has(call.ref) || signal.aborted) return false;
    this.#known.add(call.ref);
    this.#inFlight.add(call.ref);
    const mayStart = await this.#beginInTurn(call);
    // An intent that became durable in the meantime is in doubt: harmless, and the only safe reading.
    if (mayStart && !signal.aborted) return true;
    this.#forget(call.ref);
    return false;
  }

  async end(ref: string, { ok, output }: CallResult, point?: Json): Promise<void> {
    const { claimed, writer, beforePoint } = this.#parts;
    const { epoch } = claimed.holder;
    if (point !== undefined) await beforePoint?.();
    const result = { ok, output: output.slice(0, outputMaxCharacters) };
    await writer.endCall({ ref, epoch, result, endedAt: this.#clock.now() }, point);
    this.#forget(ref);
  }

  key(ref: string): string {
    return `${this.#parts.claimed.holder.runId}.${ref}`;
  }

  async #beginInTurn(call: NewCall): Promise<boolean> {
    const { claimed, writer } = this.#parts;
    while (this.#saving !== undefined) await this.#saving;
    const { epoch } = claimed.holder;
    const write = (snapshot?: FolderState) =>
      writer.beginCall({ ...call, epoch, begunAt: this.#clock.now() }, snapshot);
    if (call.touches !== 'outside') {
      this.#changing.add(call.ref);
      return write();
    }
    // An archive of a folder that is being changed would have half of a change, and one that may be repeated needs none.
    return this.#changing.size > 0 || call.isRepeatable === true
      ? write()
      : this.#beginSaved(write);
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
    this.#inFlight.delete(ref);
    this.#changing.delete(ref);
  }
}
