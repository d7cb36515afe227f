import { type RunId, type SessionId, waitsShown } from '@convoke/contract';
import type { JsonObject } from '../../domain/json.ts';
import { changeLabels } from '../../domain/labels.ts';
import { cancelRun as cancelled } from '../../domain/run/run-cancel.ts';
import { type Run, isReady } from '../../domain/run/run.ts';
import { type OpenWait, waitingOn } from '../../domain/run/waiting-on.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { queuedRunsCancelled } from '../../domain/session.ts';
import type { CutPage, PageRequest } from '../../ports/page.ts';
import type { Store, StoreTransaction } from '../../ports/store.ts';
import { recordEnd } from '../record-end.ts';
import { type RunInSession, lockRun } from '../record.ts';
import { orRefuse, refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { askToEnd } from '../sessions.ts';

/** A run as the API shows it: with its position in the queue while it is queued, and its trace if there is one. */
export interface ShownRun {
  readonly run: Run;
  readonly queuePosition: number | undefined;
  /** Where this server exports traces and the run is sampled (D-582). */
  readonly traceId: string | undefined;
  /** What it waits for; undefined in lists, and if it waits for nothing. */
  readonly waitingOn?: readonly OpenWait[] | undefined;
}

/** As `withQueuePosition`, with the waits of the run. */
export async function withWaits(
  services: Pick<Services, 'store' | 'traces'>,
  run: Run,
): Promise<ShownRun> {
  const shown = await withQueuePosition(services, run);
  return { ...shown, waitingOn: await waitsOf(services, run) };
}

/** What the run waits for; undefined if for nothing. */
export async function waitsOf(
  { store }: Pick<Services, 'store'>,
  run: Pick<Run, 'id' | 'openWaits' | 'pendingInteractions'>,
): Promise<readonly OpenWait[] | undefined> {
  if (run.openWaits === 0 && run.pendingInteractions === 0) return undefined;
  const { waits, interactions } = store.read;
  const [open, pending] = await Promise.all([
    waits.open(run.id, waitsShown),
    interactions.pending(run.id, waitsShown),
  ]);
  const all = waitingOn(open, pending);
  return all.length === 0 ? undefined : all;
}

export async function withQueuePosition(
  { store, traces }: Pick<Services, 'store' | 'traces'>,
  run: Run,
): Promise<ShownRun> {
  const traceId = traces.runs?.traceId(run.id);
  return { run, queuePosition: await queuePositionOf(store, run), traceId };
}

async function queuePositionOf(store: Store, run: Run): Promise<number | undefined> {
  if (run.status !== 'queued') return undefined;
  // Only the head of the queue is ready to be claimed.
  if (isReady(run)) return 1;
  return 1 + (await store.read.runs.queuedBefore(run.sessionId, run.number));
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
): Promise<CutPage<Run>> {
  if ((await store.read.sessions.find(scope, request.sessionId)) === undefined) refuse('not_found');
  return store.read.runs.list(scope, request);
}

/** D-252: labels are merged by key. The run may have ended. */
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
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics' | 'traces'>,
  scope: TenantScope,
  { by = null, ...at }: CancelRun,
): Promise<{ readonly run: Run; readonly pending: boolean }> {
  return services.store.transaction(async (tx) => {
    const seen = (await lockRun(tx, { scope, ...at })) ?? refuse('not_found');
    return cancelWithin(services, tx, { seen, by });
  });
}

/** Cancels a run that is locked. */
export async function cancelWithin(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics' | 'traces'>,
  tx: StoreTransaction,
  { seen, by }: { readonly seen: RunInSession; readonly by: string | null },
): Promise<{ readonly run: Run; readonly pending: boolean }> {
  const now = services.clock.now();
  const ruling = orRefuse(cancelled(seen.run, now, by));
  switch (ruling.kind) {
    case 'already':
      // The wake-up of the first request may have been lost with its answer: send it again.
      tx.onCommit(() => services.fanout.wake(`control:${seen.run.id}`));
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
}
