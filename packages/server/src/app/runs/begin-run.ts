import { needsTenantCount } from '../../domain/run/inline-start.ts';
import type { EndedRun, RunningRun, WaitingForWorker } from '../../domain/run/run.ts';
import { changeTime } from '../../domain/session.ts';
import type { BegunLeg, LegOrigin, Slot } from '../../ports/run-slots.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { readyNext } from '../record-end.ts';
import {
  type LegStarting,
  type RunInSession,
  type RunMove,
  recordMove,
  startLegMove,
} from '../record.ts';
import type { Services } from '../services.ts';
import type { InlineSlot } from './inline-slot.ts';

export interface Beginning extends Omit<LegStarting, 'lease'> {
  readonly slot: Slot;
  readonly origin: LegOrigin;
  /** Writes the move: an insert for a new run, an update for one that is stored. */
  readonly record: (move: RunMove<RunningRun>) => RunningRun | Promise<RunningRun>;
}

/**
 * Begins the next leg of a run that is ready, in the slot that is to execute it: stores the run under the lease of the
 * slot, with the event that opens the leg, and starts the slot after the commit. The only way a run begins, for the
 * three that find it ready: its insert, the end of the run before it in its session, and the pass of a worker.
 */
export async function beginRun(
  tx: StoreTransaction,
  seen: RunInSession<WaitingForWorker>,
  { slot, origin, record, now, isOtherAgent = false, agent }: Beginning,
): Promise<BegunLeg> {
  const move = startLegMove(seen, { lease: slot.lease, now, isOtherAgent, agent });
  const run = await record(move);
  const leg = { ...origin, run, session: move.session };
  slot.begin(leg);
  tx.onCommit(() => slot.start());
  return leg;
}

interface NextRun {
  /** The run whose end makes the next one ready. */
  readonly after: EndedRun;
  readonly slot: InlineSlot;
}

/**
 * Begins the next queued run of a session in the transaction that ended the one before, or makes it ready for a worker.
 * A worker needs a transaction of its own to claim it, so a session would execute one run for every two that it is
 * given. Called last: the run starts from what the transaction has stored of the session.
 */
export async function beginNext(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics' | 'slots' | 'isSingleServer' | 'agents'>,
  tx: StoreTransaction,
  { after, slot }: NextRun,
): Promise<void> {
  const { sessionId } = after;
  if (services.slots === undefined || needsTenantCount(services)) {
    return readyNext(services, tx, { sessionId, now: after.endedAt });
  }
  const [session, run] = await Promise.all([
    tx.sessions.lock(after, sessionId),
    tx.runs.nextQueued(sessionId),
    slot.readState(tx, sessionId),
  ]);
  if (session === undefined || run === undefined || session.currentRunId !== null) return;
  const now = changeTime(session, services.clock.now());
  const seen = { session, run };
  const reserved = slot.reserve(run);
  if (reserved === undefined) return readyNext(services, tx, { sessionId, now });
  const record = (move: RunMove<RunningRun>) => recordMove(services, tx, { seen, move });
  const agent = services.agents.find(run.agentName);
  await beginRun(tx, seen, { ...reserved, now, record, agent });
}
