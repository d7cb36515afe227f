import {
  type SessionId,
  type StopMode,
  idPrefixes,
  isTerminalSessionStatus,
  sessionId,
} from '@convoke/contract';
import { isEnabledFor } from '../domain/agent.ts';
import { type Run, cancelRun, leaseOf } from '../domain/run.ts';
import type { TenantScope } from '../domain/scope.ts';
import {
  type Session,
  interactionsCancelled,
  openSession,
  queuedRunsCancelled,
  resumeSession as resumed,
  stopSession as stopped,
} from '../domain/session.ts';
import type { PageRequest } from '../ports/page.ts';
import type { SessionFilter } from '../ports/repositories/sessions.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { once } from './once.ts';
import { type RunInSession, lockRun, recordMove, recordQueueEnd } from './record.ts';
import { orRefuse, refuse } from './refusal.ts';
import type { Services } from './services.ts';

export interface CreateSession {
  readonly agentName: string;
  readonly idempotencyKey: string | undefined;
  readonly chargeRate: () => void;
}

export interface Created<T> {
  readonly resource: T;
  /** True when an earlier request with the same key made it. */
  readonly replayed: boolean;
}

type CreateServices = Pick<Services, 'store' | 'clock' | 'ids' | 'agents' | 'settings'>;

/** D-12. */
export async function createSession(
  services: CreateServices,
  scope: TenantScope,
  request: CreateSession,
): Promise<Created<Session>> {
  return services.store.transaction(async (tx) => {
    const now = services.clock.now();
    const id = sessionId(services.ids.next(idPrefixes.session));
    const first = await once(tx, {
      scope,
      place: 'create_session',
      key: request.idempotencyKey,
      body: { agent_name: request.agentName },
      resourceId: id,
      now,
      chargeRate: request.chargeRate,
    });
    if (first.fresh) {
      return {
        resource: await insertSession(services, tx, { scope, id, request }),
        replayed: false,
      };
    }
    const known = await tx.sessions.find(scope, sessionId(first.resourceId));
    if (known === undefined) return refuse('not_found');
    // Spec §4.2 rule 2: a terminal session must not be returned as if it were new.
    if (isTerminalSessionStatus(known.status)) return refuse('session_terminal');
    return { resource: known, replayed: true };
  });
}

export async function insertSession(
  { clock, agents, settings }: Pick<CreateServices, 'clock' | 'agents' | 'settings'>,
  tx: StoreTransaction,
  { scope, id, request }: { scope: TenantScope; id: SessionId; request: { agentName: string } },
): Promise<Session> {
  // The gate checked before this transaction began; the tenant may be offboarding by now.
  if (!(await tx.tenants.isUsable(scope))) return refuse('forbidden', { codeOnly: true });
  const agent = agents.find(request.agentName);
  if (agent === undefined || !isEnabledFor(agent, scope.tenantId)) return refuse('agent_not_found');
  const filesSupported = settings.fileAttachments && agent.sessionFiles;
  const identity = { id, ...scope, agentName: agent.name, filesSupported };
  const session = openSession(identity, clock.now());
  await tx.sessions.insert(session);
  return session;
}

export async function getSession(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  id: SessionId,
): Promise<Session> {
  return (await store.read.sessions.find(scope, id)) ?? refuse('not_found');
}

export async function listSessions(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  { filter, page }: { filter: SessionFilter; page: PageRequest },
): Promise<Session[]> {
  return store.read.sessions.list(scope, filter, page);
}

export interface StopSession {
  readonly id: SessionId;
  readonly mode: StopMode;
  readonly reason: string | undefined;
}

/** D-13: cancels the queue and pending interactions, and asks the current run to end. */
export async function stopSession(
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics'>,
  scope: TenantScope,
  request: StopSession,
): Promise<Session> {
  return services.store.transaction(async (tx) => {
    const now = services.clock.now();
    const found = (await tx.sessions.lock(scope, request.id)) ?? refuse('not_found');
    const queue = await tx.runs.queued(found.id);
    const session = orRefuse(stopped(queuedRunsCancelled(found, queue.length, now), request, now));
    await tx.sessions.save(session);
    await recordQueueEnd(services, tx, { session, queue });
    if (session.currentRunId !== null) {
      const address = { scope, sessionId: session.id, runId: session.currentRunId };
      const seen = await lockRun(tx, address);
      if (seen !== undefined) await askToEnd(services, tx, seen);
    }
    return (await tx.sessions.find(scope, session.id)) ?? refuse('not_found');
  });
}

/** Records the cancel of a started run. The worker that holds the run, or the next one, ends it. */
export async function askToEnd(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics'>,
  tx: StoreTransaction,
  seen: RunInSession,
): Promise<Run> {
  const { run, session } = seen;
  const ruling = orRefuse(cancelRun(run, services.clock.now()));
  if (ruling.kind !== 'asked') return run;
  if (run.pendingInteractions > 0) await tx.interactions.cancelPending(run.id);
  // Wake the leg; a parked run has none, so wake the workers.
  tx.onCommit(() => services.fanout.wake(leaseOf(run) === null ? 'work' : `control:${run.id}`));
  return recordMove(services, tx, {
    seen,
    move: { run: ruling.run, session: interactionsCancelled(session), events: [] },
  });
}

/** D-14. */
export async function resumeSession(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  id: SessionId,
): Promise<Session> {
  return store.transaction(async (tx) => {
    const found = (await tx.sessions.lock(scope, id)) ?? refuse('not_found');
    const session = orRefuse(resumed(found, clock.now()));
    if (session !== found) await tx.sessions.save(session);
    return session;
  });
}
