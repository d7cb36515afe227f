import {
  type FireOutcome,
  type Labels,
  type MissedPolicy,
  type OrganizationId,
  type OverlapPolicy,
  type RunId,
  type ScheduleId,
  type ScheduleStatus,
  type SessionId,
  type SessionMode,
  type TenantId,
  limits,
} from '@convoke/contract';
import type { ApplicationActor } from '../access.ts';
import type { JsonObject } from '../json.ts';
import { changeLabels, inheritLabels } from '../labels.ts';
import type { NoticeDraft } from '../notice.ts';
import { type Ruling, accepted, refused } from '../refusal.ts';
import { newestSlots, nextSlot, nextSlots, readCron } from './slots.ts';

/**
 * Starts runs of an agent at the slots of a cron pattern (D-140).
 *
 * - `active`: a run starts at every slot. `nextAt` is the oldest slot that was not dealt with.
 * - `paused`: no run starts. `nextAt` stays, so that the slots in between count as missed after a resume (D-142).
 *   `statusReason` is `client_withdrawn` when the service paused it, because who created it lost their rights (D-144).
 *
 * `version` rises with every change by a caller and with a pause by the service, not when a run starts.
 */
/** A schedule without its input, which may be large. */
export type ScheduleSummary = Omit<Schedule, 'input'>;

