import { z } from 'zod';
import { runErrorCodes } from '../errors.ts';
import { interactionKeySchema, runIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import {
  interactionFilters,
  interactionInTenant,
  interactionKinds,
  interactionSummaryList,
} from '../resources/interaction.ts';
import { feedbackQuery, withOrderedScores } from '../resources/runs/feedback.ts';
import { labelQuery } from '../resources/labels.ts';
import { overview } from '../resources/overview.ts';
import { namedPageQuery, onlyTrue, pageQuery, repeatable, timeQuery } from '../resources/page.ts';
import { runFilters, runRecord, runSummaryList } from '../resources/run.ts';
import { text } from '../text.ts';

const agentName = text({ max: limits.nameMaxCharacters });

export const listTenantRuns = defineOperation({
  id: 'list_tenant_runs',
  method: 'GET',
  path: '/v1/runs',
  tag: 'Runs',
  summary: 'List the runs of the whole tenant',
  description:
    'Lists runs of all sessions, without input and answer. A page scans a limited number of runs, so with filters it may be short or empty and still have a `next_cursor`.',
  caller: 'automation',
  scope: 'runs:read',
  query: withOrderedScores(
    z.strictObject({
      status: repeatable(z.enum(runFilters), runFilters.length).meta({
        description: 'Runs with one of these statuses; `active` and `ended` are groups.',
      }),
      agent_name: agentName.meta({ description: 'Runs of this agent.' }).optional(),
      agent_digest: z
        .string()
        .regex(/^[0-9a-f]{8,64}$/, 'must be 8 to 64 digits of 0-9 and a-f')
        .meta({ description: 'Runs of this version of an agent: its first 8 digits, or more.' })
        .optional(),
      label: labelQuery,
      ancestor_run_id: runIdSchema
        .meta({
          description:
            'Runs that this one has called, or that they have called, each with what it waits for.',
        })
        .optional(),
      error_code: z.enum(runErrorCodes).meta({ description: 'Runs that failed so.' }).optional(),
      created_after: timeQuery
        .meta({ description: 'Runs created at this time or later.' })
        .optional(),
      created_before: timeQuery.meta({ description: 'Runs created before this time.' }).optional(),
      q: text({ max: limits.searchMaxCharacters })
        .meta({ description: 'Runs whose preview contains this text, ignoring case.' })
        .optional(),
      ...feedbackQuery,
      ...pageQuery,
    }),
  ),
  responses: { 200: { description: 'One page, newest first.', schema: runSummaryList } },
  errors: [],
});

export const findRun = defineOperation({
  id: 'find_run',
  method: 'GET',
  path: '/v1/runs/{run_id}',
  tag: 'Runs',
  summary: 'Read a run by its id alone',
  description: 'The same record as in its session, for callers that know only the id of the run.',
  caller: 'automation',
  scope: 'runs:read',
  params: { run_id: runIdSchema },
  responses: { 200: { description: 'The run.', schema: runRecord } },
  errors: [],
});

export const listTenantInteractions = defineOperation({
  id: 'list_tenant_interactions',
  method: 'GET',
  path: '/v1/interactions',
  tag: 'Interactions',
  summary: 'List pending requests in the whole tenant',
  description:
    'Lists interactions of all sessions, oldest first. A page scans a limited number of them.',
  caller: 'automation',
  scope: 'interactions:read',
  query: z.strictObject({
    status: z
      .enum(interactionFilters)
      .meta({ description: 'Interactions with this status, or all.' })
      .default('pending'),
    kind: z
      .enum(interactionKinds)
      .meta({ description: 'Only permissions or questions.' })
      .optional(),
    agent_name: agentName.meta({ description: 'Interactions of this agent.' }).optional(),
    can_allow: onlyTrue(
      'Only pending ones that the caller may allow or answer: not those that wait for another person.',
    ),
    label: labelQuery.meta({
      description: 'The run has this label, as `key:value`. Repeat it for several: all must match.',
    }),
    ...namedPageQuery,
  }),
  responses: { 200: { description: 'One page, oldest first.', schema: interactionSummaryList } },
  errors: [],
});

export const findInteraction = defineOperation({
  id: 'find_interaction',
  method: 'GET',
  path: '/v1/interactions/{interaction_key}',
  tag: 'Interactions',
  summary: 'Read an interaction by its key alone',
  description: 'Everything that a person decides on, with the agent and the labels of the run.',
  caller: 'automation',
  scope: 'interactions:read',
  params: { interaction_key: interactionKeySchema },
  responses: { 200: { description: 'The interaction.', schema: interactionInTenant } },
  errors: [],
});

export const getOverview = defineOperation({
  id: 'get_overview',
  method: 'GET',
  path: '/v1/overview',
  tag: 'Runs',
  summary: 'Count active runs and pending requests',
  description: 'Counts the runs that have not ended and the interactions that wait for a person.',
  caller: 'automation',
  scope: 'runs:read',
  responses: { 200: { description: 'The counts.', schema: overview } },
  errors: [],
});
