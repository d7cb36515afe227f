import type {
  FireRecord,
  ScheduleRecord,
  ScheduleSummary as ScheduleSummaryRecord,
} from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { Fire, Schedule, ScheduleSummary } from '../../domain/schedule/schedule.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { optional, optionalTime } from './fields.ts';

/** D-140: without the input, for lists. */
export function scheduleSummaryView(
  schedule: ScheduleSummary,
  names: Names,
): ScheduleSummaryRecord {
  const isActive = schedule.status === 'active';
  return {
    id: schedule.id,
    name: schedule.name,
    agent_name: schedule.agentName,
    cron: schedule.cron,
    time_zone: schedule.timeZone,
    session: { mode: schedule.sessionMode, ...optional('session_id', schedule.sessionId) },
    labels: schedule.labels,
    overlap: schedule.overlap,
    missed: schedule.missed,
    missed_within_seconds: schedule.missedWithinMs / 1000,
    status: schedule.status,
    ...optional('status_reason', schedule.statusReason),
    ...optionalTime('next_at', isActive ? schedule.nextAt : undefined),
    ...optionalTime('last_slot_at', schedule.lastSlotAt),
    ...optional('last_run_id', schedule.lastRunId),
    version: schedule.version,
    created_by: schedule.createdBy.id,
    ...optional('created_by_name', names.get(schedule.createdBy.id)),
    created_at: isoTime(schedule.createdAt),
    updated_at: isoTime(schedule.updatedAt),
  };
}

export function scheduleView(schedule: Schedule, names: Names): ScheduleRecord {
  return { ...scheduleSummaryView(schedule, names), input: schedule.input };
}

export function fireView(fire: Fire): FireRecord {
  return {
    slot_at: isoTime(fire.slotAt),
    fired_at: isoTime(fire.firedAt),
    outcome: fire.outcome,
    ...optional('run_id', fire.runId),
    ...optional('session_id', fire.sessionId),
    ...optional('code', fire.code),
  };
}
