import type {
  FireRecord,
  ScheduleRecord,
  ScheduleSummary as ScheduleSummaryRecord,
} from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { Fire, Schedule, ScheduleSummary } from '../../domain/schedule/schedule.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { timeIn } from './fields.ts';

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
    end_user: schedule.endUser ?? undefined,
    cron: schedule.cron,
    time_zone: schedule.timeZone,
    session: { mode: schedule.sessionMode, session_id: schedule.sessionId ?? undefined },
    labels: schedule.labels,
    overlap: schedule.overlap,
    missed: schedule.missed,
    missed_within_seconds: schedule.missedWithinMs / 1000,
    status: schedule.status,
    status_reason: schedule.statusReason ?? undefined,
    next_at: timeIn(isActive ? schedule.nextAt : undefined),
    last_slot_at: timeIn(schedule.lastSlotAt),
    last_run_id: schedule.lastRunId ?? undefined,
    version: schedule.version,
    created_by: schedule.createdBy.id,
    created_by_name: names.get(schedule.createdBy.id),
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
    run_id: fire.runId ?? undefined,
    session_id: fire.sessionId ?? undefined,
    code: fire.code ?? undefined,
  };
}
