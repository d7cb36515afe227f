import type { Services } from '../app/services.ts';
import type { Effects } from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import type { LegWriter } from './leg-writer.ts';

const outputMaxCharacters = 64 * 1024;

/** The ledger of tool calls for one leg (D-80). Entries share the commits of the leg's events. */
export function callLedger(
  { clock }: Pick<Services, 'clock'>,
  { claimed, writer }: { readonly claimed: ClaimedLeg; readonly writer: LegWriter },
): Effects {
  const { epoch } = claimed.holder;
  /** A call is begun once per leg, however often the harness asks. */
  const begun = new Set<string>();
  return {
    async begin(call) {
      if (begun.has(call.ref)) return false;
      begun.add(call.ref);
      return writer.beginCall({ ...call, epoch, begunAt: clock.now() });
    },
    async end(ref, { ok, output }) {
      const result = { ok, output: output.slice(0, outputMaxCharacters) };
      await writer.endCall({ ref, epoch, result, endedAt: clock.now() });
    },
  };
}
