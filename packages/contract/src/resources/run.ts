import { z } from 'zod';
import { runErrorCodes } from '../errors.ts';
import { jsonObject, jsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import { agentDigest } from './agent.ts';
import { createdBy, labels } from './labels.ts';
import { maxCost, maxTokens } from './budget.ts';
import { opaqueId } from './opaque-id.ts';
import { nextCursor, timestamp } from './page.ts';
import { openWait, waitsShown } from './runs/wait.ts';

/** Every status of a run; the last three are ends (D-21). */
export const runStatuses = [
  'queued',
  'running',
  'waiting',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
] as const;

export type RunStatus = (typeof runStatuses)[number];

export const terminalRunStatuses = [
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly RunStatus[];

export type TerminalRunStatus = (typeof terminalRunStatuses)[number];

export function isTerminalRunStatus(status: RunStatus): status is TerminalRunStatus {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** D-22, D-562. Open in the description: the server checks what the agent takes. */
export const runInput = jsonObject.meta({
  description:
    'The input that the agent declares in its `input_schema`: a `prompt` where it has none. `files`, the ids of attached files, for agents that accept files.',
  properties: {
    prompt: { type: 'string', minLength: 1 },
    files: { type: 'array', items: { type: 'string' }, maxItems: limits.runFilesMax },
  },
  examples: [{ prompt: 'Summarise the release.' }],
});

const runUsage = z.object({
  input_tokens: z.int().min(0),
  output_tokens: z.int().min(0),
  cost: z
    .int()
    .min(0)
    .meta({
      description:
        'In millionths of `currency`: of the models that have a price, or as the agent reported it.',
    })
    .optional(),
  currency: z
    .string()
    .meta({ description: 'ISO 4217.', examples: ['USD'] })
    .optional(),
  is_partial: z
    .boolean()
    .meta({
      description:
        'True if a model message was cut off by a cancellation or a lost worker, so that its usage is unknown.',
    })
    .optional(),
});

const versionOfRun = agentDigest
  .meta({
    description:
      'The version of the agent that executes the run, or executed it last. Absent while it is queued.',
  })
  .optional();

const parentRunId = opaqueId('run')
  .meta({ description: 'The run that called it. Absent if no run has.' })
  .optional();

/** A run with its input, state, answer and usage (D-20). */
export const runRecord = z
  .object({
    id: opaqueId('run'),
    session_id: opaqueId('session'),
    agent_name: z.string().meta({ examples: ['demo'] }),
    agent_digest: versionOfRun,
    status: z.enum(runStatuses),
    input: runInput.meta({ description: 'The input as it was sent.' }),
    output_text: z
      .string()
      .meta({ description: 'The complete answer, after the run has ended.' })
      .optional(),
    output: jsonValue
      .meta({
        description:
          'The output of the agent, a JSON value: of a completed run whose agent gave one. It fits the `output_schema` of the agent, if there is one.',
      })
      .optional(),
    error_code: z.enum(runErrorCodes).optional(),
    error_message: z.string().optional(),
    queue_position: z
      .int()
      .min(1)
      .meta({ description: 'Position in the queue of the session; 1 is next. Only while queued.' })
      .optional(),
    labels,
    created_by: createdBy.optional(),
    pending_interactions: z.int().min(0),
    open_waits: z
      .int()
      .min(1)
      .meta({
        description: 'Times, messages and called runs that the run waits for.',
      })
      .optional(),
    waiting_on: z
      .array(openWait)
      .meta({
        description: `The oldest ${waitsShown} things that it waits for. Absent in lists.`,
      })
      .optional(),
    parent_run_id: parentRunId,
    root_run_id: opaqueId('run')
      .meta({ description: 'The run that no run has called, above this one.' })
      .optional(),
    attempt: z
      .int()
      .min(1)
      .meta({ description: 'One more than the number of workers that the run has lost.' }),
    interrupted_at: timestamp
      .meta({ description: 'Since when the interrupted run has been waiting to continue.' })
      .optional(),
    last_event_id: z.string().optional(),
    trace_id: z
      .string()
      .meta({
        description:
          'The trace of the run, over all its legs. Absent where the server exports no traces.',
      })
      .optional(),
    created_at: timestamp,
    started_at: timestamp.optional(),
    ended_at: timestamp.optional(),
    cancel_requested_at: timestamp.optional(),
    cancelled_by: createdBy
      .meta({ description: 'Who asked to cancel it, or stopped its session.' })
      .optional(),
    usage: runUsage.optional(),
    budget: z
      .object({ max_tokens: maxTokens.optional(), max_cost: maxCost.optional() })
      .meta({ description: 'The limits of the run, if any.' })
      .optional(),
  })
  .meta({ id: 'Run', description: 'One invocation of the agent inside a session.' });

export type RunRecord = z.infer<typeof runRecord>;

export const runList = z.object({ runs: z.array(runRecord), next_cursor: nextCursor });

/** Statuses of the list over a tenant: one of D-21, or a group of them. */
export const runFilters = [...runStatuses, 'active', 'ended'] as const;
export type RunFilter = (typeof runFilters)[number];

/** A run in a list over the whole tenant: without its input and its answer, which may be long. */
export const runSummary = z
  .object({
    id: opaqueId('run'),
    session_id: opaqueId('session'),
    agent_name: z.string().meta({ examples: ['demo'] }),
    agent_digest: versionOfRun,
    status: z.enum(runStatuses),
    preview: z.string().meta({
      description: `The first ${limits.previewCharacters} characters of the prompt, in one line.`,
      examples: ['Summarise the release.'],
    }),
    labels,
    created_by: createdBy.optional(),
    error_code: z.enum(runErrorCodes).optional(),
    parent_run_id: parentRunId,
    pending_interactions: z.int().min(0),
    open_waits: z
      .int()
      .min(1)
      .meta({
        description:
          'Times, messages and called runs that the run waits for. Absent while it executes.',
      })
      .optional(),
    waiting_on: z
      .array(openWait)
      .meta({
        description: `The oldest ${waitsShown} things that it waits for. Only in a list of called runs.`,
      })
      .optional(),
    created_at: timestamp,
    started_at: timestamp.optional(),
    ended_at: timestamp.optional(),
    usage: runUsage.optional(),
  })
  .meta({ id: 'RunSummary', description: 'A run in a list over the whole tenant.' });

export type RunSummary = z.infer<typeof runSummary>;

export const runSummaryList = z.object({ runs: z.array(runSummary), next_cursor: nextCursor });
