import { type RunId, type SessionId, idPrefixes, runId, sessionId } from '@convoke/contract';
import { type Agent, type RunInput, isEnabledFor, readRunInput } from '../domain/agent.ts';
import type { JsonObject } from '../domain/json.ts';
import { type Run, cancelRun as cancelled, openRun } from '../domain/run.ts';
import type { TenantScope } from '../domain/scope.ts';
import { type Session, acceptRun, queuedRunsCancelled } from '../domain/session.ts';
import type { PageRequest } from '../ports/page.ts';
import type { Slot } from '../ports/run-slots.ts';
import type { Store, StoreTransaction } from '../ports/store.ts';
import { once } from './once.ts';
import { lockRun, recordEnd, recordNew, startLegMove } from './record.ts';
import { orRefuse, refuse } from './refusal.ts';
import type { Services } from './services.ts';
import { type Created, askToEnd, insertSession } from './sessions.ts';

export interface StartRun {
  readonly input: JsonObject;
  readonly idempotencyKey: string | undefined;
  readonly chargeRate: () => void;
}

type StartServices = Pick<
  Services,
  'store' | 'clock' | 'ids' | 'agents' | 'fanout' | 'metrics' | 'settings' | 'traces' | 'slots'
>;

/** D-22, D-23: one transaction takes the key, the place in line and the run. */
export async function startRun(
  services: StartServices,
  scope: TenantScope,
  request: StartRun & { readonly sessionId: SessionId },
): Promise<Created<Run>> {
  return startInOneTransaction(services, async (tx, reserve) => {
    const session = (await tx.sessions.lock(scope, request.sessionId)) ?? refuse('not_found');
    const id = runId(services.ids.next(idPrefixes.run));
    const first = await once(tx, {
      scope,
      place: `start_run:${session.id}`,
      key: request.idempotencyKey,
      body: { input: request.input },
      resourceId: id,
      now: services.clock.now(),
      chargeRate: request.chargeRate,
    });
    if (!first.fresh) {
      const known = await tx.runs.findById(scope, runId(first.resourceId));
      return { resource: known ?? refuse('not_found'), replayed: true };
    }
    return {
      resource: await insertRun(services, tx, { session, id, input: request.input, reserve }),
      replayed: false,
    };
  });
}

/** D-27: a session and its first run, or the run that the same key started before. */
export async function invokeAgent(
  services: StartServices,
  scope: TenantScope,
  request: StartRun & { readonly agentName: string },
): Promise<Created<Run>> {
  return startInOneTransaction(services, async (tx, reserve) => {
    const id = runId(services.ids.next(idPrefixes.run));
    const first = await once(tx, {
      scope,
      place: 'invoke_agent',
      key: request.idempotencyKey,
      // The path names the agent: with another one it is another request, not another key.
      body: { agent_name: request.agentName, input: request.input },
      resourceId: id,
      now: services.clock.now(),
      chargeRate: request.chargeRate,
    });
    if (!first.fresh) {
      const known = await tx.runs.findById(scope, runId(first.resourceId));
      return { resource: known ?? refuse('not_found'), replayed: true };
    }
    const opened = sessionId(services.ids.next(idPrefixes.session));
    const session = await insertSession(services, tx, { scope, id: opened, request });
    return {
      resource: await insertRun(services, tx, { session, id, input: request.input, reserve }),
      replayed: false,
    };
  });
}

type Reserve = (run: Run) => Slot | undefined;

/** In a span that names the run: from here a trace of the request leads to those of the run's legs. */
function startInOneTransaction(
  { store, traces, slots }: StartServices,
  work: (tx: StoreTransaction, reserve: Reserve) => Promise<Created<Run>>,
): Promise<Created<Run>> {
  let slot: Slot | undefined;
  const reserve: Reserve = (run) => {
    // The work may be done twice: what it took the first time came to nothing.
    slot?.release();
    return (slot = slots?.reserve(run));
  };
  return traces.within({ name: 'start run', parent: 'current' }, async (span) => {
    try {
      const created = await store.transaction((tx) => work(tx, reserve));
      span.note('convoke.run_id', created.resource.id);
      return created;
    } catch (error) {
      slot?.release();
      throw error;
    }
  });
}

/** What it returns is the run as it was taken in, also where it began at once. */
async function insertRun(
  services: StartServices,
  tx: StoreTransaction,
  {
    session,
    id,
    input,
    reserve,
  }: { session: Session; id: RunId; input: JsonObject; reserve: Reserve },
): Promise<Run> {
  const now = services.clock.now();
  const agent = enabledAgent(services, session);
  // D-52: what is wrong with the request is told before what is wrong with the state of things.
  const wanted = orRefuse(readRunInput(agent, input));
  const busy = { onBusy: agent.onBusy, queueMax: services.settings.sessionQueueMax };
  const accepted = orRefuse(acceptRun(session, busy, now));
  await requireReadyFiles(tx, session, wanted);
  const run = openRun(
    {
      id,
      organizationId: session.organizationId,
      tenantId: session.tenantId,
      sessionId: session.id,
      agentName: agent.name,
      number: accepted.runCount,
      input: JSON.stringify(input),
    },
    { isHead: session.currentRunId === null && session.queuedRuns === 0, now },
  );
  const slot = run.readyAt === null ? undefined : reserve(run);
  if (slot === undefined) {
    return recordNew(services, tx, { run, session: accepted, events: [] });
  }
  const begins = startLegMove({ run, session: accepted }, slot.lease, now);
  const begun = await recordNew(services, tx, begins);
  tx.onCommit(() => slot.start({ run: begun, session: begins.session }));
  return run;
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

/** A run as it is shown: with its place in line while it waits for its turn. */
export interface RunWithQueuePosition {
  readonly run: Run;
  readonly queuePosition: number | undefined;
}

export async function withQueuePosition(store: Store, run: Run): Promise<RunWithQueuePosition> {
  if (run.status !== 'queued') return { run, queuePosition: undefined };
  // Only the head of the line is ready to be picked up.
  if (run.readyAt !== null) return { run, queuePosition: 1 };
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

/** D-24: a queued run ends at once; an executing one is asked to, and the wish is durable. */
export async function cancelRun(
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics'>,
  scope: TenantScope,
  at: { readonly sessionId: SessionId; readonly runId: RunId },
): Promise<{ readonly run: Run; readonly pending: boolean }> {
  return services.store.transaction(async (tx) => {
    const now = services.clock.now();
    const seen = (await lockRun(tx, { scope, ...at })) ?? refuse('not_found');
    const ruling = orRefuse(cancelled(seen.run, now));
    switch (ruling.kind) {
      case 'already':
        // Asked again perhaps because the first answer was lost, and with it the word to the worker.
        tx.onCommit(() => services.fanout.wake(`control:${at.runId}`));
        return { run: ruling.run, pending: false };
      case 'asked':
        return { run: await askToEnd(services, tx, seen), pending: true };
      case 'ended': {
        const session = queuedRunsCancelled(seen.session, 1, now);
        const run = { ...seen.run, cancelRequestedAt: now };
        const ended = await recordEnd(services, tx, {
          seen: { session, run },
          outcome: { status: 'cancelled' },
        });
        return { run: ended, pending: false };
      }
      default:
        return ruling satisfies never;
    }
  });
}
