import { z } from 'zod';
import { organizationIdSchema, tenantIdSchema } from '../../ids.ts';
import { jsonObject } from '../../json.ts';
import { limits } from '../../limits.ts';
import { defineOperation } from '../../operation.ts';
import { agentName } from '../../resources/agent.ts';

const place = '/v1/a2a/{organization_id}/{tenant_id}/{agent_name}';

const ofAgent = {
  organization_id: organizationIdSchema,
  tenant_id: tenantIdSchema,
  agent_name: agentName,
} as const;

const versionHeader = {
  'a2a-version': z
    .string()
    .meta({ description: 'Version of the protocol: `1.0`, or `0.3`, which is the default.' })
    .optional(),
};

const versionQuery = z.strictObject({
  'A2A-Version': z
    .string()
    .regex(/^[ -~]{0,40}$/)
    .meta({
      description: 'As the header, for clients that cannot set one. Both must name one version.',
    })
    .optional(),
});

const card = z.looseObject({ name: z.string() }).meta({
  id: 'AgentCard',
  description: 'An agent card of the A2A protocol.',
});

export const getAgentCard = defineOperation({
  id: 'get_agent_card',
  method: 'GET',
  path: `${place}/.well-known/agent-card.json`,
  tag: 'Faces',
  summary: 'Read the A2A card of an agent',
  description:
    'How clients of the A2A protocol find an agent that has `publish: [a2a]` in its `agent.yaml`. Without the header `A2A-Version: 1.0` the card has the shape of version 0.3.',
  caller: 'anonymous',
  scope: { unscoped: 'Clients read it before they have a token; the agent is published for that.' },
  params: ofAgent,
  headers: {
    ...versionHeader,
    'if-none-match': z
      .string()
      .meta({
        description: 'One or more `ETag`s: the response is 304 if the card has one of them.',
      })
      .optional(),
  },
  responses: {
    200: {
      description: 'The card.',
      schema: card,
      headers: {
        ETag: 'Changes with the card.',
        Vary: '`A2A-Version`: the card of each version has its own shape.',
      },
    },
    304: {
      description: 'The card has the `ETag` of If-None-Match.',
      headers: { ETag: 'Changes with the card.' },
    },
  },
  errors: ['agent_not_found'],
});

const rpcAnswer = z.looseObject({ jsonrpc: z.literal('2.0') }).meta({
  id: 'A2aResponse',
  description: 'A response of JSON-RPC: `result`, or `error` with a code of the A2A protocol.',
  examples: [{ jsonrpc: '2.0', id: '1', result: {} }],
});

const rpcFrame = z.looseObject({ jsonrpc: z.literal('2.0') }).meta({
  description: 'A response of JSON-RPC, whose `result` is the task or an update of it.',
  examples: [{ jsonrpc: '2.0', id: '1', result: {} }],
});

const rpcRequest = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.string().meta({ description: 'Repeated in the response. May be an integer, too.' }),
    method: z.string(),
    params: jsonObject,
  })
  .meta({
    examples: [
      {
        jsonrpc: '2.0',
        id: '1',
        method: 'message/send',
        params: {
          message: {
            kind: 'message',
            messageId: 'message-1',
            role: 'user',
            parts: [{ kind: 'text', text: 'Hello' }],
          },
        },
      },
    ],
  });

export const callPublishedAgent = defineOperation({
  id: 'call_published_agent',
  method: 'POST',
  path: place,
  // Libraries that join a base address with an empty path add one.
  endsInSlash: 'too',
  tag: 'Faces',
  summary: 'Call an agent by the A2A protocol',
  description:
    'The JSON-RPC endpoint of a published agent, for clients of the A2A protocol, version 1.0 (`A2A-Version: 1.0`) and 0.3. A task is a run, a context a session, and the id of a message its idempotency key. The path selects the tenant; selector headers may be absent. Beside `runs:read`, a message needs `runs:write`, a new context `sessions:write`, and an answer `interactions:write`. What is wrong with a call is an error of JSON-RPC with status 200.',
  caller: 'automation',
  selectors: 'path',
  scope: 'runs:read',
  params: ofAgent,
  query: versionQuery,
  headers: versionHeader,
  content: 'json-rpc',
  body: z.unknown(),
  documentedBody: rpcRequest,
  bodyRequired: true,
  maxBytes: limits.faceBodyMaxBytes,
  responses: {
    200: {
      description: 'One response, or the stream of a task.',
      schema: rpcAnswer,
      stream: rpcFrame,
    },
    204: { description: 'A notification, which is a call without an id. Nothing was done.' },
  },
  errors: ['not_ready'],
});
