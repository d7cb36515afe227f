import {
  type ClientId,
  type RunId,
  type SessionId,
  idPrefixes,
  runId,
  sessionId,
} from '@convoke/contract';
import { type Agent, type RunInput, isEnabledFor, readRunInput } from '../../domain/agent.ts';
import { timeOfId } from '../../domain/id-time.ts';
import { type Ceiling, noCeiling, stricter } from '../../domain/usage/budget.ts';
import type { JsonObject } from '../../domain/json.ts';
import { changeLabels, inheritLabels, readLabels } from '../../domain/labels.ts';
import { previewOf } from '../../domain/preview.ts';
import { isRefused } from '../../domain/usage/prices.ts';
import { cancelRun as cancelled } from '../../domain/run/run-cancel.ts';
import { type Run, isReady, openRun } from '../../domain/run/run.ts';
import type { TenantScope } from '../../domain/scope.ts';
import {
  type Session,
  acceptRun,
  acceptsFiles,
  changeTime,
  isFree,
  queuedRunsCancelled,
  titled,
} from '../../domain/session.ts';
import type { PageRequest } from '../../ports/page.ts';
import type { Store, StoreTransaction } from '../../ports/store.ts';
import { refuseUnpriced } from '../usage/budgets.ts';
import { claimKey, moveKey } from '../once.ts';
import { lockRun, recordEnd, recordNew, startLegMove } from '../record.ts';
import { orRefuse, refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { type Created, askToEnd, insertSession, lockSession } from '../sessions.ts';
import { StartSlot } from './start-slot.ts';

export interface StartRun {
  readonly input: JsonObject;
  /** The client whose usage the run is; null for none. */
  readonly clientId: ClientId | null;
  /** The client or the person that starts it; the client when absent. */
  readonly createdBy?: string | undefined;
  /** Labels of the run, as the request has them. */
  readonly labels?: JsonObject | undefined;
  /** Lowers the ceiling of the agent. */
  readonly ceiling?: Ceiling | undefined;
  readonly idempotencyKey: string | undefined;
  readonly chargeRate: () => void;
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

/** D-27: a session and its first run, or the run that the same key started before. */
export function invokeAgent(
  services: StartServices,
  scope: TenantScope,
  request: StartRun & { readonly agentName: string },
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
      },
      session: {
        isNew: true,
        get: async () => {
          const id = sessionId(services.ids.next(idPrefixes.session));
          const { agentName, createdBy } = request;
          const [session] = await Promise.all([
            insertSession(services, tx, { scope, id, request: { agentName, createdBy } }),
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

/** Runs in a span that names the run, so a trace of the request leads to the traces of the run's legs. */
function startInTransaction(
  services: StartServices,
  work: (tx: StoreTransaction, slot: StartSlot) => Promise<Created<Run>>,
): Promise<Created<Run>> {
  const slot = new StartSlot(services);
  return services.traces.within({ name: 'start run', parent: 'current' }, async (span) => {
    try {
      const created = await services.store.transaction((tx) => work(tx, slot));
      span.note('convoke.run_id', created.resource.id);
      return created;
    } catch (error) {
      slot.giveUp(error);
      throw error;
    }
  });
}

interface Start {
  readonly scope: TenantScope;
  readonly request: StartRun;
  readonly place: string;
  readonly body: JsonObject;
  /** Locks the session of the run, or makes it if it is new; one is made for a first request only. */
  readonly session: { readonly isNew: boolean; readonly get: () => Promise<Session> };
  readonly slot: StartSlot;
}

/** Starts a run in the caller's transaction. A worker claims it: no slot is reserved for it. */
export function startWithin(
  services: StartServices,
  tx: StoreTransaction,
  start: Omit<Start, 'slot'>,
): Promise<Created<Run>> {
  const slot = new StartSlot({ ...services, slots: undefined });
  return startOnce(services, tx, { ...start, slot });
}

async function startOnce(
  services: StartServices,
  tx: StoreTransaction,
  { scope, request, place, body, session, slot }: Start,
): Promise<Created<Run>> {
  slot.begin();
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

/**
 * D-01: an id that sorts after those of the session's earlier runs, which other servers may have made. The last change
 * of the session is never before the time in its newest run's id, so only an id that is not later needs a look at that run.
 */
async function laterId(
  { ids }: Pick<Services, 'ids'>,
  tx: StoreTransaction,
  { id, session }: { readonly id: RunId; readonly session: Session },
): Promise<RunId> {
  if (timeOfId(id) > session.updatedAt) return id;
  return runId(ids.next(idPrefixes.run, await tx.runs.newestId(session.id)));
}

interface NewRun {
  readonly session: Session;
  readonly id: RunId;
  readonly request: StartRun;
  readonly slot: StartSlot;
  readonly hasBudgets: boolean;
}

/** Returns the run as it is stored: `running` when its first leg starts with the commit. */
async function insertRun(
  services: StartServices,
  tx: StoreTransaction,
  { session, id, request, slot, hasBudgets }: NewRun,
): Promise<Run> {
  // Ids may be ahead of the clock, and no run is older than its id (`laterId`).
  const now = Math.max(changeTime(session, services.clock.now()), timeOfId(id));
  const { input, clientId } = request;
  const agent = enabledAgent(services, session);
  // D-52: faults of the request are reported before those of the session's state.
  const takesFiles = acceptsFiles(session, services.settings);
  const wanted = orRefuse(readRunInput(input, { agentName: agent.name, takesFiles }));
  const own = orRefuse(readLabels(request.labels ?? {}));
  const labels = orRefuse(inheritLabels(session.labels, own));
  const busy = { onBusy: agent.onBusy, queueMax: services.settings.sessionQueueMax };
  const preview = previewOf(wanted.prompt);
  const accepted = orRefuse(acceptRun(titled(session, preview), busy, now));
  if (wanted.fileIds.length > 0) await requireReadyFiles(tx, session, wanted);
  const ceiling = stricter(agent.limits.ceiling ?? noCeiling, request.ceiling ?? noCeiling);
  const isUnpriced = isRefused(services.prices, agent);
  if (isUnpriced && ceiling.maxCostMicros !== null) refuseUnpriced(agent);
  const run = openRun(
    {
      id,
      organizationId: session.organizationId,
      tenantId: session.tenantId,
      sessionId: session.id,
      agentName: agent.name,
      clientId,
      createdBy: request.createdBy ?? clientId,
      preview,
      labels,
      ceiling,
      number: accepted.runCount,
      input: JSON.stringify(input),
    },
    { isHead: isFree(session), now },
  );
  tx.labels.insert(run, labels);
  const check = hasBudgets ? { isUnpriced } : undefined;
  const reserved = isReady(run) ? slot.reserve(run) : undefined;
  if (reserved === undefined) {
    return recordNew(services, tx, { move: { run, session: accepted, events: [] }, check });
  }
  const move = startLegMove({ run, session: accepted }, { lease: reserved.lease, now });
  const started = await recordNew(services, tx, { move, check });
  tx.onCommit(() => reserved.start({ run: started, session: move.session }));
  return started;
}

function enabledAgent({ agents }: Pick<Services, 'agents'>, session: Session): Agent {
  const agent = agents.find(session.agentName);
  if (agent === undefined || !isEnabledFor(agent, session.tenantId))
    return refuse('agent_not_found');
  return agent;
}

async function requireReadyFiles(
  tx: StoreTransaction,
  session: Session,
  input: RunInput,
): Promise<void> {
  for (const id of new Set(input.fileIds)) {
    if (!(await tx.files.isReady(session.id, id))) {
      refuse('file_not_ready', {
        message: `input.files: ${id} is not a ready file of this session.`,
      });
    }
  }
}

/** A run as the API shows it: with its position in the queue while it is queued. */
export interface RunWithQueuePosition {
  readonly run: Run;
  readonly queuePosition: number | undefined;
}

export async function withQueuePosition(store: Store, run: Run): Promise<RunWithQueuePosition> {
  if (run.status !== 'queued') return { run, queuePosition: undefined };
  // Only the head of the queue is ready to be claimed.
  if (isReady(run)) return { run, queuePosition: 1 };
  return {
    run,
    queuePosition: 1 + (await store.read.runs.queuedBefore(run.sessionId, run.number)),
  };
}

export async function getRun(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  at: { readonly sessionId: SessionId; readonly runId: RunId },
): Promise<Run> {
  return (await store.read.runs.find(scope, at.sessionId, at.runId)) ?? refuse('not_found');
}

export interface ListRuns {
  readonly sessionId: SessionId;
  readonly filter: { readonly status?: Run['status'] | undefined };
  readonly page: PageRequest;
}

export async function listRuns(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  request: ListRuns,
): Promise<Run[]> {
  if ((await store.read.sessions.find(scope, request.sessionId)) === undefined) refuse('not_found');
  return store.read.runs.list(scope, request);
}

/** labels are merged by key. The run may have ended. */
export async function updateRun(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  { labels: changes, ...at }: { sessionId: SessionId; runId: RunId; labels: JsonObject },
): Promise<Run> {
  return store.transaction(async (tx) => {
    const { run } = (await lockRun(tx, { scope, ...at })) ?? refuse('not_found');
    const labels = orRefuse(changeLabels(run.labels, changes));
    await tx.runs.saveLabels(run.id, labels);
    await tx.labels.replace(run, labels);
    return { ...run, labels };
  });
}

export interface CancelRun {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** The client or person that asks. */
  readonly by?: string | null;
}

/** D-24: a queued run ends at once; the worker of an executing one is asked to end it, durably. */
export async function cancelRun(
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics'>,
  scope: TenantScope,
  { by = null, ...at }: CancelRun,
): Promise<{ readonly run: Run; readonly pending: boolean }> {
  return services.store.transaction(async (tx) => {
    const now = services.clock.now();
    const seen = (await lockRun(tx, { scope, ...at })) ?? refuse('not_found');
    const ruling = orRefuse(cancelled(seen.run, now, by));
    switch (ruling.kind) {
      case 'already':
        // The wake-up of the first request may have been lost with its answer: send it again.
        tx.onCommit(() => services.fanout.wake(`control:${at.runId}`));
        return { run: ruling.run, pending: false };
      case 'asked':
        return { run: await askToEnd(services, tx, { seen, by }), pending: true };
      case 'unstarted': {
        const session = queuedRunsCancelled(seen.session, 1, now);
        const ended = await recordEnd(services, tx, {
          seen: { session, run: ruling.run },
          outcome: { status: 'cancelled' },
        });
        return { run: ended, pending: false };
      }
      default:
        return ruling satisfies never;
    }
  });
}
