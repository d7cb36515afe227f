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
import { actorOf, clientOf } from '../actor.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
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

export function scheduleRoutes(services: Services, cursors: Cursors): Handlers<ScheduleOperations> {
  return { ...changes(services), ...steps(services), ...reads(services, cursors) };
}

type ReadOperations = 'list_schedules' | 'get_schedule' | 'list_fires' | 'preview_schedule';

function reads(services: Services, cursors: Cursors): Handlers<ReadOperations> {
  return {
    async list_schedules({ caller, query }) {
      const { status, agent_name: agentName } = query;
      const list = `schedules:${caller.scope.tenantId}:${status ?? ''}:${agentName ?? ''}`;
      const { items, next } = await cursors.page(list, query, {
        read: (page) =>
          listSchedules(services, caller.scope, { filter: { status, agentName }, page }),
        idOf: (schedule) => schedule.id,
      });
      return { status: 200, body: { schedules: items.map(scheduleSummaryView), ...next } };
    },

    async get_schedule({ caller, params }) {
      const schedule = await getSchedule(services, caller.scope, params.schedule_id);
      return { status: 200, body: scheduleView(schedule) };
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

function changes(services: Services): Handlers<ChangeOperations> {
  return {
    async create_schedule({ caller, headers, body, request, chargeRate }) {
      const { session } = body;
      const created = await createSchedule(services, caller.scope, {
        plan: {
          name: body.name,
          agentName: body.agent_name,
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
      const record = scheduleView(created.resource);
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
      return { status: 200, body: scheduleView(schedule) };
    },

    async delete_schedule({ caller, params, request }) {
      const at = { id: params.schedule_id, by: actorOf(caller, request) };
      await deleteSchedule(services, caller.scope, at);
      return { status: 204, body: undefined };
    },
  };
}

function steps(services: Services): Handlers<StepOperations> {
  return {
    async pause_schedule({ caller, params, request }) {
      const at = { id: params.schedule_id, by: actorOf(caller, request) };
      return { status: 200, body: scheduleView(await pauseSchedule(services, caller.scope, at)) };
    },

    async resume_schedule({ caller, params, request }) {
      const by = actorOf(caller, request);
      const at = { id: params.schedule_id, by, actor: caller.actor };
      return { status: 200, body: scheduleView(await resumeSchedule(services, caller.scope, at)) };
    },

    async run_schedule({ caller, params, headers, body, request, chargeRate }) {
      const started = await runSchedule(services, caller.scope, {
        id: params.schedule_id,
        by: actorOf(caller, request),
        idempotencyKey: idempotencyKeyOf(headers, body),
        clientId: clientOf(caller),
        chargeRate,
      });
      const record = runView(await withQueuePosition(services.store, started.resource));
      return started.replayed
        ? { status: 200, body: record, headers: replayed }
        : { status: 201, body: record };
    },
  };
}
