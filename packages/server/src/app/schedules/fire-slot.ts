import { type ErrorCode, type ScheduleId, clientId } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import { isEnded } from '../../domain/run/run.ts';
import {
  type DueSlots,
  type Fire,
  type Schedule,
  type SlotResult,
  dueSlots,
  pauseSchedule,
  skipNotices,
  slotsDone,
} from '../../domain/schedule/schedule.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { expireEnded } from '../connections/required-accounts.ts';
import { announce } from '../feed/notices.ts';
import { mayStart } from '../may-start.ts';
import { Refusal } from '../refusal.ts';
import type { StartServices } from '../runs/start-run.ts';
import { startScheduledRun } from './scheduled-run.ts';
import { audit } from './schedules.ts';

const service: Actor = { kind: 'system', id: 'schedules', requestId: null, address: null };

/**
 * Deals with the slots of a schedule that have come (D-141): the row of the slot, its run and the next slot are written
 * in one transaction. A crash before the commit leaves the slot due; after it the run exists. No other server deals
 * with the schedule in the meantime: its row is locked, and a second row of one slot cannot be inserted.
 */
export async function fireSlot(services: StartServices, id: ScheduleId): Promise<void> {
  try {
    await services.store.transaction((tx) => deal(services, tx, { id }));
  } catch (error) {
    // What was written before the refusal, such as a session, was rolled back.
    if (!(error instanceof Refusal)) throw error;
    await expireEnded(services, error);
    await services.store.transaction((tx) => deal(services, tx, { id, refusedBy: error.code }));
  }
}

async function deal(
  services: StartServices,
  tx: StoreTransaction,
  { id, refusedBy }: { readonly id: ScheduleId; readonly refusedBy?: ErrorCode },
): Promise<void> {
  const now = services.clock.now();
  const seen = await tx.schedules.tryLockDue(id, now);
  if (seen === undefined) return;
  const opensSessions = seen.sessionId === null || seen.ownsSession;
  if (!(await mayStart(tx, { scope: seen, starter: seen.createdBy, opensSessions }))) {
    return pause(tx, seen, now);
  }
  const due = dueSlots(seen, now);
  const result = await resultOf(services, tx, { seen, due, refusedBy });
  const fires = firesOf(seen, { due, result, now });
  await tx.schedules.insertFires(fires);
  const next = slotsDone(seen, due, result);
  if (!(await tx.schedules.save(next, seen))) {
    throw new Error(`schedule ${id} changed while its row was locked`);
  }
  announce(services, tx, { tenantId: seen.tenantId, notices: skipNotices(seen, next, now) });
  tx.onCommit(() => {
    for (const { outcome } of fires) services.metrics.scheduleFires.add(1, outcome);
  });
}

async function pause(tx: StoreTransaction, seen: Schedule, now: number): Promise<void> {
  const next = pauseSchedule(seen, now, 'client_withdrawn');
  await tx.schedules.save(next, seen);
  const details = { reason: 'client_withdrawn', created_by: seen.createdBy.id };
  await audit(tx, { schedule: seen, action: 'schedule.pause', by: service, now, details });
}

/** Undefined when no slot may start a run. */
async function resultOf(
  services: StartServices,
  tx: StoreTransaction,
  { seen, due, refusedBy }: { seen: Schedule; due: DueSlots; refusedBy: ErrorCode | undefined },
): Promise<SlotResult | undefined> {
  if (due.slot === undefined) return undefined;
  if (refusedBy !== undefined) return { outcome: 'refused', code: refusedBy };
  if (await isOverlapping(tx, seen)) return { outcome: 'skipped', code: 'overlap' };
  const { resource: run } = await startScheduledRun(services, tx, {
    schedule: seen,
    // A place of its own: no request of a client can take the key of a slot.
    place: 'schedule',
    body: {},
    clientId: seen.createdBy.kind === 'client' ? clientId(seen.createdBy.id) : null,
    createdBy: seen.createdBy.id,
    idempotencyKey: `schedule/${seen.id}/${due.slot}`,
    chargeRate: () => {},
  });
  return { outcome: 'started', run };
}

/** Whether the schedule skips slots while its last run has not ended, and it has not (D-143). */
async function isOverlapping(tx: StoreTransaction, schedule: Schedule): Promise<boolean> {
  if (schedule.overlap === 'queue' || schedule.lastRunId === null) return false;
  const last = await tx.runs.findById(schedule, schedule.lastRunId);
  return last !== undefined && !isEnded(last);
}

function firesOf(
  { id: scheduleId, tenantId }: Schedule,
  { due, result, now }: { due: DueSlots; result: SlotResult | undefined; now: number },
): Fire[] {
  const fire = { scheduleId, tenantId, firedAt: now, runId: null, sessionId: null };
  const missed = due.missed.map(
    (slotAt): Fire => ({ ...fire, slotAt, outcome: 'skipped', code: 'missed' }),
  );
  if (due.slot === undefined || result === undefined) return missed;
  const { outcome } = result;
  const newest: Fire =
    outcome === 'started'
      ? {
          ...fire,
          slotAt: due.slot,
          outcome,
          runId: result.run.id,
          sessionId: result.run.sessionId,
          code: null,
        }
      : { ...fire, slotAt: due.slot, outcome, code: result.code };
  return [...missed, newest];
}
