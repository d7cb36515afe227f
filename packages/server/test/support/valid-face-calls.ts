import { randomUUID } from 'node:crypto';
import type { OperationId } from '@convoke/contract';
import type { OperationCall } from './checked-calls.ts';
import { eventually } from './eventually.ts';
import type { TestServer } from './server.ts';
import type { TenantData } from './tenant-data.ts';

type ValidCalls<Ids extends OperationId> = {
  readonly [Id in Ids]: (server: TestServer, data: TenantData) => Promise<OperationCall>;
};

/** For every operation of a face, a call that succeeds. */
export const validFaceCalls: ValidCalls<
  | 'send_ui_message'
  | 'resume_ui_stream'
  | 'list_ui_messages'
  | 'run_ag_ui'
  | 'run_session_ag_ui'
  | 'get_agent_card'
  | 'call_published_agent'
  | 'call_mcp'
  | 'resume_mcp'
> = {
  // In a session where nothing waits, so that both streams end.
  send_ui_message: async (server, data) => ({
    ...(await ofNewSession(server, data)),
    body: { messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hi' }] }] },
  }),
  async resume_ui_stream(server, data) {
    const { as, params } = await ofNewSession(server, data);
    const body = { input: { prompt: 'hi' } };
    const { body: run } = await server.send('start_run', { as, params, body });
    await eventually(async () => {
      const { body: now } = await server.send('get_run', {
        as,
        params: { ...params, run_id: run.id },
      });
      return now.status === 'completed' ? now : undefined;
    });
    return { as, params: { ...params, chat_id: 'chat' } };
  },
  list_ui_messages: ofSession,

  run_ag_ui: async (_, { as }) => ({
    as,
    params: { agent_name: 'echo' },
    body: agUiInput('hi'),
  }),
  run_session_ag_ui: async (server, data) => ({
    ...(await ofNewSession(server, data)),
    body: agUiInput('hi'),
  }),
  get_agent_card: async (_, { ids }) => ({ params: { ...ids, agent_name: 'echo' } }),
  call_published_agent: async (_, { as, ids }) => ({
    as,
    params: { ...ids, agent_name: 'echo' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: {
        message: { messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
      },
    },
  }),

  call_mcp: async (_, { as, ids }) => ({
    as,
    params: { ...ids },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: { prompt: 'hi' } },
    },
  }),
  resume_mcp: async (_, { as, ids }) => ({
    as,
    params: { ...ids },
    headers: {
      'last-event-id': Buffer.from(JSON.stringify([ids.run_id, 1, '', ''])).toString('base64url'),
    },
  }),
};

export async function ofSession(_: TestServer, data: TenantData) {
  return inSession(data);
}

export function inSession({ as, ids }: TenantData) {
  return { as, params: { session_id: ids.session_id } };
}

export async function ofNewSession(server: TestServer, { as }: TenantData, agent_name = 'echo') {
  const { body } = await server.send('create_session', { as, body: { agent_name } });
  return { as, params: { session_id: body.id } };
}

/** What a client of AG-UI sends, in a thread of its own. */
function agUiInput(content: string) {
  const messages = [{ id: randomUUID(), role: 'user', content }];
  return { threadId: randomUUID(), runId: randomUUID(), messages };
}
