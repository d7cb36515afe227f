import {
  type SessionId,
  type StopMode,
  idPrefixes,
  isTerminalSessionStatus,
  sessionId,
} from '@convoke/contract';
import { isPerson } from '../domain/connections/declared.ts';
import { cancelRun } from '../domain/run/run-cancel.ts';
import type { JsonObject } from '../domain/json.ts';
import { changeLabels, readLabels } from '../domain/labels.ts';
import type { Run } from '../domain/run/run.ts';
import type { TenantScope } from '../domain/scope.ts';
import {
  type Session,
  interactionsChanged,
  openSession,
  queuedRunsCancelled,
  resumeSession as resumed,
  sessionAt,
  stopSession as stopped,
} from '../domain/session.ts';
import type { PageRequest } from '../ports/page.ts';
import type { SessionFilter, SessionRepository } from '../ports/repositories/runs/sessions.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { keyScope, once } from './once.ts';
import { cancelOpen, recordQueueEnd } from './record-end.ts';
import {
  type RunInSession,
  lockRun,
  recordMove,
  recordNewSession,
  recordSession,
} from './record.ts';
import { enabledAgent } from './enabled-agent.ts';
import { orRefuse, refuse } from './refusal.ts';
import type { Services } from './services.ts';
import { type PartialList, lookedAtMax } from './tenant-reads.ts';

export interface CreateSession {
  readonly agentName: string;
  readonly title?: string | undefined;
  /** As the request has them. */
  readonly labels?: JsonObject | undefined;
  readonly createdBy?: string | undefined;
  readonly endUser?: string | null | undefined;
  readonly idempotencyKey: string | undefined;
  readonly chargeRate: () => void;
}

export interface Created<T> {
  readonly resource: T;
  /** True when an earlier request with the same key made it. */
  readonly replayed: boolean;
}

type CreateServices = Pick<Services, 'store' | 'clock' | 'ids' | 'agents' | 'settings' | 'fanout'>;

/** Creates a session, or returns the one that the same key created before (D-12). */
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
      body: {
        agent_name: request.agentName,
        ...(request.title === undefined ? {} : { title: request.title }),
        ...(request.labels === undefined ? {} : { labels: request.labels }),
        ...endUserText(request),
      },
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
    const stored = await tx.sessions.find(scope, sessionId(first.resourceId));
    const known = asOfNow(services, stored ?? refuse('not_found'));
    // Spec §4.2 rule 2: a terminal session must not be returned as if it were new.
    if (isTerminalSessionStatus(known.status)) {
      return refuse('session_terminal', { details: { session_id: known.id } });
    }
    return { resource: known, replayed: true };
  });
}

/** The session that an earlier request with this key created. */
export async function findCreated(
  services: ReadServices,
  scope: TenantScope,
  key: string,
): Promise<Session | undefined> {
  const place = { scope, place: 'create_session' };
  const known = await services.store.read.idempotency.find(keyScope(place), key);
  return known && findSession(services, scope, sessionId(known.resourceId));
}

interface NewSession {
  readonly scope: TenantScope;
  readonly id: SessionId;
  readonly request: Pick<CreateSession, 'agentName' | 'title' | 'labels' | 'createdBy' | 'endUser'>;
}

export async function insertSession(
  services: Pick<CreateServices, 'clock' | 'agents' | 'fanout'>,
  tx: StoreTransaction,
  { scope, id, request }: NewSession,
): Promise<Session> {
  // The gate checked before this transaction began; the tenant may be offboarding by now.
  if (!(await tx.tenants.isUsable(scope))) return refuse('forbidden', { codeOnly: true });
  const agent = enabledAgent(services.agents, scope.tenantId, request.agentName);
  const identity = { id, ...scope, agentName: agent.name, filesSupported: agent.sessionFiles };
  const labels = orRefuse(readLabels(request.labels ?? {}));
  const given = {
    title: request.title ?? null,
    labels,
    createdBy: request.createdBy ?? null,
    endUser: request.endUser ?? personIn(request),
  };
  const session = openSession({ ...identity, ...given }, services.clock.now());
  recordNewSession(services, tx, session);
  tx.labels.insert(session, labels);
  return session;
}

/** D-592: whichever way a person opens a session, it is for that person. */
function personIn({ createdBy }: NewSession['request']): string | null {
  return createdBy !== undefined && isPerson(createdBy) ? createdBy : null;
}

/** Absent in the fingerprint of a request without one, so that keys of an older server stay good. */
export function endUserText({ endUser }: Pick<CreateSession, 'endUser'>): JsonObject {
  return endUser === undefined || endUser === null || isPerson(endUser)
    ? {}
    : { end_user: endUser };
}

type ReadServices = Pick<Services, 'store' | 'clock' | 'settings'>;

/** D-17: a session ends at its `expires_at`, not when the pass that stores this gets to it. */
export function asOfNow(
  { clock, settings }: Pick<Services, 'clock' | 'settings'>,
  session: Session,
): Session {
  return sessionAt(session, { now: clock.now(), idleTtlMs: settings.sessionIdleTtlMs });
}

export async function getSession(
  services: ReadServices,
  scope: TenantScope,
  id: SessionId,
): Promise<Session> {
  return (await findSession(services, scope, id)) ?? refuse('not_found');
}

