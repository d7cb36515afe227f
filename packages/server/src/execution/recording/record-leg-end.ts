import { recordOwnEnd, recordQueueEnd } from '../../app/record-end.ts';
import { type RunInSession, type RunMove, recordMove, recordSession } from '../../app/record.ts';
import type { Services } from '../../app/services.ts';
import type { FolderState } from '../../domain/folder-snapshot.ts';
import type { Json } from '../../domain/json.ts';
import { outcomeOfLostWorker } from '../../domain/run/recovery.ts';
import { interruptRun } from '../../domain/run/run-interruption.ts';
import { recordProgress } from '../../domain/run/run-progress.ts';
import {
  type LeasedRun,
  type RunOutcome,
  type StartedRun,
  attemptOf,
  parkRun,
  unparkRun,
} from '../../domain/run/run.ts';
import {
  type Session,
  interactionsChanged,
  loseFolder,
  queuedRunsCancelled,
} from '../../domain/session.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import type { RaisedItems } from './raise-interactions.ts';

export type LegOutcome = (
  | RunOutcome
  | { readonly status: 'waiting' }
  /** The leg stopped at a safe point because its server drains: the run continues elsewhere (D-85). */
  | { readonly status: 'yielded' }
  /** The session's folder is gone: run and session end together. */
  | { readonly status: 'workspace_lost' }
) & {
  readonly outputText: string | null;
  /** Whether a message of the model was cut, so that its usage is unknown. */
  readonly isUsagePartial?: boolean;
  /** The agent's last checkpoint, if it belongs to the end itself. */
  readonly state?: Json | undefined;
  /** State of the session folder after the leg, if the leg changed it. */
  readonly snapshot?: FolderState | undefined;
};

/**
 * Records how a leg ended: the run ends, waits, or continues elsewhere. Returns the run and its session after
 * it. The next queued run of the session is left to the caller.
 */
export async function recordLegEnd(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics' | 'traces'>,
  tx: StoreTransaction,
  { seen, raised, end }: { seen: RunInSession<LeasedRun>; raised: RaisedItems; end: LegOutcome },
): Promise<RunInSession> {
  const { outputText, isUsagePartial = false } = end;
  const { open: pendingInteractions, openWaits } = raised;
  const progress = { outputText, isUsagePartial, pendingInteractions, openWaits };
  const run = recordProgress(seen.run, progress);
  const now = services.clock.now();
  if (end.status === 'yielded' && run.status !== 'cancelling') {
    return recordHandOver(services, tx, { seen: { ...seen, run }, raised });
  }
  if (end.status === 'waiting' && run.status !== 'cancelling') {
    const parked = parkRun(run, now);
    // Answered, or come, while the leg was ending: the run can continue at once.
    const isReady =
      (raised.open === 0 && (await tx.interactions.unapplied(run.id)).length > 0) ||
      (await tx.waits.hasUnapplied(run.id));
    if (raised.open > 0 || openWaits > 0 || isReady) {
      return recordChange(services, tx, {
        seen,
        move: {
          run: isReady ? unparkRun(parked, now) : parked,
          session: interactionsChanged(seen.session, raised.open, now),
          events: raised.events,
        },
      });
    }
  }
  const isLost = end.status === 'workspace_lost';
  const session = isLost ? await failSession(services, tx, seen.session) : seen.session;
  const outcome = outcomeOf(run, end);
  return recordOwnEnd(services, tx, { seen: { run, session }, outcome, before: raised.events });
}

/** D-85: gives the lease back. Another server, or the next process, continues the run. */
async function recordHandOver(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics' | 'traces'>,
  tx: StoreTransaction,
  { seen, raised }: { seen: RunInSession<LeasedRun>; raised: RaisedItems },
): Promise<RunInSession> {
  const { run, session } = seen;
  const now = services.clock.now();
  const reason = 'drained';
  const interrupted = interruptRun(run, { reason, at: now, continueAt: now, isLoss: false });
  const data = { run_id: run.id, attempt: attemptOf(run), reason } as const;
  // The question of a live runtime stays open; its answer makes the run ready again. A program that also waits for
  // something else may not need that answer.
  const mustWait = raised.open > 0 && !(await tx.waits.any(run.id));
  tx.onCommit(() => services.metrics.runsHandedOver.add(1));
  return recordChange(services, tx, {
    seen,
    move: {
      run: mustWait ? parkRun(interrupted, now) : interrupted,
      session: interactionsChanged(session, raised.open, now),
      events: [...raised.events, { type: 'run_interrupted', data }],
    },
  });
}

function recordChange(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics' | 'traces'>,
  tx: StoreTransaction,
  change: { seen: RunInSession; move: RunMove & { readonly session: Session } },
): RunInSession {
  return { run: recordMove(services, tx, change), session: change.move.session };
}

/** Ends the queued runs with the session: they could never execute. */
async function failSession(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics' | 'traces'>,
  tx: StoreTransaction,
  session: Session,
): Promise<Session> {
  const now = services.clock.now();
  const queue = await tx.runs.queued(session.id);
  const failed = loseFolder(queuedRunsCancelled(session, queue.length, now), now);
  recordSession(services, tx, { seen: session, next: failed });
  await recordQueueEnd(services, tx, { session: failed, queue });
  return failed;
}

/** D-24: once a cancel is recorded, the run ends cancelled, however its leg ended. */
function outcomeOf(run: StartedRun, end: LegOutcome): RunOutcome {
  if (run.status === 'cancelling') return { status: 'cancelled' };
  switch (end.status) {
    case 'waiting':
      return {
        status: 'failed',
        code: 'agent_error',
        message: 'The agent is waiting without having asked anything.',
      };
    case 'yielded':
      return outcomeOfLostWorker(run, 'drained');
    case 'workspace_lost':
      return {
        status: 'failed',
        code: 'sandbox_unavailable',
        message: 'The session folder is gone from this machine; open a new session.',
      };
    case 'completed':
    case 'cancelled':
    case 'failed':
      return end;
    default:
      return end satisfies never;
  }
}
