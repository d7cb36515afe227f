import type { Services } from '../app/services.ts';
import type { Effects } from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import type { LegWriter } from './leg-writer.ts';

const outputMaxCharacters = 64 * 1024;

export interface LedgerParts {
  readonly claimed: ClaimedLeg;
  readonly writer: LegWriter;
  /** Aborted when the leg is over: no call may begin any more. */
  readonly signal: AbortSignal;
}

export interface CallLedger extends Effects {
  /** Calls that have begun and not ended. */
  readonly inFlight: number;
}

/** The ledger of tool calls for one leg (D-80). Entries share the commits of the leg's events. */
export function callLedger(
  { clock }: Pick<Services, 'clock'>,
  { claimed, writer, signal }: LedgerParts,
): CallLedger {
  const { epoch, runId } = claimed.holder;
  const inFlight = new Set<string>();
  /** A call is begun once per leg, however often the harness asks. */
  const begun = new Set<string>();
  return {
    get inFlight() {
      return inFlight.size;
    },
    async begin(call) {
      if (begun.has(call.ref) || signal.aborted) return false;
      begun.add(call.ref);
      inFlight.add(call.ref);
      const mayStart = await writer.beginCall({ ...call, epoch, begunAt: clock.now() });
      // An intent that became durable meanwhile is in doubt: harmless, and the only safe reading.
      if (mayStart && !signal.aborted) return true;
      inFlight.delete(call.ref);
      return false;
    },
    async end(ref, { ok, output }) {
      const result = { ok, output: output.slice(0, outputMaxCharacters) };
      await writer.endCall({ ref, epoch, result, endedAt: clock.now() });
      inFlight.delete(ref);
    },
    key: (ref) => `${runId}.${ref}`,
  };
}
