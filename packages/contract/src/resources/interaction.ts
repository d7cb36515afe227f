import { z } from 'zod';
import { jsonObject, jsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import { text } from '../text.ts';
import { actorName, labels } from './labels.ts';
import { connectionOwners } from './connections/connection.ts';
import { opaqueId } from './opaque-id.ts';
import { nextCursor, timestamp } from './page.ts';
import { approvers, matchedRule, memoryWidths } from './rules/rule.ts';

export const interactionKinds = ['permission', 'question'] as const;
export type InteractionKind = (typeof interactionKinds)[number];

/** An interaction leaves `pending` once, for good (D-37). */
export const interactionStatuses = ['pending', 'answered', 'expired', 'cancelled'] as const;
export type InteractionStatus = (typeof interactionStatuses)[number];

/** D-37: values of the status filter. */
export const interactionFilters = [...interactionStatuses, 'all'] as const;
export type InteractionFilter = (typeof interactionFilters)[number];

/** What decided about a permission where no person and no client did (D-510, D-521, D-522). */
export const deciders = ['rule', 'memory', 'expiry'] as const;

export const decisions = ['allow', 'deny'] as const;
export type Decision = (typeof decisions)[number];

export const questionOption = z.object({ label: z.string(), description: z.string().optional() });

/** D-84, D-91, D-607: what a question of the service itself, not of the agent, is about. */
export const interactionAbout = z
  .object({
    kind: z.enum(['call_in_doubt', 'workspace_behind', 'connection_missing']),
    tool_name: z.string().optional(),
    tool_input: jsonValue.optional(),
    begun_at: timestamp.optional(),
    calls: z
      .array(z.object({ tool_name: z.string(), begun_at: timestamp }))
      .meta({ description: 'The first of the tool calls whose file changes are lost.' })
      .optional(),
    service: z.string().meta({ description: 'The service that is not connected.' }).optional(),
    owner: z.enum(connectionOwners).optional(),
    url: z.string().meta({ description: 'Where the end user connects it.' }).optional(),
  })
  .meta({
    description:
      '`call_in_doubt`: a tool call that started before the worker died and may or may not have completed. ' +
      '`workspace_behind`: the machine with the latest files of the session is gone. ' +
      '`connection_missing`: an account of the end user is missing or has expired; the run continues once it is connected.',
  });

/** A string for one answer, an array where the question allows several. */
export const answerValue = z.union([z.string(), z.array(z.string())]);

/** D-516: one of the people who have to allow a call has. */
const approval = z.object({ by: z.string(), by_name: actorName.optional(), at: timestamp });

/** Who may allow a request of an agent, and how far that is. */
const allowing = {
  approvers: approvers
    .meta({ description: 'Who may allow it. Absent: every caller that may answer.' })
    .optional(),
  approvals: z
    .array(approval)
    .meta({ description: 'Who has allowed it, where more than one person has to.' })
    .optional(),
  can_allow: z
    .boolean()
    .meta({
      description:
        'Whether the caller may allow it now, of a pending permission. Of a question about a call in doubt: whether the caller may have the call run again.',
    })
    .optional(),
};

/** D-36, with `multiple`, `declined` and `updated_input`, so that the record holds all that its events hold. */
export const interactionRecord = z
  .object({
    interaction_key: opaqueId('interaction').meta({
      description: 'The durable key; use it to answer.',
    }),
    kind: z.enum(interactionKinds),
    status: z.enum(interactionStatuses),
    session_id: opaqueId('session'),
    run_id: opaqueId('run'),
    request_id: z
      .string()
      .meta({ description: 'The same as in the events. Do not use it to answer.' }),
    tool_name: z.string().optional(),
    tool_input: jsonValue.optional(),
    rules: z
      .array(matchedRule)
      .meta({ description: "The rules that asked, the organization's first." })
      .optional(),
    ...allowing,
    can_remember: z
      .enum(memoryWidths)
      .meta({ description: 'How far an allow may be remembered for the rest of the session.' })
      .optional(),
    question: z.string().optional(),
    options: z.array(questionOption).optional(),
    multiple: z.boolean().optional(),
    about: interactionAbout.optional(),
    decision: z.enum(decisions).optional(),
    updated_input: jsonObject.optional(),
    answer: answerValue.optional(),
    declined: z.literal(true).optional(),
    message: z.string().optional(),
    answered_by: z.string().optional(),
    answered_by_name: actorName.optional(),
    decided_by: z
      .enum(deciders)
      .meta({ description: 'What decided, where no person and no client did.' })
      .optional(),
    remembered: z
      .enum(memoryWidths)
      .meta({
        description:
          'What the allow also allows for the rest of the session, until it is forgotten.',
      })
      .optional(),
    created_at: timestamp,
    answered_at: timestamp.optional(),
    applied_at: timestamp.optional(),
    expires_at: timestamp.optional(),
    on_expiry: z
      .literal('deny')
      .meta({
        description:
          'Where no answer comes before `expires_at`, the call is denied and the run continues. Absent: the run fails.',
      })
      .optional(),
  })
  .meta({
    id: 'Interaction',
    description: 'A question or a permission request of an agent.',
    examples: [
      {
        interaction_key: 'int_01ja3w8z5kq4v7m2x9c6t1r8en',
        kind: 'permission',
        status: 'pending',
        session_id: 'sess_01ja3w8z5kq4v7m2x9c6t1r8en',
        run_id: 'run_01ja3w8z5kq4v7m2x9c6t1r8en',
        request_id: 'call_1',
        tool_name: 'write_file',
        tool_input: { path: 'note.txt', text: 'Hello' },
        created_at: '2026-01-15T09:30:00.000Z',
      },
    ],
  });

export type InteractionRecord = z.infer<typeof interactionRecord>;

export const interactionList = z.object({
  interactions: z.array(interactionRecord),
  next_cursor: nextCursor,
});

const ofRun = {
  agent_name: z.string().meta({ examples: ['demo'] }),
  run_labels: labels,
  preview: z.string().meta({ description: 'The first words of the prompt of its run.' }),
  parent_run_id: opaqueId('run')
    .meta({ description: 'The run that called its run. Absent where a client started it.' })
    .optional(),
  parent_agent_name: z
    .string()
    .meta({ description: 'The agent of that run.', examples: ['planner'] })
    .optional(),
};

/** D-36 with what a person needs to know about its run. */
export const interactionInTenant = interactionRecord.extend(ofRun).meta({
  id: 'InteractionInTenant',
  description: 'An interaction with its agent and the labels of its run.',
});

/** An interaction in a list over the whole tenant: without the input, the options and the answer, which may be long. */
export const interactionSummary = z
  .object({
    interaction_key: opaqueId('interaction'),
    kind: z.enum(interactionKinds),
    status: z.enum(interactionStatuses),
    session_id: opaqueId('session'),
    run_id: opaqueId('run'),
    ...ofRun,
    tool_name: z.string().optional(),
    question: z
      .string()
      .meta({ description: `The first ${limits.previewCharacters} characters of the question.` })
      .optional(),
    about: interactionAbout.omit({ tool_input: true }).optional(),
    rules: z
      .array(matchedRule)
      .meta({ description: "The rules that asked, the organization's first." })
      .optional(),
    ...allowing,
    tool_input_preview: z
      .string()
      .meta({
        description:
          'What the call is about: the members of its input that tell most, such as path, subject, amount and command. Never JSON.',
        examples: ['outputs/note.txt', 'Report: Q1 · 1250.5 · 2 recipients'],
      })
      .optional(),
    decision: z.enum(decisions).optional(),
    answered_by: z.string().optional(),
    answered_by_name: actorName.optional(),
    created_at: timestamp,
    answered_at: timestamp.optional(),
    expires_at: timestamp.optional(),
  })
  .meta({
    id: 'InteractionSummary',
    description: 'An interaction in a list over the whole tenant.',
  });

export type InteractionSummary = z.infer<typeof interactionSummary>;

export const interactionSummaryList = z.object({
  interactions: z.array(interactionSummary),
  next_cursor: nextCursor,
});

const answerText = text({ max: limits.answerMaxCharacters, lines: 'many' });
const answerMessage = text({ max: limits.messageMaxCharacters, lines: 'many' });

/** D-38. The server checks that the shape matches the kind; a wrong shape is `invalid_answer`. */
export const permissionAnswer = z
  .strictObject({
    decision: z.enum(decisions),
    message: answerMessage.optional(),
    updated_input: jsonObject
      .meta({
        description:
          'Call the tool with this input instead of the requested one. Refused for agents whose framework ' +
          'cannot apply it (`acp`).',
      })
      .optional(),
    remember: z
      .enum(memoryWidths)
      .meta({
        description:
          'Allow the same again for the rest of the session, as far as `can_remember` says: `exact` with this input only, `tool` with every input.',
      })
      .optional(),
  })
  .meta({ id: 'PermissionAnswer', description: 'Answers a permission request.' });

export type PermissionAnswer = z.infer<typeof permissionAnswer>;

const questionReply = z
  .strictObject({
    answer: z.union([answerText, z.array(answerText).min(1).max(limits.answerMaxChoices)]),
  })
  .meta({ id: 'QuestionAnswer', description: 'Answers a question.' });

const questionRefusal = z
  .strictObject({ declined: z.literal(true), message: answerMessage.optional() })
  .meta({ id: 'QuestionDeclined', description: 'Declines to answer a question.' });

export const questionAnswer = z.union([questionReply, questionRefusal]);

export type QuestionAnswer = z.infer<typeof questionAnswer>;
