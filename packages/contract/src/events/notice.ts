import { z } from 'zod';
import { runErrorCodes } from '../errors.ts';
import { exampleId } from '../ids.ts';
import { feedbackAuthorKinds } from '../resources/runs/feedback.ts';
import { interactionKinds } from '../resources/interaction.ts';
import { labels } from '../resources/labels.ts';
import { opaqueId } from '../resources/opaque-id.ts';
import { nextCursor, timestamp } from '../resources/page.ts';
import { runStatuses } from '../resources/run.ts';
import { sessionStatuses } from '../resources/session.ts';
import { type NoticeType, noticeTypes } from './notice-types.ts';

/** D-110: the closed list of types. */
export const noticeTypeNames = Object.keys(noticeTypes) as [NoticeType, ...NoticeType[]];

const statuses = [...new Set([...runStatuses, ...sessionStatuses])] as const;

/** The fields of all types; which ones a type has is in `noticeTypes`. */
const noticeData = z
  .object({
    agent_name: z.string().optional(),
    status: z
      .enum(statuses)
      .meta({ description: 'Status of the run or of the session after the change.' })
      .optional(),
    labels: labels
      .meta({ description: 'Labels of the run or of the session, if it has any.' })
      .optional(),
    run_event_id: z
      .string()
      .meta({ description: 'The corresponding event in the log of the run.' })
      .optional(),
    interaction_key: opaqueId('interaction').optional(),
    kind: z.enum(interactionKinds).optional(),
    error_code: z.enum(runErrorCodes).optional(),
    feedback_key: z.string().optional(),
    score: z.number().meta({ description: 'Score of the feedback, if it has one.' }).optional(),
    author_kind: z.enum(feedbackAuthorKinds).optional(),
    deleted: z.literal(true).meta({ description: 'The feedback was deleted.' }).optional(),
    budget_id: z.string().optional(),
    percent: z.int().meta({ description: 'The share of the budget that was reached.' }).optional(),
    webhook_id: z.string().optional(),
    connection_id: z.string().optional(),
    service: z.string().meta({ description: 'The service of the connection.' }).optional(),
    end_user: z
      .string()
      .meta({ description: 'Whose connection it is; absent for the tenant.' })
      .optional(),
    schedule_id: z.string().optional(),
    slot_at: timestamp.optional(),
    reason: z.string().optional(),
  })
  .meta({ description: 'Ids and states. Read the rest with the operation of the resource.' });

/** D-112: the envelope of every notice. */
export const notice = z
  .object({
    id: z.string().meta({
      description:
        'The number of the notice in the feed, without gaps. Send it as Last-Event-ID to continue after it.',
      examples: ['0000000000000042'],
    }),
    type: z.enum(noticeTypeNames).meta({
      description: 'What happened. Ignore unknown types: later versions add some.',
    }),
    session_id: opaqueId('session').optional(),
    run_id: opaqueId('run').optional(),
    created_at: timestamp,
    data: noticeData,
  })
  .meta({
    id: 'Notice',
    description: 'One change in a tenant.',
    examples: [
      {
        id: '0000000000000042',
        type: 'run_completed',
        session_id: exampleId('session'),
        run_id: exampleId('run'),
        created_at: '2026-01-15T09:30:00.000Z',
        data: { agent_name: 'demo', status: 'completed', run_event_id: '000000000007' },
      },
    ],
  });

export type Notice = z.infer<typeof notice>;

export const noticeList = z.object({
  events: z.array(notice),
  last_event_id: z
    .string()
    .meta({
      description:
        'How far this page got, including notices that `types` left out. Send it as Last-Event-ID to continue later.',
    })
    .optional(),
  next_cursor: nextCursor,
});
