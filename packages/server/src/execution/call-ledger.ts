import type { Services } from '../app/services.ts';
import type { FolderState } from '../domain/folder-snapshot.ts';
import type { Effects } from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import type { LegWriter } from './leg-writer.ts';
import type { SaveFolder } from './save-before-call.ts';

const outputMaxCharacters = 64 * 1024;

export interface LedgerParts {
  readonly claimed: ClaimedLeg;
  readonly writer: LegWriter;
  /** Aborted when the leg is over: no call may begin any more. */
  readonly signal: AbortSignal;
  readonly saveFolder: SaveFolder;
}

type NewCall = Parameters<Effects['begin']>[0];

export interface CallLedger extends Effects {
  /** Calls that have begun and not ended. */
  readonly inFlight: number;
}

/** The ledger of tool calls for one leg (D-80). Entries share the commits of the leg's events. */
export function callLedger(
  { clock }: Pick<Services, 'clock'>,
  { claimed, writer, signal, saveFolder }: LedgerParts,
): CallLedger {
  const { epoch, runId } = claimed.holder;
  const inFlight = new Set<string>();
  /** A call is begun once per leg, however often the harness asks. */
  const begun = new Set<string>();
  /** Calls in flight that may change the session folder. */
  const changing = new Set<string>();
  /** Resolves when the folder is no longer being archived: until then no call begins. */
  let saving: Promise<void> | undefined;

  async function beginInTurn(call: NewCall): Promise<boolean> {
    while (saving !== undefined) await saving;
    const write = (snapshot?: FolderState) =>
      writer.beginCall({ ...call, epoch, begunAt: clock.now() }, snapshot);
    if (call.touches !== 'outside') {
      changing.add(call.ref);
      return write();
    }
    // An archive of a folder that is being changed would have half of a change.
    return changing.size > 0 ? write() : beginSaved(write);
  }

  async function beginSaved(write: (snapshot?: FolderState) => Promise<boolean>): Promise<boolean> {
    const turn = Promise.withResolvers<void>();
    saving = turn.promise;
    const release = () => {
      if (saving === turn.promise) saving = undefined;
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

  return {
    get inFlight() {
      return inFlight.size;
    },
    async begin(call) {
      if (begun.has(call.ref) || signal.aborted) return false;
      begun.add(call.ref);
      inFlight.add(call.ref);
      const mayStart = await beginInTurn(call);
      // An intent that became durable meanwhile is in doubt: harmless, and the only safe reading.
      if (mayStart && !signal.aborted) return true;
      inFlight.delete(call.ref);
      changing.delete(call.ref);
      return false;
    },
    async end(ref, { ok, output }) {
      const result = { ok, output: output.slice(0, outputMaxCharacters) };
      await writer.endCall({ ref, epoch, result, endedAt: clock.now() });
      inFlight.delete(ref);
      changing.delete(ref);
    },
    key: (ref) => `${runId}.${ref}`,
  };
}
