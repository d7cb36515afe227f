import type { DecidedCall } from '../../app/rules/decided-calls.ts';
import type { Services } from '../../app/services.ts';
import type { RunEventDraft } from '../../domain/run/run-event.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import type { CallEvent } from './raise-calls.ts';
import { type InteractionEvent, type Raising, raiseInteraction } from './raise-interaction.ts';
import { type RaisedWait, type WaitEvent, raiseWait } from './raise-waits.ts';

/** One item of a leg's output: an event, a request to a person, or something else that the run waits for. */
export type LegItem = RunEventDraft | InteractionEvent | WaitEvent | CallEvent;

export interface RaisedItems {
  readonly events: readonly RunEventDraft[];
  /** How many interactions of the run are open now. */
  readonly open: number;
  /** How many times, messages and called runs it waits for now. */
  readonly openWaits: number;
  /** For the audit log and the metrics. */
  readonly decided: readonly DecidedCall[];
  /** Whether a person is to see something of it. */
  readonly isAsking: boolean;
}

interface RaisingAll extends Raising {
  readonly items: readonly LegItem[];
  /** Absent where the service itself asks: it calls no agents. */
  readonly call?: (item: CallEvent) => Promise<RaisedWait>;
}

/** Stores new requests of a leg as interactions, and what else it waits for as rows of their own. */
export async function raiseInteractions(
  services: Pick<Services, 'ids' | 'clock' | 'fanout'>,
  tx: StoreTransaction,
  { items, call, ...raising }: RaisingAll,
): Promise<RaisedItems> {
  const { run } = raising;
  const events: RunEventDraft[] = [];
  const decided: DecidedCall[] = [];
  let { openWaits } = run;
  let isAsking = false;
  for (const item of items) {
    if (isDraft(item)) {
      events.push(item);
      continue;
    }
    if (item.type === 'wait') {
      const wait = isCall(item)
        ? await call?.(item)
        : await raiseWait(services, tx, { ...raising, item });
      if (wait === undefined) continue;
      events.push(...wait.events);
      openWaits += wait.opened;
      decided.push(...wait.decided);
      isAsking ||= wait.isAsking;
      continue;
    }
    isAsking = true;
    const raised = await raiseInteraction(services, tx, { ...raising, item });
    events.push(...raised.events);
    if (raised.decided !== undefined) decided.push(raised.decided);
  }
  // The run's own count includes every interaction that was open before this batch.
  const mayBeOpen = run.pendingInteractions > 0 || isAsking;
  const open = mayBeOpen ? await tx.interactions.countPending(run.id) : 0;
  return { events, open, openWaits, decided, isAsking };
}

export function isDraft(item: LegItem): item is RunEventDraft {
  return 'data' in item;
}

/** Whether a run is to be started: an agent calls another one. */
export function isCall(item: LegItem): item is CallEvent {
  return !isDraft(item) && item.type === 'wait' && item.kind === 'run';
}
