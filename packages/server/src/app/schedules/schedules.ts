import {
  type ScheduleId,
  type SessionId,
  idPrefixes,
  isTerminalSessionStatus,
  scheduleId,
} from '@convoke/contract';
import type { Actor, AuditAction } from '../../domain/audit.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readLabels } from '../../domain/labels.ts';
import {
  type Fire,
  type NewSchedule,
  type Schedule,
  type ScheduleChange,
  type ScheduleSummary,
  changeSchedule,
  checkInputSize,
  mayAddSchedule,
  openSchedule,
  pauseSchedule as paused,
  resumeSchedule as resumed,
  runStarted,
  upcomingSlots,
} from '../../domain/schedule/schedule.ts';
import { readRunInput } from '../../domain/run/run-input.ts';
import type { Run } from '../../domain/run/run.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { type Session, acceptsFiles } from '../../domain/session.ts';
import type { PageRequest } from '../../ports/page.ts';
import type { ScheduleFilter } from '../../ports/repositories/schedules.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { recordAudit } from '../audit.ts';
import { expireEnded } from '../connections/required-accounts.ts';
import { once } from '../once.ts';
import { enabledAgent } from '../enabled-agent.ts';
import { orRefuse, refuse } from '../refusal.ts';
import type { StartRun, StartServices } from '../runs/start-run.ts';
import type { Services } from '../services.ts';
import { type Created, asOfNow, endUserText } from '../sessions.ts';
import { startScheduledRun } from './scheduled-run.ts';

type ChangeServices = Pick<Services, 'store' | 'clock' | 'ids' | 'agents' | 'settings'>;

export interface CreateSchedule {
  readonly plan: Omit<NewSchedule, 'id' | 'organizationId' | 'tenantId' | 'labels'> & {
    readonly labels?: JsonObject | undefined;
  };
  readonly idempotencyKey: string | undefined;
  readonly by: Actor;
  readonly chargeRate: () => void;
}

/** D-140. Locks the tenant's row, so that parallel requests cannot exceed the limit of schedules. */
export async function createSchedule(
  services: ChangeServices,
  scope: TenantScope,
  request: CreateSchedule,
): Promise<Created<Schedule>> {
  const { plan, by } = request;
  orRefuse(checkInputSize(plan.input));
  const labels = orRefuse(readLabels(plan.labels ?? {}));
  return services.store.transaction(async (tx) => {
    const now = services.clock.now();
    const id = scheduleId(services.ids.next(idPrefixes.schedule));
    const schedule = orRefuse(openSchedule({ ...plan, labels, ...scope, id }, now));
    const first = await once(tx, {
      scope,
      place: 'create_schedule',
      key: request.idempotencyKey,
      body: bodyOf(plan),
      resourceId: id,
      now,
      chargeRate: request.chargeRate,
    });
    if (!first.fresh) {
      const known = await tx.schedules.find(scope, scheduleId(first.resourceId));
      return { resource: known ?? refuse('not_found'), replayed: true };
    }
    await requireStartable(services, tx, schedule);
    await tx.tenants.lock(scope.organizationId, scope.tenantId);
    if (!(await tx.tenants.isUsable(scope))) refuse('forbidden', { codeOnly: true });
    orRefuse(mayAddSchedule(await tx.schedules.count(scope)));
    await tx.schedules.insert(schedule);
    await audit(tx, { schedule, action: 'schedule.create', by, now, details: planned(schedule) });
    return { resource: schedule, replayed: false };
  });
}

/**
 * The fingerprint of the request: who sends it is no part of it (D-57), nor are labels and an end user of which there
 * are none.
 */
function bodyOf({ labels, endUser, ...plan }: CreateSchedule['plan']): JsonObject {
  return {
    ...plan,
    createdBy: null,
    ...(labels === undefined ? {} : { labels }),
    ...endUserText({ endUser }),
  };
}

/** Refuses an agent, a session or an input with which no run could start. */
async function requireStartable(
  services: Pick<Services, 'agents' | 'clock' | 'settings'>,
  tx: StoreTransaction,
  schedule: Schedule,
): Promise<void> {
  const { tenantId, agentName, sessionId, input } = schedule;
  const agent = enabledAgent(services.agents, tenantId, agentName);
  const session =
    sessionId === null ? null : await sessionOf(services, tx, { schedule, sessionId });
  const takesFiles = session !== null && acceptsFiles(session, services.settings);
  orRefuse(readRunInput(input, { agent, takesFiles }));
}

async function sessionOf(
  services: Pick<Services, 'clock' | 'settings'>,
  tx: StoreTransaction,
  { schedule, sessionId }: { readonly schedule: Schedule; readonly sessionId: SessionId },
): Promise<Session> {
  const stored = await tx.sessions.find(schedule, sessionId);
  const session = asOfNow(services, stored ?? refuse('not_found'));
  if (session.agentName !== schedule.agentName) {
    refuse('invalid_body', { message: `session.session_id: its agent is ${session.agentName}` });
  }
  const { endUser } = schedule;
  if (endUser !== null && !schedule.ownsSession && endUser !== session.endUser) {
    refuse('invalid_body', { message: 'end_user: the session is not for this end user.' });
  }
  // One that the schedule opened itself is replaced at the next slot.
  if (isTerminalSessionStatus(session.status) && !schedule.ownsSession) refuse('session_terminal');
  return session;
}

export async function getSchedule(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  id: ScheduleId,
): Promise<Schedule> {
  return (await store.read.schedules.find(scope, id)) ?? refuse('not_found');
}

