import { z } from 'zod';
import { organizationIdSchema, tenantIdSchema } from '../../ids.ts';
import { jsonObject } from '../../json.ts';
import { limits } from '../../limits.ts';
import { defineOperation } from '../../operation.ts';
import { agentName } from '../../resources/agent.ts';
import { idempotencyKeyHeader } from '../idempotency.ts';

const path = '/v1/mcp/{organization_id}/{tenant_id}';

const ofTenant = { organization_id: organizationIdSchema, tenant_id: tenantIdSchema } as const;

const waitMaxSeconds = 3600;
/** Some assistants give up after a minute and cannot be told otherwise. */
const waitSeconds = 45;
const agentsMax = 50;

const query = z.strictObject({
  agents: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(agentName).min(1).max(agentsMax))
    .meta({
      type: 'string',
      description: `Names of the agents to offer, separated by commas, at most ${agentsMax}; without it, those of the tenant.`,
      examples: ['demo,echo'],
    })
    .optional(),
  wait: z
    .string()
    .refine((text) => /^[1-9][0-9]{0,3}$/.test(text) && Number(text) <= waitMaxSeconds, {
      error: `must be a whole number from 1 to ${waitMaxSeconds}`,
    })
    .transform(Number)
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: waitMaxSeconds,
      description: 'How many seconds a call waits for its run.',
    })
    .default(waitSeconds),
});

const header = (description: string) => z.string().meta({ description }).optional();

const message = z.looseObject({ jsonrpc: z.literal('2.0') }).meta({
  id: 'McpMessage',
  description: 'A message of JSON-RPC, as the Model Context Protocol has it.',
  examples: [{ jsonrpc: '2.0', id: 1, result: {} }],
});

const frame = z.looseObject({ jsonrpc: z.literal('2.0') }).meta({
  description: 'A message of JSON-RPC: a request of the server, its progress, or the response.',
  examples: [{ jsonrpc: '2.0', id: 1, result: {} }],
});

const request = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z
      .string()
      .meta({ description: 'Repeated in the response. May be an integer, too.' })
      .optional(),
    method: z.string(),
    params: jsonObject.optional(),
  })
  .meta({
    examples: [
      {
        jsonrpc: '2.0',
        id: '1',
        method: 'tools/call',
        params: { name: 'echo', arguments: { prompt: 'Hello' } },
      },
    ],
  });

const about =
  'An MCP server with the agents of a tenant as tools, for assistants: the revisions 2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26. The path selects the tenant; selector headers may be absent.';

export const callMcp = defineOperation({
  id: 'call_mcp',
  method: 'POST',
  path,
  tag: 'Faces',
  summary: 'Use agents as tools over MCP',
  description: `${about} A tool that starts a run needs \`sessions:write\` and \`runs:write\` beside the scopes of every call, one that answers \`interactions:write\`, one that cancels \`runs:write\`; a tool whose scopes the caller lacks is not listed. Closing the request ends the waiting, never the run.`,
  caller: 'automation',
  selectors: 'path',
  face: 'mcp',
  scope: ['agents:read', 'runs:read'],
  params: ofTenant,
  query,
  headers: {
    origin: header('Of a browser: this server, or one of `CONVOKE_CORS_ORIGINS`.'),
    'mcp-protocol-version': header('The revision. From 2026-07-28 on required.'),
    'mcp-method': header('From 2026-07-28 on required: `method` of the body.'),
    'mcp-name': header('From 2026-07-28 on required for `tools/call`: the name of the tool.'),
    'mcp-session-id': header(
      'The id from the response to `initialize`. It holds what the client supports.',
    ),
    ...idempotencyKeyHeader,
  },
  content: 'json-rpc',
  body: z.unknown(),
  documentedBody: request,
  bodyRequired: true,
  maxBytes: limits.faceBodyMaxBytes,
  responses: {
    200: {
      description: 'One response, or the stream of a call, which ends with its response.',
      schema: message,
      stream: frame,
      headers: { 'Mcp-Session-Id': 'In the response to `initialize`.' },
    },
    202: { description: 'A notification, or the response to a request of the server.' },
    400: { description: 'The message cannot be read, or its headers differ.', schema: message },
    404: { description: 'From 2026-07-28 on: there is no such method.', schema: message },
  },
  errors: ['not_ready'],
});

export const resumeMcp = defineOperation({
  id: 'resume_mcp',
  method: 'GET',
  path,
  tag: 'Faces',
  summary: 'Continue the stream of an MCP call',
  description: `${about} Continues the call whose stream broke, with the id of the last event that arrived. The server has no messages of its own, so without that id there is no stream.`,
  caller: 'automation',
  selectors: 'path',
  face: 'mcp',
  scope: ['agents:read', 'runs:read'],
  params: ofTenant,
  query,
  headers: {
    origin: header('Of a browser: this server, or one of `CONVOKE_CORS_ORIGINS`.'),
    'mcp-session-id': header('As the response to `initialize` gave it.'),
    'last-event-id': header('The id of the last event that arrived.'),
  },
  responses: {
    200: { description: 'The stream of the call, which ends with its response.', stream: frame },
  },
  errors: ['method_not_allowed', 'not_found', 'not_ready'],
});