export async function findSession(
  services: ReadServices,
  scope: TenantScope,
  id: SessionId,
): Promise<Session | undefined> {
  const session = await services.store.read.sessions.find(scope, id);
  return session && asOfNow(services, session);
}

export interface ListSessions {
  readonly filter: Omit<SessionFilter, 'expiredBefore' | 'upTo'>;
  readonly page: PageRequest;
}

export async function listSessions(
  services: ReadServices,
  scope: TenantScope,
  { filter, page }: ListSessions,
): Promise<PartialList<Session>> {
  const { store, clock, settings } = services;
  const idleTtlMs = settings.sessionIdleTtlMs;
  const expiredBefore = idleTtlMs > 0 ? clock.now() - idleTtlMs : undefined;
  const upTo = await lastToLookAt(store.read.sessions, scope, { filter, page });
  const found = await store.read.sessions.list(scope, { ...filter, expiredBefore, upTo }, page);
  const items = found.map((session) => asOfNow(services, session));
  return { items, isCut: upTo !== undefined, lookedTo: upTo };
}

/**
 * D-253: a page looks at a bounded number of the sessions with a label. One label alone needs no bound: all of them
 * match.
 */
async function lastToLookAt(
  sessions: SessionRepository,
  scope: TenantScope,
  { filter: { labels = [], status, agentName }, page }: ListSessions,
): Promise<string | undefined> {
  const [label, ...others] = labels;
  const hasMore = others.length > 0 || status !== undefined || agentName !== undefined;
  if (label === undefined || !hasMore) return undefined;
  return sessions.lastLabelled(scope, label, { ...page, limit: lookedAtMax });
}

/** Locks the session and returns it as of now, or refuses. */
export async function lockSession(
  services: Pick<Services, 'clock' | 'settings'>,
  tx: StoreTransaction,
  { scope, id }: { readonly scope: TenantScope; readonly id: SessionId },
): Promise<Session> {
  const session = await tx.sessions.lock(scope, id);
  return asOfNow(services, session ?? refuse('not_found'));
}

export interface StopSession {
  readonly id: SessionId;
  readonly mode: StopMode;
  readonly reason: string | undefined;
  /** The client or person that stops it. */
  readonly by?: string | undefined;
}

/** D-13: cancels the queue and pending interactions, and asks the current run to end. */
export async function stopSession(
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics' | 'traces' | 'settings'>,
  scope: TenantScope,
  request: StopSession,
): Promise<Session> {
  return services.store.transaction(async (tx) => {
    const now = services.clock.now();
    const found = await lockSession(services, tx, { scope, id: request.id });
    const queue = await tx.runs.queued(found.id);
    const session = orRefuse(stopped(queuedRunsCancelled(found, queue.length, now), request, now));
    // It has been done before: the first response may have been lost.
    if (session === found) return found;
    recordSession(services, tx, { seen: found, next: session });
    const by = request.by ?? null;
    const ending = queue.map((run) => ({ ...run, cancelledBy: by }));
    await recordQueueEnd(services, tx, { session, queue: ending });
    if (session.currentRunId !== null) {
      const address = { scope, sessionId: session.id, runId: session.currentRunId };
      const seen = await lockRun(tx, address);
      if (seen !== undefined) await askToEnd(services, tx, { seen, by });
    }
    return (await tx.sessions.find(scope, session.id)) ?? refuse('not_found');
  });
}

/** Records the cancel of a started run. The worker that holds the run, or the next one, ends it. */
export async function askToEnd(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics' | 'traces'>,
  tx: StoreTransaction,
  { seen, by }: { readonly seen: RunInSession; readonly by: string | null },
): Promise<Run> {
  const { run, session } = seen;
  const now = services.clock.now();
  const ruling = orRefuse(cancelRun(run, now, by));
  if (ruling.kind !== 'asked') return run;
  await cancelOpen(services, tx, { run, now });
  // Wake the leg; a parked run has none, so wake the workers.
  tx.onCommit(() => services.fanout.wake(run.lease === null ? 'work' : `control:${run.id}`));
  return recordMove(services, tx, {
    seen,
    move: { run: ruling.run, session: interactionsChanged(session, 0, now), events: [] },
  });
}

export interface UpdateSession {
  readonly id: SessionId;
  /** Null removes it; undefined leaves it. */
  readonly title: string | null | undefined;
  readonly labels: JsonObject | undefined;
}

/** D-252: labels are merged by key. What the session does stays as it is, so no notice tells it. */
export async function updateSession(
  services: ReadServices,
  scope: TenantScope,
  { id, title, labels: changes }: UpdateSession,
): Promise<Session> {
  return services.store.transaction(async (tx) => {
    const found = await lockSession(services, tx, { scope, id });
    const labels = orRefuse(changeLabels(found.labels, changes ?? {}));
    const next = { ...found, labels, title: title === undefined ? found.title : title };
    await tx.sessions.saveNames(next);
    if (changes !== undefined) await tx.labels.replace(next, labels);
    return next;
  });
}

/** Makes a stopped session usable again; one that was not stopped stays as it is (D-14). */
export async function resumeSession(
  services: ReadServices,
  scope: TenantScope,
  id: SessionId,
): Promise<Session> {
  return services.store.transaction(async (tx) => {
    const found = await lockSession(services, tx, { scope, id });
    const session = orRefuse(resumed(found, services.clock.now()));
    if (session !== found) tx.sessions.save(session);
    return session;
  });
}
