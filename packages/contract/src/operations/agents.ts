import { z } from 'zod';
import { eventNames, runEvent } from '../events/envelope.ts';
import { defineOperation } from '../operation.ts';
import { agentDetails, agentList, agentName } from '../resources/agent.ts';
import { givenLabels } from '../resources/labels.ts';
import { sessionEndUser } from '../resources/session.ts';
import { runBudget } from '../resources/budget.ts';
import { namedPageQuery } from '../resources/page.ts';
import { runInput } from '../resources/run.ts';
import { idempotencyKey, idempotencyKeyHeader } from './idempotency.ts';

export const listAgents = defineOperation({
  id: 'list_agents',
  sdk: { method: 'agents.list' },
  method: 'GET',
  path: '/v1/agents',
  tag: 'Agents',
  summary: 'List the agents of the tenant',
  description:
    'Lists the agents that are deployed and enabled for the tenant. Create a session with the name of one.',
  caller: 'automation',
  scope: 'agents:read',
  query: z.strictObject({
    include: z
      .enum(['broken'])
      .meta({ description: 'Also list agents whose folder cannot be loaded, with the reason.' })
      .optional(),
    ...namedPageQuery,
  }),
  responses: { 200: { description: 'Enabled agents, by name.', schema: agentList } },
  errors: [],
});

export const getAgent = defineOperation({
  id: 'get_agent',
  sdk: { method: 'agents.get' },
  method: 'GET',
  path: '/v1/agents/{agent_name}',
  tag: 'Agents',
  summary: 'Read an agent',
  description:
    'Returns the agent with the schema of its input, its tools and skills. One whose folder cannot be loaded has a `problem`.',
  caller: 'automation',
  scope: 'agents:read',
  params: { agent_name: agentName },
  responses: { 200: { description: 'The agent.', schema: agentDetails } },
  errors: [],
});

export const invokeAgent = defineOperation({
  id: 'invoke_agent',
  method: 'POST',
  path: '/v1/agents/{agent_name}/runs',
  tag: 'Agents',
  summary: 'Invoke an agent once and stream the run',
  description:
    'Creates a session and a run, and streams the events of the run. Closing the connection does ' +
    'not cancel it: follow it again at `Location`. A request with the same key streams the same run from its start.',
  caller: 'automation',
  scope: ['sessions:write', 'runs:write'],
  params: { agent_name: agentName },
  query: z.strictObject({ event_names: eventNames }),
  headers: idempotencyKeyHeader,
  body: z.strictObject({
    input: runInput,
    labels: givenLabels.optional(),
    end_user: sessionEndUser.optional(),
    budget: runBudget
      .meta({ description: 'Lowers the limit of the agent; never raises it.' })
      .optional(),
    idempotency_key: idempotencyKey,
  }),
  bodyRequired: true,
  responses: {
    200: {
      description: 'The events of the run.',
      stream: runEvent,
      headers: {
        Location: 'Path of the events of this run.',
        'X-Session-ID': 'Id of the session.',
        'X-Run-ID': 'Id of the run.',
        'Idempotency-Replayed': '`true` if an earlier request with this key created the run.',
      },
    },
  },
  errors: [
    'not_acceptable',
    'idempotency_conflict',
    'invalid_label',
    'label_limit_reached',
    'file_not_ready',
    'connection_missing',
    'budget_exhausted',
    'unpriced_model',
    'not_ready',
  ],
});
