import { CallLedger } from '../../src/execution/call-ledger.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import type { LegRules } from '../../src/execution/recording/decide-calls.ts';
import { LegWriter } from '../../src/execution/recording/leg-writer.ts';
import { type RunFixture, hour, maker, noRules } from './run-fixture.ts';

export interface LedgerParts {
  readonly rules?: LegRules;
  /** Another process executed an earlier leg of the run. */
  readonly isLater?: boolean;
  readonly saveFolder?: () => Promise<undefined>;
}

/** The ledger and the writer of a process that executes the leg. */
export function openLedger(
  services: RunFixture,
  claimed: ClaimedLeg,
  { rules = noRules, isLater = false, saveFolder = async () => undefined }: LedgerParts = {},
): { readonly writer: LegWriter; readonly ledger: CallLedger } {
  const { holder, run } = claimed;
  const { lastSeq, lossesTotal, leaseEpoch } = run;
  const told = { onLost: () => {}, onRefused: () => {}, onFailed: () => {} };
  const claimedRun = { lastSeq, lossesTotal, leaseEpoch: leaseEpoch + (isLater ? 1 : 0) };
  const options = { holder, run: claimedRun, waitMs: hour, maker, rules, ...told };
  const writer = new LegWriter(services, options);
  const { signal } = new AbortController();
  return { writer, ledger: new CallLedger(services, { claimed, writer, signal, saveFolder }) };
}
