import type { OperationId } from '@convoke/contract';
import type { OperationCall } from './checked-calls.ts';
import type { TestServer } from './server.ts';
import type { TenantData } from './tenant-data.ts';

type ConnectionOperations = Extract<OperationId, `${string}_connection${string}`>;

/** A call that succeeds for every operation on accounts. */
export const validConnectionCalls: {
  readonly [Id in ConnectionOperations]: (
    server: TestServer,
    data: TenantData,
  ) => Promise<OperationCall>;
} = {
  put_connection: async (_, { as }) => ({ as, ...ofCrm, body: { auth: givenAuth } }),
  list_connections: async (_, { as }) => ({ as }),
  async delete_connection(server, { as }) {
    await server.send('put_connection', { as, ...ofCrm, body: { auth: givenAuth } });
    return { as, ...ofCrm };
  },

  list_session_connections: inConnectedSession,
  put_session_connection: async (server, data) => ({
    ...(await inConnectedSession(server, data)),
    body: { auth: givenAuth },
  }),
  begin_connection: async (server, data) => ({
    ...(await inConnectedSession(server, data)),
    body: { return_url: `${server.baseUrl}/console/` },
  }),
  async delete_session_connection(server, data) {
    const call = await inConnectedSession(server, data);
    await server.send('put_session_connection', { ...call, body: { auth: givenAuth } });
    return call;
  },
};

const ofCrm = { params: { service: 'crm' } };
const givenAuth = { type: 'bearer', token: 'a-token-of-the-crm' };

async function inConnectedSession(server: TestServer, { as }: TenantData) {
  const body = { agent_name: 'connected', end_user: 'u-17' };
  const { body: session } = await server.send('create_session', { as, body });
  return { as, params: { session_id: session.id, service: 'github' } };
}
