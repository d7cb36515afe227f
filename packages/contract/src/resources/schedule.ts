import { z } from 'zod';
import { actorName, labels } from './labels.ts';
import { opaqueId } from './opaque-id.ts';
import { nextCursor, timestamp } from './page.ts';
import { runInput } from './run.ts';

export const scheduleStatuses = ['active', 'paused'] as const;
export type ScheduleStatus = (typeof scheduleStatuses)[number];

export const overlapPolicies = ['skip', 'queue'] as const;
export type OverlapPolicy = (typeof overlapPolicies)[number];

export const missedPolicies = ['once', 'skip'] as const;
export type MissedPolicy = (typeof missedPolicies)[number];

export const sessionModes = ['new', 'keep'] as const;
export type SessionMode = (typeof sessionModes)[number];

export const fireOutcomes = ['started', 'skipped', 'refused'] as const;
export type FireOutcome = (typeof fireOutcomes)[number];

/** Why a slot started no run, beside the error codes of a refused start. */
const skipReasons = ['missed', 'overlap'] as const;

/** D-140. A list leaves `input` out. */
export const scheduleSummary = z
  .object({
    id: opaqueId('schedule'),
    name: z.string().meta({ examples: ['Morning report'] }),
    agent_name: z.string().meta({ examples: ['demo'] }),
    end_user: z
      .string()
      .meta({
        description: 'The user of your product that its sessions are for.',
        examples: ['u-17'],
      })
      .optional(),
    cron: z.string().meta({ examples: ['0 9 * * 1-5'] }),
    time_zone: z.string().meta({ examples: ['Europe/Berlin'] }),
    session: z.object({
      mode: z.enum(sessionModes),
      session_id: opaqueId('session')
        .meta({ description: 'The session that is kept, once there is one.' })
        .optional(),
    }),
    labels: labels.meta({ description: 'Every run gets them, and its own `schedule_id`.' }),
    overlap: z.enum(overlapPolicies),
    missed: z.enum(missedPolicies),
    missed_within_seconds: z.int().min(0),
    status: z.enum(scheduleStatuses),
    status_reason: z
      .string()
      .meta({
        description: '`client_withdrawn`: the client or person is no longer allowed to start runs.',
        examples: ['client_withdrawn'],
      })
      .optional(),
    next_at: timestamp
      .meta({ description: 'The next slot. Absent while the schedule is paused.' })
      .optional(),
    last_slot_at: timestamp.meta({ description: 'The newest slot that was processed.' }).optional(),
    last_run_id: opaqueId('run').optional(),
    version: z.int().min(1).meta({ description: 'Send it with every update.' }),
    created_by: opaqueId('client').meta({
      description:
        'Id of the client or person that the runs start as: the one that created the schedule, or last changed its pattern, time zone or input.',
    }),
    created_by_name: actorName.optional(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ScheduleSummary', description: 'A schedule without its input.' });

export const scheduleRecord = z
  .object({
    ...scheduleSummary.shape,
    input: runInput.meta({ description: 'The input of every run.' }),
  })
  .meta({ id: 'Schedule', description: 'Starts runs of an agent on a cron schedule.' });

export type ScheduleSummary = z.infer<typeof scheduleSummary>;
export type ScheduleRecord = z.infer<typeof scheduleRecord>;

export const scheduleList = z.object({
  schedules: z.array(scheduleSummary),
  next_cursor: nextCursor,
});

export const fireRecord = z
  .object({
    slot_at: timestamp.meta({ description: 'The scheduled time.' }),
    fired_at: timestamp.meta({ description: 'When the service processed it.' }),
    outcome: z.enum(fireOutcomes),
    run_id: opaqueId('run').meta({ description: 'The run, if one was started.' }).optional(),
    session_id: opaqueId('session').optional(),
    code: z
      .string()
      .meta({
        description: `${skipReasons.map((reason) => `\`${reason}\``).join(' or ')}, or the code of the error that refused the run.`,
        examples: ['missed', 'overlap', 'session_busy'],
      })
      .optional(),
  })
  .meta({ id: 'ScheduleFire', description: 'The outcome of one slot of a schedule.' });

export type FireRecord = z.infer<typeof fireRecord>;

export const fireList = z.object({ fires: z.array(fireRecord), next_cursor: nextCursor });

export const slotPreview = z.object({
  times: z.array(timestamp).meta({ description: 'The next slots, soonest first.' }),
});
