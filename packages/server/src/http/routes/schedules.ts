import type { ScheduleRecord } from '@convoke/contract';
import { withQueuePosition } from '../../app/runs/runs.ts';
import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  listFires,
  listSchedules,
  pauseSchedule,
  previewSchedule,
  resumeSchedule,
  runSchedule,
  updateSchedule,
} from '../../app/schedules/schedules.ts';
import type { Services } from '../../app/services.ts';
import { orRefuse } from '../../app/refusal.ts';
import type { ApplicationCaller } from '../../domain/access.ts';
import { endUserOfSession } from '../../domain/connections/declared.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import { actorOf, clientOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import type { RouteParts } from './route-parts.ts';
import { idempotencyKeyOf, replayed } from '../idempotency-key.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { runView } from '../views/runs.ts';
import { fireView, scheduleSummaryView, scheduleView } from '../views/schedules.ts';

type ScheduleOperations =
  | 'create_schedule'
  | 'list_schedules'
  | 'get_schedule'
  | 'update_schedule'
  | 'delete_schedule'
  | 'pause_schedule'
  | 'resume_schedule'
  | 'run_schedule'
  | 'list_fires'
  | 'preview_schedule';

export function scheduleRoutes(
  services: Services,
  parts: RouteParts,
): Handlers<ScheduleOperations> {
  return { ...changes(services, parts), ...steps(services, parts), ...reads(services, parts) };
}

type ReadOperations = 'list_schedules' | 'get_schedule' | 'list_fires' | 'preview_schedule';

/** A schedule with the name of who created it. */
async function viewOf({ actorNames }: RouteParts, schedule: Schedule): Promise<ScheduleRecord> {
  return scheduleView(schedule, await actorNames.of([schedule.createdBy.id]));
}

function reads(services: Services, parts: RouteParts): Handlers<ReadOperations> {
  const { cursors, actorNames } = parts;
  return {
    async list_schedules({ caller, query }) {
      const { status, agent_name: agentName } = query;
      const list = `schedules:${caller.scope.tenantId}:${status ?? ''}:${agentName ?? ''}`;
      const { items, next } = await cursors.page(list, query, {
        read: (page) =>
          listSchedules(services, caller.scope, { filter: { status, agentName }, page }),
        idOf: (schedule) => schedule.id,
      });
      const names = await actorNames.of(items.map(({ createdBy }) => createdBy.id));
      const schedules = items.map((schedule) => scheduleSummaryView(schedule, names));
      return { status: 200, body: { schedules, ...next } };
    },

    async get_schedule({ caller, params }) {
      const schedule = await getSchedule(services, caller.scope, params.schedule_id);
      return { status: 200, body: await viewOf(parts, schedule) };
    },

    async list_fires({ caller, params, query }) {
      const id = params.schedule_id;
      const { items, next } = await cursors.page(`fires:${caller.scope.tenantId}:${id}`, query, {
        read: (page) => listFires(services, caller.scope, { id, page }),
        idOf: (fire) => String(fire.slotAt),
      });
      return { status: 200, body: { fires: items.map(fireView), ...next } };
    },

    async preview_schedule({ caller, params, query }) {
      const request = { id: params.schedule_id, count: query.count };
      const slots = await previewSchedule(services, caller.scope, request);
      return { status: 200, body: { times: slots.map(isoTime) } };
    },
  };
}

type StepOperations = 'pause_schedule' | 'resume_schedule' | 'run_schedule';
type ChangeOperations = Exclude<ScheduleOperations, ReadOperations | StepOperations>;

function changes(services: Services, parts: RouteParts): Handlers<ChangeOperations> {
  return {
    async create_schedule({ caller, headers, body, request, chargeRate }) {
      const { session } = body;
      const created = await createSchedule(services, caller.scope, {
        plan: {
          name: body.name,
          agentName: body.agent_name,
          endUser: givenEndUser(caller, body.end_user),
          cron: body.cron,
          timeZone: body.time_zone,
          input: body.input,
          labels: body.labels,
          sessionMode: session.mode,
          sessionId: session.mode === 'keep' ? (session.session_id ?? null) : null,
          overlap: body.overlap,
          missed: body.missed,
          missedWithinMs: body.missed_within_seconds * 1000,
          createdBy: caller.actor,
        },
        idempotencyKey: idempotencyKeyOf(headers, body),
        by: actorOf(caller, request),
        chargeRate,
      });
      const record = await viewOf(parts, created.resource);
      return created.replayed
        ? { status: 200, body: record, headers: replayed }
        : { status: 201, body: record };
    },

    async update_schedule({ caller, params, body, request }) {
      const { time_zone: timeZone, missed_within_seconds: within, ...rest } = body;
      const missedWithinMs = within === undefined ? undefined : within * 1000;
      const schedule = await updateSchedule(services, caller.scope, {
        id: params.schedule_id,
        by: actorOf(caller, request),
        change: { ...rest, by: caller.actor, timeZone, missedWithinMs },
      });
      return { status: 200, body: await viewOf(parts, schedule) };
    },

    async delete_schedule({ caller, params, request }) {
      const at = { id: params.schedule_id, by: actorOf(caller, request) };
      await deleteSchedule(services, caller.scope, at);
      return { status: 204, body: undefined };
    },
  };
}

/** D-592: a person's schedule is for that person, and a slot runs for that person. */
function givenEndUser(
  caller: Pick<ApplicationCaller, 'actor'>,
  given: string | undefined,
): string | null {
  const endUser = orRefuse(endUserOfSession(caller, given));
  return caller.actor.kind === 'client' ? endUser : null;
}

function steps(services: Services, parts: RouteParts): Handlers<StepOperations> {
  return {
    async pause_schedule({ caller, params, request }) {
      const at = { id: params.schedule_id, by: actorOf(caller, request) };
      const paused = await pauseSchedule(services, caller.scope, at);
      return { status: 200, body: await viewOf(parts, paused) };
    },

    async resume_schedule({ caller, params, request }) {
      const by = actorOf(caller, request);
      const at = { id: params.schedule_id, by, actor: caller.actor };
      const resumed = await resumeSchedule(services, caller.scope, at);
      return { status: 200, body: await viewOf(parts, resumed) };
    },

    async run_schedule({ caller, params, headers, body, request, chargeRate }) {
      const started = await runSchedule(services, caller.scope, {
        id: params.schedule_id,
        by: actorOf(caller, request),
        idempotencyKey: idempotencyKeyOf(headers, body),
        clientId: clientOf(caller),
        chargeRate,
      });
      const run = started.resource;
      const names = await parts.actorNames.of([run.createdBy]);
      const record = runView(await withQueuePosition(services, run), names);
      return started.replayed
        ? { status: 200, body: record, headers: replayed }
        : { status: 201, body: record };
    },
  };
}
