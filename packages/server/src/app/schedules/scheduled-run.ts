import { idPrefixes, isTerminalSessionStatus, sessionId } from '@convoke/contract';
import type { JsonObject } from '../../domain/json.ts';
import type { Run } from '../../domain/run/run.ts';
import { type Schedule, runLabels } from '../../domain/schedule/schedule.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { Session } from '../../domain/session.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { orRefuse, refuse } from '../refusal.ts';
import { type StartRun, type StartServices, startWithin } from '../runs/start-run.ts';
import { type Created, asOfNow, insertSession } from '../sessions.ts';

export interface ScheduledStart {
  /** Its row is locked: schedules come before sessions in the order of locks. */
  readonly schedule: Schedule;
  readonly place: string;
  readonly body: JsonObject;
  readonly idempotencyKey: string | undefined;
  readonly clientId: StartRun['clientId'];
  /** The author of the schedule, or the caller that starts one run of it. */
  readonly createdBy: string;
  readonly chargeRate: () => void;
}

/** Starts a run of the schedule in the caller's transaction: in the session that is kept, or in a new one. */
export async function startScheduledRun(
  services: StartServices,
  tx: StoreTransaction,
  { schedule, ...start }: ScheduledStart,
): Promise<Created<Run>> {
  const { organizationId, tenantId, input } = schedule;
  const scope = { organizationId, tenantId };
  const scheduledBy = schedule.createdBy.id;
  const kept = await lockKept(services, tx, schedule);
  return startWithin(services, tx, {
    scope,
    // D-144: found again by `GET /v1/runs?label=schedule_id:…`.
    request: { ...start, input, labels: orRefuse(runLabels(schedule)), scheduledBy },
    place: start.place,
    body: start.body,
    session: {
      isNew: kept === undefined,
      get: async () => kept ?? makeSession(services, tx, { scope, schedule }),
    },
  });
}

function makeSession(
  services: StartServices,
  tx: StoreTransaction,
  { scope, schedule }: { readonly scope: TenantScope; readonly schedule: Schedule },
): Promise<Session> {
  const id = sessionId(services.ids.next(idPrefixes.session));
  const { agentName, createdBy } = schedule;
  // Runs of a person's schedule use the accounts of that person, as the person's own runs do (D-592).
  const endUser = schedule.endUser ?? (createdBy.kind === 'user' ? createdBy.id : null);
  return insertSession(services, tx, { scope, id, request: { agentName, endUser } });
}

/** Undefined when the run needs a new session. A session that the client named is never replaced. */
async function lockKept(
  services: StartServices,
  tx: StoreTransaction,
  schedule: Schedule,
): Promise<Session | undefined> {
  if (schedule.sessionMode === 'new' || schedule.sessionId === null) return undefined;
  const stored = await tx.sessions.lock(schedule, schedule.sessionId);
  if (stored === undefined) return schedule.ownsSession ? undefined : refuse('not_found');
  const session = asOfNow(services, stored);
  return schedule.ownsSession && isTerminalSessionStatus(session.status) ? undefined : session;
}
