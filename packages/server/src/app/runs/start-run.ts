import { type SessionId, idPrefixes, runId, sessionId } from '@convoke/contract';
import type { JsonObject } from '../../domain/json.ts';
import { type Run, isParked } from '../../domain/run/run.ts';
import { sleepWords } from '../../domain/run/waiting-on.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { Session } from '../../domain/session.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { expireEnded } from '../connections/required-accounts.ts';
import { claimKey, keyScope, moveKey } from '../once.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { type Created, endUserText, insertSession, lockSession } from '../sessions.ts';
import { type RequestedRun, insertRun, laterId } from './insert-run.ts';
import { InlineSlot } from './inline-slot.ts';

export interface StartRun extends RequestedRun {
  readonly idempotencyKey: string | undefined;
  readonly chargeRate: () => void;
  /** For a chat: the run would queue behind one that waits, and the page would hang. */
  readonly isRefusedWhileWaiting?: boolean;
}

export type StartServices = Pick<
  Services,
  | 'store'
  | 'clock'
  | 'ids'
  | 'agents'
  | 'fanout'
  | 'metrics'
  | 'settings'
  | 'traces'
  | 'slots'
  | 'isSingleServer'
  | 'prices'
>;

/** D-22, D-23: one transaction claims the key, takes the position in the queue and inserts the run. */
export function startRun(
  services: StartServices,
  scope: TenantScope,
  request: StartRun & { readonly sessionId: SessionId },
): Promise<Created<Run>> {
  const id = request.sessionId;
  return startInTransaction(services, (tx, slot) =>
    startOnce(services, tx, {
      scope,
      request,
      place: `start_run:${id}`,
      body: { input: request.input, ...labelsOf(request), ...ceilingText(request) },
      session: {
        isNew: false,
        get: async () => {
          const [session] = await Promise.all([
            lockSession(services, tx, { scope, id }),
            slot.readShare(tx, scope),
            slot.readState(tx, id),
          ]);
          return session;
        },
      },
      slot,
    }),
  );
}

/** The run that an earlier request with this key started. */
export async function findStarted(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  { sessionId: id, idempotencyKey: key }: { sessionId: SessionId; idempotencyKey: string },
): Promise<Run | undefined> {
  const place = { scope, place: `start_run:${id}` };
  const known = await store.read.idempotency.find(keyScope(place), key);
  return known && store.read.runs.find(scope, id, runId(known.resourceId));
}

/** D-27: a session and its first run, or the run that the same key started before. */
export function invokeAgent(
  services: StartServices,
  scope: TenantScope,
  request: StartRun & { readonly agentName: string; readonly endUser?: string | null | undefined },
): Promise<Created<Run>> {
  return startInTransaction(services, (tx, slot) =>
    startOnce(services, tx, {
      scope,
      request,
      place: 'invoke_agent',
      // The path names the agent: with another agent it is another request, not another key.
      body: {
        agent_name: request.agentName,
        input: request.input,
        ...labelsOf(request),
        ...ceilingText(request),
        ...endUserText(request),
      },
      session: {
        isNew: true,
        get: async () => {
          const id = sessionId(services.ids.next(idPrefixes.session));
          const { agentName, createdBy, endUser } = request;
          const [session] = await Promise.all([
            insertSession(services, tx, { scope, id, request: { agentName, createdBy, endUser } }),
            slot.readShare(tx, scope),
          ]);
          return session;
        },
      },
      slot,
    }),
  );
}

/** Absent in the fingerprint of a request without labels, so that keys of an older server stay good. */
function labelsOf({ labels }: StartRun): { labels?: JsonObject } {
  return labels === undefined ? {} : { labels };
}

/** Absent in the fingerprint of a request without a ceiling, for the same reason. */
function ceilingText({ ceiling }: StartRun): JsonObject {
  if (ceiling === undefined) return {};
  return { budget: { max_tokens: ceiling.maxTokens, max_cost: ceiling.maxCostMicros } };
}

/** Runs in a span of the caller's trace, which links to the trace of the run, and that links back (D-582). */
function startInTransaction(
  services: StartServices,
  work: (tx: StoreTransaction, slot: InlineSlot) => Promise<Created<Run>>,
): Promise<Created<Run>> {
  const slot = new InlineSlot(services);
  return services.traces.within({ name: 'start run', parent: 'current' }, async (span) => {
    try {
      const created = await services.store.transaction((tx) => work(tx, slot));
      const run = created.resource;
      span.isAbout(run.id);
      if (!created.replayed) {
        const times = { from: run.createdAt, to: services.clock.now() };
        services.traces.runs?.started(run, times);
      }
      return created;
    } catch (error) {
      slot.giveUp(error);
      await expireEnded(services, error);
      throw error;
    }
  });
}

/** A page would hang behind a run that waits for a person, or sleeps for days (D-913). */
async function refuseWhileWaiting(
  tx: StoreTransaction,
  scope: TenantScope,
  { status, currentRunId }: Session,
): Promise<void> {
  if (status === 'waiting') {
    refuse('session_busy', { message: 'The agent waits for an answer.' });
  }
  const run = currentRunId === null ? undefined : await tx.runs.findById(scope, currentRunId);
  if (run === undefined || !isParked(run) || run.readyAt !== null) return;
  const [wait] = await tx.waits.open(run.id, 1);
  if (wait !== undefined) refuse('session_busy', { message: sleepWords(wait) });
}

interface Start {
  readonly scope: TenantScope;
  readonly request: StartRun;
  readonly place: string;
  readonly body: JsonObject;
  /** Locks the session of the run, or makes it if it is new; one is made for a first request only. */
  readonly session: { readonly isNew: boolean; readonly get: () => Promise<Session> };
  readonly slot: InlineSlot;
}

/** Starts a run in the caller's transaction. A worker claims it: no slot is reserved for it. */
export function startWithin(
  services: StartServices,
  tx: StoreTransaction,
  start: Omit<Start, 'slot'>,
): Promise<Created<Run>> {
  const slot = new InlineSlot({ ...services, slots: undefined });
  return startOnce(services, tx, { ...start, slot });
}

async function startOnce(
  services: StartServices,
  tx: StoreTransaction,
  { scope, request, place, body, session, slot }: Start,
): Promise<Created<Run>> {
  slot.reset();
  const id = runId(services.ids.next(idPrefixes.run));
  const claim = {
    scope,
    place,
    key: request.idempotencyKey,
    body,
    resourceId: id,
    now: services.clock.now(),
  };
  // In this order, in one message. A session that refuses the run takes the key back.
  const [locked, first, hasBudgets] = await Promise.all([
    session.isNew ? undefined : session.get(),
    claimKey(tx, claim),
    tx.budgets.exist(scope.organizationId),
  ]);
  if (!first.fresh) {
    const known = await tx.runs.findById(scope, runId(first.resourceId));
    return { resource: known ?? refuse('not_found'), replayed: true };
  }
  request.chargeRate();
  if (request.isRefusedWhileWaiting === true && locked !== undefined) {
    await refuseWhileWaiting(tx, scope, locked);
  }
  const later = locked === undefined ? id : await laterId(services, tx, { id, session: locked });
  if (later !== id) moveKey(tx, claim, later);
  const run = await insertRun(services, tx, {
    session: locked ?? (await session.get()),
    id: later,
    request,
    slot,
    hasBudgets,
  });
  return { resource: run, replayed: false };
}
