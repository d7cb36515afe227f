import { z } from 'zod';
import { sessionIdSchema } from '../../ids.ts';
import { defineOperation } from '../../operation.ts';
import {
  connectionAuth,
  connectionRecord,
  connectionService,
} from '../../resources/connections/connection.ts';
import {
  begunConnection,
  connectionTicket,
  returnUrl,
  sessionConnectionList,
} from '../../resources/connections/session-connection.ts';

const ofSession = { session_id: sessionIdSchema } as const;
const ofService = { ...ofSession, service: connectionService } as const;

const example = { auth: { type: 'bearer', token: 'a-token-of-the-service' } } as const;

export const listSessionConnections = defineOperation({
  id: 'list_session_connections',
  method: 'GET',
  path: '/v1/sessions/{session_id}/connections',
  tag: 'Connections',
  summary: 'List the accounts that a session uses',
  description:
    'One entry for each service that the agent of the session declares: whose account it uses, and whether that is connected. A page of your product shows it to its user, with a token of this session that has `connections:read`.',
  caller: 'automation',
  scope: 'connections:read',
  params: ofSession,
  responses: {
    200: { description: 'In the order of `agent.yaml`.', schema: sessionConnectionList },
  },
  errors: [],
});

export const putSessionConnection = defineOperation({
  id: 'put_session_connection',
  method: 'PUT',
  path: '/v1/sessions/{session_id}/connections/{service}',
  tag: 'Connections',
  summary: 'Connect an account of the end user of a session',
  description:
    'As `put_connection`, for the end user of the session and for a service of which its agent uses the accounts of end users; any other is 404. A token of this session with `connections:write` may do it, so that a page connects the account of its own user and of no other. With a `ticket` in place of `auth` it connects the account with which the user has come back from the service: once, and only for the session that `begin_connection` was called for.',
  caller: 'automation',
  scope: 'connections:write',
  params: ofService,
  body: z
    .strictObject({ auth: connectionAuth.optional(), ticket: connectionTicket.optional() })
    .refine(({ auth, ticket }) => (auth === undefined) !== (ticket === undefined), {
      error: 'must have either auth or ticket',
    })
    .meta({ examples: [example] }),
  bodyRequired: true,
  responses: {
    201: { description: 'The new connection.', schema: connectionRecord },
    200: { description: 'The connection, with the new account.', schema: connectionRecord },
  },
  errors: [
    'connection_missing',
    'invalid_connection_url',
    'invalid_ticket',
    'connection_limit_reached',
  ],
});

export const beginConnection = defineOperation({
  id: 'begin_connection',
  method: 'POST',
  path: '/v1/sessions/{session_id}/connections/{service}',
  tag: 'Connections',
  summary: 'Begin to connect an account by a link',
  description:
    'For a service whose `oauth` the agent declares. Send the browser of the user to `connect_url`: the user signs in at the service and allows the access. The browser then returns to `return_url` with `service` and `ticket` in its query, which `put_session_connection` takes, or with `service` and `error`. Another beginning for the same account ends this one.',
  caller: 'automation',
  scope: 'connections:write',
  params: ofService,
  body: z
    .strictObject({ return_url: returnUrl })
    .meta({ examples: [{ return_url: 'https://app.example.com/connected' }] }),
  bodyRequired: true,
  responses: { 201: { description: 'Where the user connects it.', schema: begunConnection } },
  errors: ['connection_missing', 'connect_unavailable'],
});

export const deleteSessionConnection = defineOperation({
  id: 'delete_session_connection',
  method: 'DELETE',
  path: '/v1/sessions/{session_id}/connections/{service}',
  tag: 'Connections',
  summary: 'Revoke an account of the end user of a session',
  description:
    'Deletes the connection of the end user of the session with its secrets. All sessions of this user are without it.',
  caller: 'automation',
  scope: 'connections:write',
  params: ofService,
  responses: { 204: { description: 'It is deleted.' } },
  errors: ['connection_missing'],
});
