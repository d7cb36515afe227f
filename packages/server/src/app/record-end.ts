import type { SessionId } from '@convoke/contract';
import { type RunEventDraft, lastEvents } from '../domain/run/run-event.ts';
import {
  type EndedRun,
  type OpenRun,
  type QueuedRun,
  type Run,
  type RunOutcome,
  endRun,
} from '../domain/run/run.ts';
import { type Session, changeTime, isNextDue, runEnded } from '../domain/session.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { type RunInSession, recordMove } from './record.ts';
import { settleCaller } from './runs/called-runs.ts';
import type { Services } from './services.ts';

type Ender = Pick<Services, 'clock' | 'fanout' | 'metrics' | 'traces'>;

/** Ends a run, and makes the next queued run of its session ready. */
export async function recordEnd(
  services: Ender,
  tx: StoreTransaction,
  end: RunEnd,
): Promise<EndedRun> {
  const { run, session } = await recordOwnEnd(services, tx, end);
  if (isNextDue(session)) {
    readyNext(services, tx, { sessionId: session.id, now: run.endedAt });
  }
  return run;
}

/**
 * Ends a run: appends its last events, cancels what it waits for, frees its session and tells the run that called it.
 * Leaves the next queued run to the caller. Returns the run and its session as they are stored.
 */
export async function recordOwnEnd(
  services: Ender,
  tx: StoreTransaction,
  { seen, outcome, before = [], recovered = false }: RunEnd,
): Promise<RunInSession<EndedRun>> {
  const { run, session } = seen;
  const now = changeTime(session, services.clock.now());
  await cancelOpen(services, tx, { run, now });
  const freed = session.currentRunId === run.id ? runEnded(session, now) : session;
  // Also when it was continued after a loss and ends on its own (D-87).
  const isRecovered = recovered || run.lossesTotal > 0;
  const ended = recordMove(services, tx, {
    seen,
    move: {
      run: endRun(run, outcome, { now, recovered: isRecovered }),
      session: freed,
      events: [...before, ...lastEvents(run.id, outcome, { recovered: isRecovered })],
    },
  });
  tx.onCommit(() => {
    services.metrics.runsEnded.add(
      1,
      ended.status,
      outcome.status === 'failed' ? outcome.code : '',
    );
    const seconds = Math.max(ended.endedAt - ended.createdAt, 0) / 1000;
    services.metrics.invocationSeconds.observe(seconds, ended.agentName, ended.error?.code ?? '');
    if (recovered) services.metrics.runsRecovered.add(1);
    services.traces.runs?.ended(ended);
  });
  await settleCaller(services, tx, ended);
  return { run: ended, session: freed };
}

/**
 * Cancels the open interactions and waits of a run that is to end. From this commit on the runs that it has called are
 * doomed, however many, and a pass cancels them: nothing that holds a caller waits for a run that it called (D-922).
 */
export async function cancelOpen(
  { traces, fanout }: Pick<Services, 'traces' | 'fanout'>,
  tx: StoreTransaction,
  { run, now }: { readonly run: Run; readonly now: number },
): Promise<void> {
  if (run.openWaits > 0) {
    await tx.waits.cancelOpen(run.id);
    tx.onCommit(() => fanout.wake('work'));
  }
  if (run.pendingInteractions === 0) return;
  const cancelled = await tx.interactions.cancelPending(run.id);
  tx.onCommit(() => {
    for (const interaction of cancelled) traces.runs?.waited(run, { interaction, to: now });
  });
}

/** Makes the next queued run of a session ready: a worker claims it. */
export function readyNext(
  { fanout }: Pick<Services, 'fanout'>,
  tx: StoreTransaction,
  { sessionId, now }: { readonly sessionId: SessionId; readonly now: number },
): void {
  tx.runs.readyNext(sessionId, now);
  tx.onCommit(() => fanout.wake('work'));
}

/** Cancels queued runs. The counters of `session` no longer include them. */
export async function recordQueueEnd(
  services: Ender,
  tx: StoreTransaction,
  { session, queue }: { readonly session: Session; readonly queue: readonly QueuedRun[] },
): Promise<void> {
  for (const run of queue) {
    await recordEnd(services, tx, { seen: { session, run }, outcome: { status: 'cancelled' } });
  }
}

export interface RunEnd {
  readonly seen: RunInSession<OpenRun>;
  readonly outcome: RunOutcome;
  /** Events to append before the terminal one. */
  readonly before?: readonly RunEventDraft[];
  readonly recovered?: boolean;
}
