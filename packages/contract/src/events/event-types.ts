import { z } from 'zod';
import { runErrorCodes } from '../errors.ts';
import { jsonObject, jsonValue } from '../json.ts';
import { agentDigest } from '../resources/agent.ts';
import {
  answerValue,
  deciders,
  decisions,
  interactionAbout,
  questionOption,
} from '../resources/interaction.ts';
import { connectionOwners } from '../resources/connections/connection.ts';
import { timestamp } from '../resources/page.ts';
import { approvers, matchedRule, memoryWidths, ruleEffects } from '../resources/rules/rule.ts';
import { refusedCallCodes, waitKinds, waitOutcomes } from '../resources/runs/wait.ts';

const recovered = z
  .boolean()
  .meta({
    description:
      'The run lost its server, or was cut when its server stopped, and was then continued or ended. Treat the event as usual.',
  })
  .optional();

const replayed = z
  .boolean()
  .meta({ description: 'This repeats an earlier event of the same interaction.' })
  .optional();

const contextFile = { path: z.string(), sha256: z.string(), size_bytes: z.int().min(0) };
const changedContextFile = { ...contextFile, previous_sha256: z.string() };

/** Why a run was interrupted: its server was stopped, or was lost (D-87). */
export const interruptionReasons = ['drained', 'worker_lost'] as const;

/**
 * Every event type of spec §6 with its payload (D-39 for interactions). An agent
 * framework may add its own types, named `<framework>.<name>`; they are never terminal and their
 * payload is any object.
 */