export function listSchedules(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  { filter, page }: { readonly filter: ScheduleFilter; readonly page: PageRequest },
): Promise<ScheduleSummary[]> {
  return store.read.schedules.list(scope, filter, page);
}

export async function listFires(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  { id, page }: { readonly id: ScheduleId; readonly page: PageRequest },
): Promise<Fire[]> {
  if ((await store.read.schedules.find(scope, id)) === undefined) refuse('not_found');
  return store.read.schedules.listFires(scope, id, page);
}

export async function previewSchedule(
  services: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  { id, count }: { readonly id: ScheduleId; readonly count: number },
): Promise<number[]> {
  const schedule = await getSchedule(services, scope, id);
  return upcomingSlots(schedule, services.clock.now(), count);
}

interface Change {
  readonly id: ScheduleId;
  readonly by: Actor;
}

export function updateSchedule(
  services: ChangeServices,
  scope: TenantScope,
  { id, by, change }: Change & { readonly change: ScheduleChange },
): Promise<Schedule> {
  if (change.input !== undefined) orRefuse(checkInputSize(change.input));
  return services.store.transaction(async (tx) => {
    const seen = (await tx.schedules.lock(scope, id)) ?? refuse('not_found');
    const now = services.clock.now();
    const next = orRefuse(changeSchedule(seen, change, now));
    if (change.input !== undefined) await requireStartable(services, tx, next);
    if (!(await tx.schedules.save(next, seen))) return refuse('version_conflict');
    const details = { version: next.version, created_by: next.createdBy.id, ...planned(next) };
    await audit(tx, { schedule: next, action: 'schedule.update', by, now, details });
    return next;
  });
}

export function pauseSchedule(
  services: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  request: Change,
): Promise<Schedule> {
  return changeStatus(services, scope, { ...request, action: 'schedule.pause', next: paused });
}

export function resumeSchedule(
  services: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  request: Change & { readonly actor: Schedule['createdBy'] },
): Promise<Schedule> {
  const next = (seen: Schedule, now: number) => resumed(seen, request.actor, now);
  return changeStatus(services, scope, { ...request, action: 'schedule.resume', next });
}

/** A repeated request changes nothing and succeeds. */
function changeStatus(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  request: Change & {
    readonly action: AuditAction;
    readonly next: (seen: Schedule, now: number) => Schedule;
  },
): Promise<Schedule> {
  return store.transaction(async (tx) => {
    const seen = (await tx.schedules.lock(scope, request.id)) ?? refuse('not_found');
    const now = clock.now();
    const next = request.next(seen, now);
    if (next === seen) return seen;
    if (!(await tx.schedules.save(next, seen))) return refuse('version_conflict');
    const details = { created_by: next.createdBy.id };
    await audit(tx, { ...request, schedule: next, now, details });
    return next;
  });
}

/**
 * The rows of its slots stay until their time is over: without the schedule they cannot be read. One that is not there
 * is deleted already (D-490).
 */
export function deleteSchedule(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  { id, by }: Change,
): Promise<void> {
  return store.transaction(async (tx) => {
    const schedule = await tx.schedules.lock(scope, id);
    if (schedule === undefined) return;
    await tx.schedules.remove(scope, id);
    await audit(tx, { schedule, action: 'schedule.delete', by, now: clock.now(), details: {} });
  });
}

export interface RunSchedule extends Change {
  readonly clientId: StartRun['clientId'];
  readonly idempotencyKey: string | undefined;
  readonly chargeRate: () => void;
}

/** Starts a run outside the schedule, in the name of the caller. */
export async function runSchedule(
  services: StartServices,
  scope: TenantScope,
  request: RunSchedule,
): Promise<Created<Run>> {
  try {
    return await services.store.transaction((tx) => runNow(services, tx, { scope, request }));
  } catch (error) {
    await expireEnded(services, error);
    throw error;
  }
}

async function runNow(
  services: StartServices,
  tx: StoreTransaction,
  { scope, request }: { readonly scope: TenantScope; readonly request: RunSchedule },
): Promise<Created<Run>> {
  const seen = (await tx.schedules.lock(scope, request.id)) ?? refuse('not_found');
  const { idempotencyKey, clientId, chargeRate, by } = request;
  const started = await startScheduledRun(services, tx, {
    schedule: seen,
    place: `run_schedule:${seen.id}`,
    body: {},
    idempotencyKey,
    clientId,
    createdBy: by.id,
    chargeRate,
  });
  if (started.replayed) return started;
  await tx.schedules.save(runStarted(seen, started.resource), seen);
  const now = services.clock.now();
  const details = { run_id: started.resource.id };
  await audit(tx, { schedule: seen, action: 'schedule.run', by, now, details });
  return started;
}

/** What an audit row says of a plan; never the input. */
function planned({ name, agentName, cron, timeZone }: Schedule): JsonObject {
  return { name, agent_name: agentName, cron, time_zone: timeZone };
}

/** Call it last in the transaction (`recordAudit`). */
export async function audit(
  tx: StoreTransaction,
  entry: {
    readonly schedule: Schedule;
    readonly action: AuditAction;
    readonly by: Actor;
    readonly now: number;
    readonly details: JsonObject;
  },
): Promise<void> {
  const { schedule, action, by, now, details } = entry;
  await recordAudit(tx, {
    chain: schedule.organizationId,
    at: now,
    by,
    action,
    object: schedule.id,
    details: { tenant_id: schedule.tenantId, name: schedule.name, ...details },
  });
}
