import {
  type RunEvent,
  formatEventId,
  isTerminalRunStatus,
  limits,
  parseEventId,
} from '@convoke/contract';
import { logOf, readLog } from '../../app/runs/run-log.ts';
import { refuse } from '../../app/refusal.ts';
import {
  cancelRun,
  getRun,
  listRuns,
  updateRun,
  withQueuePosition,
  withWaits,
} from '../../app/runs/runs.ts';
import { sendSignal } from '../../app/runs/signals.ts';
import { startRun } from '../../app/runs/start-run.ts';
import type { Services } from '../../app/services.ts';
import type { ApplicationCaller } from '../../domain/access.ts';
import type { Run } from '../../domain/run/run.ts';
import { actorOf, clientOf } from '../actor.ts';
import type { Cursors, PageQuery } from '../cursors.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import type { RunFollowers } from '../streams/run-frames.ts';
import { ceilingIn } from '../ceiling.ts';
import type { Handlers } from '../handler.ts';
import { idempotencyKeyOf, replayed } from '../idempotency-key.ts';
import { chooseMedia } from '../media.ts';
import type { RouteParts } from './route-parts.ts';
import { runView } from '../views/runs.ts';

type RunOperations =
  | 'start_run'
  | 'list_runs'
  | 'get_run'
  | 'cancel_run'
  | 'follow_run_events'
  | 'update_run'
  | 'signal_run';

export interface RunRouteParts extends RouteParts {
  readonly followers: RunFollowers;
  readonly streams: EventStreams;
}

export function runRoutes(services: Services, parts: RunRouteParts): Handlers<RunOperations> {
  const { cursors, actorNames } = parts;
  const view = async (run: Run, caller: ApplicationCaller) => {
    const names = await actorNames.of([run.createdBy, run.cancelledBy], caller);
    return runView(await withQueuePosition(services, run), names);
  };
  const viewWithWaits = async (run: Run, caller: ApplicationCaller) => {
    const names = await actorNames.of([run.createdBy, run.cancelledBy], caller);
    return runView(await withWaits(services, run), names);
  };
  return {
    async start_run({ caller, params, headers, body, chargeRate }) {
      const started = await startRun(services, caller.scope, {
        sessionId: params.session_id,
        input: body.input,
        clientId: clientOf(caller),
        createdBy: caller.actor.id,
        labels: body.labels,
        ceiling: ceilingIn(body.budget),
        idempotencyKey: idempotencyKeyOf(headers, body),
        chargeRate,
      });
      const record = await view(started.resource, caller);
      return started.replayed
        ? { status: 200, body: record, headers: replayed }
        : { status: 201, body: record };
    },

    async list_runs({ caller, params, query }) {
      const sessionId = params.session_id;
      const filter = { status: query.status };
      const { items, next } = await cursors.page(
        `runs:${sessionId}:${filter.status ?? ''}`,
        query,
        {
          read: (page) => listRuns(services, caller.scope, { sessionId, filter, page }),
          idOf: (run) => run.id,
        },
      );
      const runs = await Promise.all(items.map((run) => view(run, caller)));
      return { status: 200, body: { runs, ...next } };
    },

    async update_run({ caller, params, body }) {
      const request = {
        sessionId: params.session_id,
        runId: params.run_id,
        labels: body.labels,
      };
      const run = await updateRun(services, caller.scope, request);
      return { status: 200, body: await view(run, caller) };
    },

    async get_run({ caller, params }) {
      const at = { sessionId: params.session_id, runId: params.run_id };
      const run = await getRun(services, caller.scope, at);
      return { status: 200, body: await viewWithWaits(run, caller) };
    },

    async cancel_run({ caller, params }) {
      const at = { sessionId: params.session_id, runId: params.run_id };
      const asked = { ...at, by: caller.actor.id };
      const { run, pending } = await cancelRun(services, caller.scope, asked);
      return { status: pending ? 202 : 200, body: await view(run, caller) };
    },
    ...signalRoute(services),
    ...followRoute(services, parts),
  };
}

function signalRoute(services: Services): Handlers<'signal_run'> {
  return {
    async signal_run({ caller, params, headers, body, request, chargeRate }) {
      const { run_id: runId } = params;
      const { name, data = null } = body;
      const { isReplayed, isReceived } = await sendSignal(services, caller.scope, {
        runId,
        name,
        data,
        idempotencyKey: idempotencyKeyOf(headers, body),
        by: actorOf(caller, request),
        chargeRate,
      });
      const sent = { run_id: runId, name, status: isReceived ? 'received' : 'kept' } as const;
      return isReplayed
        ? { status: 200, body: sent, headers: replayed }
        : { status: 202, body: sent };
    },
  };
}

function followRoute(
  services: Services,
  { cursors, followers, streams }: RunRouteParts,
): Handlers<'follow_run_events'> {
  return {
    async follow_run_events({ caller, params, query, headers, request }) {
      const at = { sessionId: params.session_id, runId: params.run_id };
      const media = chooseMedia(request.raw.headers.accept, [
        'text/event-stream',
        'application/json',
      ]);
      const run = await getRun(services, caller.scope, at);
      const after = positionIn(run, headers['last-event-id']);
      if (media === 'application/json') {
        return { status: 200, body: await readEventPage(services, { cursors, query, run, after }) };
      }
      if (hasNothingAfter(run, after)) return { status: 204, body: undefined };
      const log = logOf(run);
      const follower = followers[query.event_names];
      return {
        write: (response, base) =>
          streams.send(response, {
            caller,
            headers: base,
            follow: (reader) => follower.follow({ run: log, after, ...reader }),
          }),
      };
    },
  };
}

interface EventPageRequest {
  readonly run: Run;
  readonly after: number;
  readonly query: Omit<PageQuery, 'order'>;
  readonly cursors: Cursors;
}

/** Reads events as JSON (D-34), from the cursor of the query or after the given sequence number. */
async function readEventPage(
  services: Services,
  { run, after, query, cursors }: EventPageRequest,
): Promise<{ events: RunEvent[]; next_cursor?: string }> {
  const ascending = { ...query, order: 'asc' as const };
  const { items, next } = await cursors.page(`run_events:${run.id}`, ascending, {
    async read(page) {
      const from = page.after === undefined ? after : Number(page.after);
      const range = { after: from, limit: page.limit, maxBytes: limits.pageMaxBytes };
      const { events, isCut } = await readLog(services, logOf(run), range);
      return { items: events, isCut };
    },
    idOf: (event) => String(event.seq),
  });
  return { events: items.map((event) => JSON.parse(event.body) as RunEvent), ...next };
}

/** D-249: an EventSource reconnects after every end of a stream, and 204 is what stops it. */
function hasNothingAfter(run: Run, seq: number): boolean {
  return isTerminalRunStatus(run.status) && seq >= run.lastSeq;
}

/**
 * D-32: an empty header counts as absent. An id that is not in this run's log is refused, never read as "from now on".
 */
function positionIn(run: Run, lastEventId: string | undefined): number {
  if (lastEventId === undefined || lastEventId === '') return 0;
  const seq = parseEventId(lastEventId);
  if (seq === undefined || seq < 1 || seq > run.lastSeq) {
    const newest =
      run.lastSeq === 0 ? 'it has no events yet' : `its newest is ${formatEventId(run.lastSeq)}`;
    return refuse('invalid_last_event_id', {
      message: `Last-Event-ID is not an event of this run; ${newest}.`,
    });
  }
  return seq;
}
