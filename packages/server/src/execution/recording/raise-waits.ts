import { idPrefixes } from '@convoke/contract';
import type { DecidedCall } from '../../app/rules/decided-calls.ts';
import type { Services } from '../../app/services.ts';
import type { RunEventDraft } from '../../domain/run/run-event.ts';
import type { Run } from '../../domain/run/run.ts';
import { type Wait, endedEvent, openWait, startedEvent, takeKept } from '../../domain/run/wait.ts';
import type { HarnessEvent } from '../../ports/harness.ts';
import type { StoreTransaction } from '../../ports/store.ts';

export type WaitEvent = Exclude<Extract<HarnessEvent, { type: 'wait' }>, { kind: 'run' }>;

/** Changes that a wait, or a call, has made. */
export interface RaisedWait {
  readonly events: readonly RunEventDraft[];
  /** How many of the run's waits it has opened: none where its message had come before. */
  readonly opened: 0 | 1;
  /** For the audit log and the metrics. */
  readonly decided: readonly DecidedCall[];
  /** Whether a person is to allow it first. */
  readonly isAsking: boolean;
}

export const nothingRaised: RaisedWait = { events: [], opened: 0, decided: [], isAsking: false };

/** Stores a new wait of a leg. A known `ref` is the same wait, and nothing is written. The run is locked. */
export async function raiseWait(
  { ids, clock }: Pick<Services, 'ids' | 'clock'>,
  tx: StoreTransaction,
  { run, item, waitMs }: { readonly run: Run; readonly item: WaitEvent; readonly waitMs: number },
): Promise<RaisedWait> {
  // It is about to end, and waits for nothing more.
  if (run.status === 'cancelling') return nothingRaised;
  if ((await tx.waits.findByRef(run.id, item.ref)) !== undefined) return nothingRaised;
  const now = clock.now();
  const { ref, kind, name, due = { inMs: waitMs } } = item;
  const kept = kind === 'signal' ? await tx.waits.kept(run.id, name) : undefined;
  if (kept !== undefined) {
    const number = await tx.waits.nextNumber(run.id);
    const taken = takeKept(kept, ref, { number, now });
    await tx.waits.settle(taken);
    return { ...nothingRaised, events: [startedEvent(taken), endedEvent(taken)] };
  }
  const { organizationId, tenantId, sessionId, id: runId } = run;
  const place = { id: ids.next(idPrefixes.wait), organizationId, tenantId, sessionId, runId };
  const wait: Wait = openWait(place, { ref, kind, name, due }, now);
  await tx.waits.insert(wait);
  return { ...nothingRaised, events: [startedEvent(wait)], opened: 1 };
}