export const eventTypes = {
  run_started: {
    terminal: false,
    description: 'The run was dispatched to the agent.',
    data: z.object({ run_id: z.string(), agent_digest: agentDigest.optional() }),
  },
  run_interrupted: {
    terminal: false,
    description:
      'The run was interrupted and will continue in another process: its server was stopped or lost. With `discard_from_event_id`, every `message_delta` from that event up to this one no longer belongs to the answer: the agent repeats it or says something else. Such an event may also come after `run_resumed`, when the agent says something else than before: it has `text_only`, and another `run_resumed` follows it.',
    data: z.object({
      run_id: z.string(),
      attempt: z.int().min(1),
      reason: z.enum(interruptionReasons),
      discard_from_event_id: z.string().optional(),
      text_only: z
        .literal(true)
        .meta({ description: 'The run was not interrupted again: only text was taken back.' })
        .optional(),
      calls_in_doubt: z
        .int()
        .min(1)
        .meta({ description: 'Tool calls that may or may not have completed.' })
        .optional(),
    }),
  },
  run_resumed: {
    terminal: false,
    description:
      'The run executes again: what it waited for has come (`answered`), or it was interrupted before.',
    data: z.object({
      run_id: z.string(),
      attempt: z.int().min(1),
      reason: z.enum(['answered', ...interruptionReasons]),
      workspace: z
        .enum(['same', 'restored', 'behind'])
        .meta({
          description:
            'Files of the session: on the same machine, restored on another one, or restored without the latest changes.',
        })
        .optional(),
      agent_changed: z
        .literal(true)
        .meta({ description: 'The agent was changed since the run was last checkpointed.' })
        .optional(),
      agent_digest: agentDigest.optional(),
    }),
  },
  run_output: {
    terminal: false,
    description:
      'The output of the agent, a JSON value. The last event before `run_completed`, which always follows.',
    data: z.object({
      run_id: z.string(),
      output: jsonValue.meta({ description: 'Any JSON value.' }),
    }),
  },
  run_completed: {
    terminal: true,
    description: 'The run finished. The run resource holds the authoritative status.',
    data: z.object({ run_id: z.string(), recovered }),
  },
  run_cancelled: {
    terminal: true,
    description: 'The run ended after a cancellation.',
    data: z.object({ run_id: z.string(), recovered }),
  },
  error: {
    terminal: true,
    description:
      'The run ended with an error, which the run resource repeats. The `error` of an EventSource without data is a lost connection.',
    data: z.object({
      message: z.string(),
      error_code: z.enum(runErrorCodes).optional(),
      recovered,
    }),
  },
  message_delta: {
    terminal: false,
    description:
      'A piece of the answer. Join the pieces in id order, and drop those that a `run_interrupted` discards. A reader that drops nothing also gets the answer, unless an agent had to repeat itself: then the repetition follows `(interrupted, resuming)`. `output_text` of the run is always the answer.',
    data: z.object({ text: z.string(), framework: z.string(), model: z.string() }),
  },
  permission_request: {
    terminal: false,
    description: 'The agent wants to call a tool that requires approval, and waits for a decision.',
    data: z.object({
      request_id: z.string(),
      interaction_key: z.string(),
      tool_name: z.string(),
      tool_input: jsonValue,
      tool_call_id: z
        .string()
        .meta({
          description:
            'The id of the call in the events `<framework>.tool_call` and `<framework>.tool_result`, where the framework knows it.',
        })
        .optional(),
      rules: z
        .array(matchedRule)
        .meta({ description: "The rules that ask, the organization's first." })
        .optional(),
      approvers: approvers
        .meta({ description: 'Who may allow it. Absent: every caller that may answer.' })
        .optional(),
      can_remember: z
        .enum(memoryWidths)
        .meta({ description: 'How far an allow may be remembered for the rest of the session.' })
        .optional(),
      expires_at: timestamp
        .meta({ description: 'Until when an answer is taken, where a rule says so.' })
        .optional(),
      replayed,
    }),
  },
  permission_resolved: {
    terminal: false,
    description: 'A decision on a permission was recorded.',
    data: z.object({
      interaction_key: z.string(),
      decision: z.enum(decisions),
      message: z.string().optional(),
      updated_input: jsonObject.optional(),
      by: z
        .enum(deciders)
        .meta({ description: 'What decided, where no person and no client did.' })
        .optional(),
      remembered: z
        .enum(memoryWidths)
        .meta({ description: 'What the allow also allows for the rest of the session.' })
        .optional(),
    }),
  },
  permission_approved: {
    terminal: false,
    description: 'A person has allowed a call that more than one person has to allow.',
    data: z.object({
      interaction_key: z.string(),
      approvals: z.int().meta({ description: 'How many people have allowed it by now.' }),
      needed: z.int().meta({ description: 'How many people have to allow it.' }),
    }),
  },
  call_decided: {
    terminal: false,
    description:
      'Rules decided about a tool call without a person: it was denied, or a rule or an earlier permission allowed it. With `observed`, a rule that only observes has matched: it changed nothing, and `effect` is what it would do.',
    data: z.object({
      tool_name: z.string(),
      tool_call_id: z.string().optional(),
      interaction_key: z
        .string()
        .meta({
          description: 'The interaction that holds the denial, or the allow that is remembered.',
        })
        .optional(),
      effect: z.enum(ruleEffects),
      by: z.enum(['rule', 'memory']),
      rules: z.array(matchedRule),
      observed: z.literal(true).optional(),
    }),
  },
  user_question: {
    terminal: false,
    description: 'The agent asked a question and waits for the answer.',
    data: z.object({
      request_id: z.string(),
      interaction_key: z.string(),
      question: z.string(),
      options: z.array(questionOption).optional(),
      multiple: z.boolean().optional(),
      about: interactionAbout.optional(),
      replayed,
    }),
  },
  user_answered: {
    terminal: false,
    description: 'An answer to a question was recorded, or the question was declined.',
    data: z.object({
      interaction_key: z.string(),
      answer: answerValue.optional(),
      declined: z.literal(true).optional(),
      message: z.string().optional(),
    }),
  },
  wait_started: {
    terminal: false,
    description: 'The run waits for a time, a message, or a run that it has called.',
    data: z.object({
      wait_id: z.string(),
      kind: z.enum(waitKinds),
      name: z.string().meta({ description: 'Given by the agent; of a called run its agent.' }),
      until: timestamp.meta({ description: 'When the wait ends at the latest.' }).optional(),
      child_run_id: z
        .string()
        .meta({ description: 'The called run. Absent if it was refused.' })
        .optional(),
      child_session_id: z.string().optional(),
    }),
  },
  wait_ended: {
    terminal: false,
    description: 'It has come, the called run has ended, or the time for it is over.',
    data: z.object({
      wait_id: z.string(),
      kind: z.enum(waitKinds),
      name: z.string(),
      outcome: z.enum(waitOutcomes),
      error_code: z
        .enum([...runErrorCodes, ...refusedCallCodes])
        .meta({
          description: 'Why the called run failed; `denied` or `refused` if it was not started.',
        })
        .optional(),
      message: z.string().optional(),
    }),
  },
  connection_used: {
    terminal: false,
    description:
      'The agent got this account for the leg that begins: of the end user of the session, or of the tenant. Never its secret.',
    data: z.object({
      service: z.string(),
      connection_id: z.string(),
      owner: z.enum(connectionOwners),
    }),
  },
  context_file_loaded: {
    terminal: false,
    description: 'A context file was read into the context of the agent.',
    data: z.object(contextFile),
  },
  context_file_changed: {
    terminal: false,
    description: 'A context file changed since it was last read.',
    data: z.object(changedContextFile),
  },
  claude_md_loaded: {
    terminal: false,
    description: 'The project instructions were read into the context of the agent.',
    data: z.object(contextFile),
  },
  claude_md_changed: {
    terminal: false,
    description: 'The project instructions changed since they were last read.',
    data: z.object(changedContextFile),
  },
  agent_skills_loaded: {
    terminal: false,
    description: "The agent's skills were copied into the session folder.",
    data: z.object({
      skills: z.array(z.object({ name: z.string(), description: z.string(), path: z.string() })),
      warnings: z.array(z.object({ directory: z.string(), reason: z.string() })),
    }),
  },
} as const;

export type EventType = keyof typeof eventTypes;

/** The payload of one event type. */
export type EventData<T extends EventType> = z.infer<(typeof eventTypes)[T]['data']>;

/** Spec §6 rule 4: exactly these three. */
export const terminalEventTypes = [
  'run_completed',
  'run_cancelled',
  'error',
] as const satisfies readonly EventType[];

export type TerminalEventType = (typeof terminalEventTypes)[number];

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventTypes, type);
}

/** Spec §6 rule 5: an unknown type is never terminal. */
export function isTerminalEventType(type: string): type is TerminalEventType {
  return type === 'run_completed' || type === 'run_cancelled' || type === 'error';
}
