import { z } from 'zod';
import { runErrorCodes } from '../errors.ts';
import { connectionReasons } from '../resources/connections/connection.ts';
import { interactionKinds } from '../resources/interaction.ts';
import {
  feedbackAuthorKinds,
  feedbackKeySchema,
  feedbackScore,
} from '../resources/runs/feedback.ts';
import { runStatuses } from '../resources/run.ts';
import { sessionStatuses } from '../resources/session.ts';
import { labels } from '../resources/labels.ts';
import { timestamp } from '../resources/page.ts';

const ofRun = {
  agent_name: z.string(),
  labels: labels.optional(),
  status: z.enum(runStatuses),
  run_event_id: z
    .string()
    .meta({ description: 'The corresponding event in the log of the run.' })
    .optional(),
};

const ofInteraction = {
  ...ofRun,
  interaction_key: z.string(),
  kind: z.enum(interactionKinds),
};

const ofSession = {
  agent_name: z.string(),
  labels: labels.optional(),
  status: z.enum(sessionStatuses),
};

/**
 * D-110: everything the feed of a tenant tells. A notice names what changed and holds no text of a conversation: the
 * reader fetches that with its own rights.
 */
export const noticeTypes = {
  run_queued: { description: 'A run was accepted.', data: z.object(ofRun) },
  run_started: { description: 'The run was dispatched to its agent.', data: z.object(ofRun) },
  run_waiting: {
    description: 'The run waits for a person: it raised this interaction.',
    data: z.object(ofInteraction),
  },
  interaction_answered: {
    description: 'The answer of a person was recorded.',
    data: z.object(ofInteraction),
  },
  interaction_approved: {
    description: 'A person has allowed a call that more than one person has to allow.',
    data: z.object(ofInteraction),
  },
  run_interrupted: {
    description: 'The run lost its worker and will continue later.',
    data: z.object(ofRun),
  },
  run_resumed: {
    description: 'The run executes again, after it was answered or interrupted.',
    data: z.object(ofRun),
  },
  run_completed: { description: 'The run finished.', data: z.object(ofRun) },
  run_cancelled: { description: 'The run ended after a cancellation.', data: z.object(ofRun) },
  run_failed: {
    description: 'The run ended with an error.',
    data: z.object({ ...ofRun, error_code: z.enum(runErrorCodes) }),
  },
  run_feedback: {
    description: 'Feedback on the run was given, changed or deleted.',
    data: z.object({
      ...ofRun,
      feedback_key: feedbackKeySchema,
      score: feedbackScore.optional(),
      author_kind: z.enum(feedbackAuthorKinds),
      deleted: z.literal(true).optional(),
    }),
  },
  session_created: { description: 'A session was opened.', data: z.object(ofSession) },
  session_stopped: { description: 'The session was suspended.', data: z.object(ofSession) },
  session_ended: {
    description: 'The session ended: terminated, expired or failed.',
    data: z.object(ofSession),
  },
  budget_reached: {
    description: 'Spending reached this share of a budget.',
    data: z.object({ budget_id: z.string(), percent: z.int() }),
  },
  webhook_disabled: {
    description: 'A webhook gets no more deliveries.',
    data: z.object({ webhook_id: z.string(), reason: z.string() }),
  },
  connection_expired: {
    description: 'An account cannot be used any more: connect it again.',
    data: z.object({
      connection_id: z.string(),
      service: z.string(),
      end_user: z.string().optional(),
      reason: z.enum(connectionReasons),
    }),
  },
  schedule_skipped: {
    description: 'A schedule has skipped several runs in a row.',
    data: z.object({ schedule_id: z.string(), slot_at: timestamp }),
  },
} as const;

export type NoticeType = keyof typeof noticeTypes;
