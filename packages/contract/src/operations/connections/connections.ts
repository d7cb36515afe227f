import { z } from 'zod';
import { defineOperation } from '../../operation.ts';
import {
  connectionAuth,
  connectionEndUser,
  connectionList,
  connectionRecord,
  connectionService,
  connectionStatuses,
} from '../../resources/connections/connection.ts';
import { pageQuery } from '../../resources/page.ts';

const ofService = { service: connectionService } as const;

const example = {
  end_user: 'u-17',
  auth: { type: 'bearer', token: 'a-token-of-the-service' },
} as const;

export const putConnection = defineOperation({
  id: 'put_connection',
  sdk: { method: 'connections.put' },
  method: 'PUT',
  path: '/v1/connections/{service}',
  tag: 'Connections',
  summary: 'Connect an account',
  description:
    'Stores the account of an end user, or of the tenant, for a service that agents use. A service has one account for each owner: another request replaces it. The secrets are sealed, and no answer has them. Automation clients write all of them; a person their own (`end_user` is the id of the person), owners and admins also those of the tenant.',
  caller: 'automation',
  scope: 'connections:write',
  params: ofService,
  body: z
    .strictObject({ end_user: connectionEndUser.optional(), auth: connectionAuth })
    .meta({ examples: [example] }),
  bodyRequired: true,
  responses: {
    201: { description: 'The new connection.', schema: connectionRecord },
    200: { description: 'The connection, with the new account.', schema: connectionRecord },
  },
  errors: ['invalid_connection_url', 'connection_limit_reached'],
});

export const listConnections = defineOperation({
  id: 'list_connections',
  sdk: { method: 'connections.list' },
  method: 'GET',
  path: '/v1/connections',
  tag: 'Connections',
  summary: 'List the connections of the tenant',
  description: 'Lists the connections of the tenant and of all its end users, without secrets.',
  caller: 'automation',
  scope: 'connections:read',
  query: z.strictObject({
    service: connectionService.optional(),
    end_user: connectionEndUser.meta({ description: 'Only those of this end user.' }).optional(),
    status: z
      .enum(connectionStatuses)
      .meta({ description: 'Connections with this status.' })
      .optional(),
    ...pageQuery,
  }),
  responses: { 200: { description: 'One page, newest first.', schema: connectionList } },
  errors: [],
});

export const deleteConnection = defineOperation({
  id: 'delete_connection',
  sdk: { method: 'connections.delete' },
  method: 'DELETE',
  path: '/v1/connections/{service}',
  tag: 'Connections',
  summary: 'Revoke a connection',
  description:
    'Deletes the connection with its secrets. What an agent asks for next no longer gets it; the account itself stays valid at its service. Owners and admins delete those of all end users.',
  caller: 'automation',
  scope: 'connections:write',
  params: ofService,
  query: z.strictObject({ end_user: connectionEndUser.optional() }),
  responses: { 204: { description: 'It is deleted.' } },
  errors: [],
});