export interface Schedule {
  readonly id: ScheduleId;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly agentName: string;
  /** The user of the product that its sessions are for; null: as the one who made it. */
  readonly endUser: string | null;
  readonly cron: string;
  readonly timeZone: string;
  readonly input: JsonObject;
  readonly labels: Labels;
  readonly sessionMode: SessionMode;
  /** The session that all runs share, once there is one. */
  readonly sessionId: SessionId | null;
  /** Whether a run of the schedule created that session: then another one replaces it after its end. */
  readonly ownsSession: boolean;
  readonly overlap: OverlapPolicy;
  readonly missed: MissedPolicy;
  readonly missedWithinMs: number;
  readonly status: ScheduleStatus;
  readonly statusReason: string | null;
  /** Null when the pattern names no further time. */
  readonly nextAt: number | null;
  readonly lastSlotAt: number | null;
  readonly lastRunId: RunId | null;
  /** Slots in a row that were skipped because the last run had not ended. */
  readonly skippedInRow: number;
  readonly version: number;
  /** In whose name the runs start. */
  readonly createdBy: ApplicationActor;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The outcome of one slot. */
export interface Fire {
  readonly scheduleId: ScheduleId;
  readonly tenantId: TenantId;
  readonly slotAt: number;
  readonly firedAt: number;
  readonly outcome: FireOutcome;
  readonly runId: RunId | null;
  readonly sessionId: SessionId | null;
  readonly code: string | null;
}

export type NewSchedule = Pick<
  Schedule,
  | 'id'
  | 'organizationId'
  | 'tenantId'
  | 'name'
  | 'agentName'
  | 'cron'
  | 'timeZone'
  | 'input'
  | 'labels'
  | 'sessionMode'
  | 'sessionId'
  | 'overlap'
  | 'missed'
  | 'missedWithinMs'
  | 'createdBy'
> &
  Partial<Pick<Schedule, 'endUser'>>;

export function openSchedule(fresh: NewSchedule, now: number): Ruling<Schedule> {
  const first = firstSlot(fresh, now);
  if (!first.ok) return first;
  const labels = runLabels(fresh);
  if (!labels.ok) return labels;
  return accepted({
    endUser: null,
    ...fresh,
    ownsSession: false,
    status: 'active',
    statusReason: null,
    nextAt: first.value,
    lastSlotAt: null,
    lastRunId: null,
    skippedInRow: 0,
    version: 1,
    createdAt: now,
    updatedAt: now,
  });
}

export function mayAddSchedule(count: number): Ruling<undefined> {
  return count < limits.schedulesPerTenant
    ? accepted(undefined)
    : refused('schedule_limit_reached');
}

/** D-144: the labels of every run; the id of the schedule is one of them. */
export function runLabels({ id, labels }: Pick<Schedule, 'id' | 'labels'>): Ruling<Labels> {
  return inheritLabels(labels, { schedule_id: id });
}

/** Every list reads it and every run copies it. */
export function checkInputSize(input: JsonObject): Ruling<undefined> {
  const max = limits.scheduleInputMaxCharacters;
  if (JSON.stringify(input).length <= max) return accepted(undefined);
  return refused('invalid_body', `input: must have at most ${max} characters as JSON`);
}

/** The next slots, also of a schedule that is paused. */
export function upcomingSlots(plan: Plan, now: number, count: number): number[] {
  const pattern = readCron(plan);
  return pattern.ok ? nextSlots(pattern.value, now, count) : [];
}

type Plan = Pick<Schedule, 'cron' | 'timeZone'>;

/** The first slot after `now`; refuses a pattern that names no time. */
function firstSlot(plan: Plan, now: number): Ruling<number> {
  const pattern = readCron(plan);
  if (!pattern.ok) return pattern;
  const slot = nextSlot(pattern.value, now);
  return slot === null ? refused('invalid_cron', 'cron: this time never comes') : accepted(slot);
}

export interface ScheduleChange {
  readonly by: ApplicationActor;
  /** The version that the caller saw. */
  readonly version: number;
  readonly name?: string | undefined;
  readonly cron?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly input?: JsonObject | undefined;
  /** Merged by key; null removes a label. */
  readonly labels?: JsonObject | undefined;
  readonly overlap?: OverlapPolicy | undefined;
  readonly missed?: MissedPolicy | undefined;
  readonly missedWithinMs?: number | undefined;
}

/**
 * A new pattern counts from now on; slots of the old one that were not dealt with are dropped. Who changes when the
 * runs start or what they are asked takes the schedule over: they start in that name, within that client's budget.
 */
export function changeSchedule(
  schedule: Schedule,
  change: ScheduleChange,
  now: number,
): Ruling<Schedule> {
  if (change.version !== schedule.version) return refused('version_conflict');
  const cron = change.cron ?? schedule.cron;
  const timeZone = change.timeZone ?? schedule.timeZone;
  const isReplanned = cron !== schedule.cron || timeZone !== schedule.timeZone;
  const input = change.input ?? schedule.input;
  const isTakenOver = isReplanned || JSON.stringify(input) !== JSON.stringify(schedule.input);
  const first = isReplanned ? firstSlot({ cron, timeZone }, now) : accepted(schedule.nextAt);
  if (!first.ok) return first;
  const labels = changeLabels(schedule.labels, change.labels ?? {});
  if (!labels.ok) return labels;
  const ofRuns = runLabels({ ...schedule, labels: labels.value });
  if (!ofRuns.ok) return ofRuns;
  return accepted({
    ...schedule,
    labels: labels.value,
    name: change.name ?? schedule.name,
    cron,
    timeZone,
    input,
    createdBy: isTakenOver ? change.by : schedule.createdBy,
    overlap: change.overlap ?? schedule.overlap,
    missed: change.missed ?? schedule.missed,
    missedWithinMs: change.missedWithinMs ?? schedule.missedWithinMs,
    nextAt: first.value,
    version: schedule.version + 1,
    updatedAt: now,
  });
}

/** Returns the schedule itself when it is paused already. */
export function pauseSchedule(schedule: Schedule, now: number, reason?: PauseReason): Schedule {
  if (schedule.status === 'paused') return schedule;
  const { version } = schedule;
  const statusReason = reason ?? null;
  return { ...schedule, status: 'paused', statusReason, version: version + 1, updatedAt: now };
}

export type PauseReason = 'client_withdrawn';

/** Returns the schedule itself when it is active already. Who lost their rights is replaced by who resumes it. */
export function resumeSchedule(schedule: Schedule, by: ApplicationActor, now: number): Schedule {
  if (schedule.status === 'active') return schedule;
  return {
    ...schedule,
    status: 'active',
    createdBy: schedule.statusReason === null ? schedule.createdBy : by,
    statusReason: null,
    version: schedule.version + 1,
    updatedAt: now,
  };
}

/** What to do about a due schedule. */
export interface DueSlots {
  /** The newest slot, if it may start a run. */
  readonly slot: number | undefined;
  /** Slots that start no run, oldest first: the newest ones only, see `missedSlotsKept`. */
  readonly missed: readonly number[];
  /** The first slot after now. */
  readonly nextAt: number | null;
}

/** How many missed slots are recorded at most. Older ones leave no trace. */
const missedSlotsKept = 100;

/** A slot that is dealt with in this time is not a missed one: a pass comes every second, and servers restart. */
const punctualMs = 60_000;

/** D-142: of all slots up to now only the newest may start a run, and only while it is young enough. */
export function dueSlots(schedule: Schedule, now: number): DueSlots {
  const { nextAt, missed, missedWithinMs } = schedule;
  const pattern = readCron(schedule);
  if (!pattern.ok || nextAt === null) return { slot: undefined, missed: [], nextAt: null };
  const slots = newestSlots(pattern.value, { from: nextAt, to: now, max: missedSlotsKept + 1 });
  const newest = slots.at(-1);
  const ageMax = missed === 'once' ? Math.max(missedWithinMs, punctualMs) : punctualMs;
  const isStarting = newest !== undefined && now - newest <= ageMax;
  return {
    slot: isStarting ? newest : undefined,
    missed: isStarting ? slots.slice(0, -1) : slots.slice(-missedSlotsKept),
    nextAt: nextSlot(pattern.value, now),
  };
}

/** The outcome of the slot that may start a run. */
export type SlotResult =
  | { readonly outcome: 'started'; readonly run: StartedRun }
  | { readonly outcome: 'skipped' | 'refused'; readonly code: string };

type StartedRun = { readonly id: RunId; readonly sessionId: SessionId };

/** The schedule after its due slots were dealt with. */
export function slotsDone(
  schedule: Schedule,
  { slot, missed, nextAt }: DueSlots,
  result: SlotResult | undefined,
): Schedule {
  const done = {
    ...schedule,
    nextAt,
    lastSlotAt: slot ?? missed.at(-1) ?? schedule.lastSlotAt,
    skippedInRow: result?.outcome === 'skipped' ? schedule.skippedInRow + 1 : 0,
  };
  return result?.outcome === 'started' ? runStarted(done, result.run) : done;
}

const skipsTold = 3;

/** D-143: told once, at the third slot in a row that was skipped because the last run had not ended. */
export function skipNotices(seen: Schedule, next: Schedule, at: number): NoticeDraft[] {
  const isTold = next.skippedInRow === skipsTold && seen.skippedInRow < skipsTold;
  if (!isTold || next.lastSlotAt === null) return [];
  const slotAt = new Date(next.lastSlotAt).toISOString();
  return [{ type: 'schedule_skipped', at, data: { schedule_id: next.id, slot_at: slotAt } }];
}

/** Remembers the run, and the session that it opened for all later ones. */
export function runStarted(schedule: Schedule, run: StartedRun): Schedule {
  const started = { ...schedule, lastRunId: run.id };
  if (schedule.sessionMode === 'new' || schedule.sessionId === run.sessionId) return started;
  return { ...started, sessionId: run.sessionId, ownsSession: true };
}
