import { z } from 'zod';
import { scheduleIdSchema, sessionIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { givenLabels, labelChanges } from '../resources/labels.ts';
import { pageQuery } from '../resources/page.ts';
import { runInput, runRecord } from '../resources/run.ts';
import {
  fireList,
  missedPolicies,
  overlapPolicies,
  scheduleList,
  scheduleRecord,
  scheduleStatuses,
  slotPreview,
} from '../resources/schedule.ts';
import { sessionEndUser } from '../resources/session.ts';
import { text } from '../text.ts';
import { idempotencyKey, idempotencyKeyHeader, replayedHeader } from './idempotency.ts';

const ofSchedule = { schedule_id: scheduleIdSchema } as const;

/** A schedule starts runs and sessions, so its caller must be allowed to do so itself. */
const startsRuns = ['schedules:write', 'sessions:write', 'runs:write'] as const;

const plan = {
  name: text({ max: limits.nameMaxCharacters, blank: 'refused' }).meta({
    examples: ['Morning report'],
  }),
  cron: text({ max: limits.cronMaxCharacters }).meta({
    description:
      'Five fields: minute, hour, day of the month, month, day of the week. Each takes `*`, numbers, ' +
      'ranges, lists and steps; months and days also take English names (`JAN`, `MON`).',
    examples: ['0 9 * * 1-5'],
  }),
  time_zone: text({ max: limits.timeZoneMaxCharacters }).meta({
    description: 'An IANA time zone. The pattern is read in local time there.',
    examples: ['Europe/Berlin'],
  }),
  input: runInput,
  overlap: z.enum(overlapPolicies).meta({
    description:
      'What to do at a slot if the last run has not ended: skip the slot, or queue another run.',
  }),
  missed: z.enum(missedPolicies).meta({
    description: 'After slots were missed: start one run for the newest of them, or none.',
  }),
  missed_within_seconds: z.int().min(0).max(limits.missedWithinMaxSeconds).meta({
    description: 'Older missed slots start no run.',
  }),
};

export const createSchedule = defineOperation({
  id: 'create_schedule',
  method: 'POST',
  path: '/v1/schedules',
  tag: 'Schedules',
  summary: 'Create a schedule',
  description:
    'Starts a run of the agent at every slot of the cron pattern, exactly once, on any number of servers. Runs start as the client that creates the schedule, as long as it is allowed to start them.',
  caller: 'automation',
  scope: startsRuns,
  headers: idempotencyKeyHeader,
  body: z.strictObject({
    ...plan,
    agent_name: text({ max: limits.nameMaxCharacters }).meta({ examples: ['demo'] }),
    end_user: sessionEndUser.optional(),
    time_zone: plan.time_zone.default('UTC'),
    session: z
      .discriminatedUnion('mode', [
        z.strictObject({ mode: z.literal('new') }),
        z.strictObject({
          mode: z.literal('keep'),
          session_id: sessionIdSchema
            .meta({ description: 'Absent: the first run creates the session.' })
            .optional(),
        }),
      ])
      .meta({ description: 'A new session for each run, or one session for all runs.' })
      .default({ mode: 'new' }),
    labels: givenLabels.optional(),
    overlap: plan.overlap.default('skip'),
    missed: plan.missed.default('once'),
    missed_within_seconds: plan.missed_within_seconds.default(limits.missedWithinDefaultSeconds),
    idempotency_key: idempotencyKey,
  }),
  bodyRequired: true,
  responses: {
    201: { description: 'The new schedule.', schema: scheduleRecord },
    200: {
      description: 'The schedule that an earlier request with this key created, as it is now.',
      schema: scheduleRecord,
      headers: replayedHeader,
    },
  },
  errors: [
    'invalid_cron',
    'invalid_time_zone',
    'invalid_label',
    'label_limit_reached',
    'not_found',
    'agent_not_found',
    'idempotency_conflict',
    'session_terminal',
    'schedule_limit_reached',
  ],
});

export const listSchedules = defineOperation({
  id: 'list_schedules',
  sdk: { method: 'schedules.list' },
  method: 'GET',
  path: '/v1/schedules',
  tag: 'Schedules',
  summary: 'List the schedules of the tenant',
  description: 'Lists the schedules of all clients of the tenant, without their inputs.',
  caller: 'automation',
  scope: 'schedules:read',
  query: z.strictObject({
    status: z
      .enum(scheduleStatuses)
      .meta({ description: 'Schedules with this status.' })
      .optional(),
    agent_name: text({ max: limits.nameMaxCharacters })
      .meta({ description: 'Schedules of this agent.' })
      .optional(),
    ...pageQuery,
  }),
  responses: { 200: { description: 'One page, newest first.', schema: scheduleList } },
  errors: [],
});

export const getSchedule = defineOperation({
  id: 'get_schedule',
  sdk: { method: 'schedules.get' },
  method: 'GET',
  path: '/v1/schedules/{schedule_id}',
  tag: 'Schedules',
  summary: 'Read a schedule',
  description: 'Returns the schedule with its input, its next slot and its last run.',
  caller: 'automation',
  scope: 'schedules:read',
  params: ofSchedule,
  responses: { 200: { description: 'The schedule.', schema: scheduleRecord } },
  errors: [],
});

export const updateSchedule = defineOperation({
  id: 'update_schedule',
  sdk: { method: 'schedules.update' },
  method: 'PATCH',
  path: '/v1/schedules/{schedule_id}',
  tag: 'Schedules',
  summary: 'Change a schedule',
  description:
    'Changes the fields that are sent. A new pattern or time zone applies from now on: missed slots of the old one start no run. The caller that changes the pattern, the time zone or the input takes over the schedule: its runs then start as that caller.',
  caller: 'automation',
  scope: startsRuns,
  params: ofSchedule,
  body: z
    .strictObject({
      version: z.int().min(1).meta({ description: 'The version that you read.' }),
      name: plan.name.optional(),
      cron: plan.cron.optional(),
      time_zone: plan.time_zone.optional(),
      input: plan.input.optional(),
      labels: labelChanges.optional(),
      overlap: plan.overlap.optional(),
      missed: plan.missed.optional(),
      missed_within_seconds: plan.missed_within_seconds.optional(),
    })
    .meta({ examples: [{ version: 1, cron: '0 8 * * 1-5' }] }),
  bodyRequired: true,
  responses: { 200: { description: 'The changed schedule.', schema: scheduleRecord } },
  errors: [
    'invalid_cron',
    'invalid_time_zone',
    'invalid_label',
    'label_limit_reached',
    'agent_not_found',
    'version_conflict',
  ],
});

export const deleteSchedule = defineOperation({
  id: 'delete_schedule',
  sdk: { method: 'schedules.delete' },
  method: 'DELETE',
  path: '/v1/schedules/{schedule_id}',
  tag: 'Schedules',
  summary: 'Delete a schedule',
  description:
    'Starts no further runs. Runs that it started continue, and their sessions are kept. Deleting it again is 204, too.',
  caller: 'automation',
  scope: 'schedules:write',
  params: ofSchedule,
  responses: { 204: { description: 'The schedule is deleted.' } },
  errors: [],
});

export const pauseSchedule = defineOperation({
  id: 'pause_schedule',
  sdk: { method: 'schedules.pause', repeatable: true },
  method: 'POST',
  path: '/v1/schedules/{schedule_id}/pause',
  tag: 'Schedules',
  summary: 'Pause a schedule',
  description: 'Starts no further runs until the schedule is resumed.',
  caller: 'automation',
  scope: 'schedules:write',
  params: ofSchedule,
  body: z.strictObject({}),
  bodyRequired: false,
  responses: { 200: { description: 'The paused schedule.', schema: scheduleRecord } },
  errors: [],
});

export const resumeSchedule = defineOperation({
  id: 'resume_schedule',
  sdk: { method: 'schedules.resume', repeatable: true },
  method: 'POST',
  path: '/v1/schedules/{schedule_id}/resume',
  tag: 'Schedules',
  summary: 'Resume a schedule',
  description:
    'Slots that passed during the pause count as missed. If the schedule was paused because its client is no longer allowed to start runs, its runs start as the caller from now on.',
  caller: 'automation',
  scope: startsRuns,
  params: ofSchedule,
  body: z.strictObject({}),
  bodyRequired: false,
  responses: { 200: { description: 'The active schedule.', schema: scheduleRecord } },
  errors: [],
});

export const runSchedule = defineOperation({
  id: 'run_schedule',
  method: 'POST',
  path: '/v1/schedules/{schedule_id}/run',
  tag: 'Schedules',
  summary: 'Start a run of a schedule now',
  description:
    'Starts a run outside the schedule, even while it is paused or its last run has not ended. The next slot does not change.',
  caller: 'automation',
  scope: startsRuns,
  params: ofSchedule,
  headers: idempotencyKeyHeader,
  body: z.strictObject({ idempotency_key: idempotencyKey }),
  bodyRequired: false,
  responses: {
    201: { description: 'The new run.', schema: runRecord },
    200: {
      description: 'The run that an earlier request with this key started, in its current state.',
      schema: runRecord,
      headers: replayedHeader,
    },
  },
  errors: [
    'agent_not_found',
    'session_terminal',
    'session_stopped',
    'session_busy',
    'connection_missing',
    'file_not_ready',
  ],
});

export const listFires = defineOperation({
  id: 'list_fires',
  sdk: { method: 'schedules.fires' },
  method: 'GET',
  path: '/v1/schedules/{schedule_id}/fires',
  tag: 'Schedules',
  summary: 'List past slots of a schedule',
  description: `Lists past slots with their run, or the reason why they started none. Kept for ${limits.scheduleFireDays} days.`,
  caller: 'automation',
  scope: 'schedules:read',
  params: ofSchedule,
  query: z.strictObject(pageQuery),
  responses: { 200: { description: 'One page, newest first.', schema: fireList } },
  errors: [],
});

export const previewSchedule = defineOperation({
  id: 'preview_schedule',
  method: 'GET',
  path: '/v1/schedules/{schedule_id}/preview',
  tag: 'Schedules',
  summary: 'Show the next slots of a schedule',
  description: 'Returns the next slots, even while the schedule is paused.',
  caller: 'automation',
  scope: 'schedules:read',
  params: ofSchedule,
  query: z.strictObject({
    count: z
      .string()
      .refine((value) => /^[1-9][0-9]?$|^100$/.test(value), {
        error: 'must be a whole number from 1 to 100',
      })
      .transform(Number)
      .meta({
        type: 'integer',
        minimum: 1,
        maximum: limits.previewMax,
        description: 'How many.',
      })
      .default(limits.previewDefault),
  }),
  responses: { 200: { description: 'The next slots.', schema: slotPreview } },
  errors: [],
});
