import {
  isRepeatable,
  type Operation,
  type OperationId,
  type Operations,
  openApiDocument,
  operationList,
  pathParams,
} from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { type Convoke, ConvokeAdmin } from '../src/index.ts';
import { type Seen, answering, clientAt, runRecord, sessionRecord } from './answering.ts';

interface Parts {
  readonly convoke: Convoke;
  readonly admin: ConvokeAdmin;
  readonly session: ReturnType<Convoke['sessions']['at']>;
  readonly run: ReturnType<ReturnType<Convoke['sessions']['at']>['runs']['at']>;
}

/** Operations whose method is generated: they are called with the examples of the API description. */
type Plain = {
  [Id in OperationId]: Operations[Id] extends { readonly sdk: object } ? Id : never;
}[OperationId];

/** A method for every other operation of the contract. An operation without one does not compile. */
const methods: Readonly<
  Record<Exclude<OperationId, Plain>, ((parts: Parts) => Promise<unknown>) | NotForClients>
> = {
  issue_token: { because: 'tokens.test.ts: the client does it on its own' },
  get_metadata: { because: 'OAuth libraries read it' },
  get_resource_metadata: { because: 'assistants read it' },
  get_jwks: { because: 'those who verify tokens read it' },

  list_workspaces: ({ convoke }) => convoke.workspaces({ limit: 5 }).page(),
  whoami: ({ convoke }) => convoke.whoami(),

  invoke_agent: ({ convoke }) => convoke.agents.invoke('demo', 'Hello'),

  create_session: ({ convoke }) => convoke.sessions.create('demo'),
  list_sessions: ({ convoke }) =>
    convoke.sessions.list({ status: 'idle', agent_name: 'demo', limit: 1 }).page(),
  get_session: ({ convoke }) => convoke.sessions.get('sess_1'),
  stop_session: ({ session }) => session.stop({ mode: 'terminate', reason: 'Done' }),
  resume_session: ({ session }) => session.resume(),
  create_session_token: ({ session }) => session.createToken({ end_user: 'user-7' }),

  start_run: ({ session }) => session.run('Hello', { files: ['file_1'] }),
  list_runs: ({ session }) => session.runs.list({ status: 'failed' }).page(),
  get_run: ({ session }) => session.runs.get('run_1'),
  follow_run_events: ({ run }) => run.events({ limit: 10 }).page(),
  signal_run: ({ run }) => run.signal('paid', { amount: 20 }, { idempotencyKey: 'evt-1' }),
  receive_callback: { because: 'whoever has the URL of a callback sends it' },
  cancel_run: ({ run }) => run.cancel({ reason: 'Enough' }),

  put_feedback: ({ run }) => run.feedback.put('rating', { score: -1, comment: 'Wrong team.' }),
  list_feedback: ({ run }) => run.feedback.list(),
  delete_feedback: ({ run }) => run.feedback.delete('rating', { end_user: 'u-17' }),

  list_session_connections: ({ session }) => session.connections.list(),
  put_session_connection: ({ session }) =>
    session.connections.put('github', { auth: { type: 'bearer', token: 'a-token-of-the-user' } }),
  begin_connection: ({ session }) =>
    session.connections.begin('github', { return_url: 'https://app.example.com/connected' }),
  delete_session_connection: ({ session }) => session.connections.delete('github'),

  list_interactions: ({ session }) => session.interactions.list({ status: 'all' }).page(),
  answer_interaction: ({ session }) => session.interactions.answer('int_1', { decision: 'deny' }),
  forget_interaction: ({ session }) => session.interactions.forget('int_1'),

  update_session: ({ session }) => session.update({ title: 'A title', labels: { a: null } }),
  update_run: ({ run }) => run.update({ labels: { ticket: 'OPS-1' } }),
  list_tenant_runs: ({ convoke }) =>
    convoke.runs
      .list({
        status: ['failed', 'active'],
        label: ['a:b'],
        created_after: '2026-01-01T00:00:00Z',
        q: 'x',
      })
      .page(),
  find_run: ({ convoke }) => convoke.runs.get('run_1'),
  get_overview: ({ convoke }) => convoke.overview(),
  list_tenant_interactions: ({ convoke }) =>
    convoke.interactions.list({ kind: 'question', label: ['a:b', 'c:d'] }).page(),
  find_interaction: ({ convoke }) => convoke.interactions.get('int_1'),

  follow_tenant_events: ({ convoke }) =>
    convoke.feed.list({ types: ['run_queued', 'run_failed'], from: 'newest' }).page(),

  prepare_file: ({ session }) => session.files.prepare({ name: 'a.txt', size_bytes: 3 }),
  list_files: ({ session }) => session.files.list({ order: 'asc' }).page(),
  upload_file: ({ session }) => session.files.put('file_1', new Uint8Array(3)),
  download_file: ({ session }) => session.files.download('file_1', { range: { start: 1, end: 2 } }),
  delete_file: ({ session }) => session.files.delete('file_1'),

  create_schedule: ({ convoke }) =>
    convoke.schedules.create({
      name: 'Nightly',
      agent_name: 'demo',
      cron: '0 3 * * *',
      input: 'Hello',
    }),
  run_schedule: ({ convoke }) => convoke.schedules.run('sch_1'),
  preview_schedule: ({ convoke }) => convoke.schedules.preview('sch_1', { count: 3 }),

  replay_webhook: ({ convoke }) => convoke.webhooks.replay('wh_1', { afterId: '0000000000000042' }),

  update_client: ({ admin }) => admin.clients.update('cli_1', { version: 1, status: 'disabled' }),
  read_usage: ({ convoke }) => convoke.usage.list({ group_by: 'agent' }).page(),
  read_organization_usage: ({ admin }) => admin.usage.list({ bucket: 'day' }).page(),

  send_ui_message: ({ session }) =>
    session.uiMessages.send({ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }),
  resume_ui_stream: {
    because: 'the AI SDK sends it; ConvokeChatTransport follows the run instead',
  },
  run_ag_ui: { because: 'clients of AG-UI send it' },
  run_session_ag_ui: { because: 'clients of AG-UI send it' },
  list_ui_messages: ({ session }) => session.uiMessages.list().page(),
  get_agent_card: { because: 'clients of the A2A protocol read it' },
  call_published_agent: { because: 'clients of the A2A protocol send it' },
  call_mcp: { because: 'clients of the Model Context Protocol send it' },
  resume_mcp: { because: 'clients of the Model Context Protocol send it' },
  read_invitation: { because: 'the page of an invitation reads it' },
  accept_invitation: ({ convoke }) => convoke.acceptInvitation('cvi_1'),
  sign_up: { because: 'a person signs up on the page of the invitation' },
  get_me: ({ convoke }) => convoke.me(),
  get_organization: ({ admin }) => admin.organization(),
  get_system: ({ convoke }) => convoke.system(),
  get_health: { because: 'probes read it' },
  get_readiness: { because: 'probes read it' },
  get_openapi: { because: 'generators read it' },
  get_docs: { because: 'people read it' },
  get_guide: { because: 'people read it' },
  get_reference_page: { because: 'people read it' },
  get_search_index: { because: 'the pages read it' },
};

interface NotForClients {
  readonly because: string;
}

describe('the method of every operation sends what the contract accepts', () => {
  const byHand = Object.entries(methods).flatMap(([id, method]) =>
    typeof method === 'function' ? [{ operation: operationOf(id), method }] : [],
  );
  const generated = operationList.flatMap((operation) =>
    operation.sdk === undefined ? [] : [{ operation, method: generatedMethod(operation) }],
  );
  const called = [...byHand, ...generated];

  test.each(called)('$operation.id', async ({ operation, method }) => {
    const seen = await requestOf(method);
    expect(seen.method).toBe(operation.method);
    expect(seen.path).toMatch(pathPattern(operation.path));
    expect(seen.headers['authorization']).toBe('Bearer a-token');
    const isSelecting = operation.caller === 'automation';
    expect('x-organization-id' in seen.headers).toBe(isSelecting);
    if (operation.query !== undefined) {
      const declared = operation.query;
      const query = Object.fromEntries(
        [...seen.query].map(([name, value]) => [
          name,
          isRepeatable(declared, name) ? seen.query.getAll(name) : value,
        ]),
      );
      expect(operation.query.safeParse(query).error).toBeUndefined();
    } else {
      expect([...seen.query]).toEqual([]);
    }
    if (operation.body !== undefined) {
      const body: unknown = seen.body === '' ? {} : JSON.parse(seen.body);
      expect(operation.body.safeParse(body).error).toBeUndefined();
      if (operation.bodyRequired === true)
        expect(seen.headers['content-type']).toBe('application/json');
    }
    for (const [name, schema] of Object.entries(operation.headers ?? {})) {
      expect(schema.safeParse(seen.headers[name]).error).toBeUndefined();
    }
  });
});

/** Calls the generated method with an id for each parameter of the path, and the example of its body. */
function generatedMethod(operation: Operation): (parts: Parts) => Promise<unknown> {
  const [noun = '', name = ''] = operation.sdk?.method.split('.') ?? [];
  return async ({ convoke, admin }) => {
    const client: object = operation.caller === 'human' ? admin : convoke;
    const methodsOf = Reflect.get(client, noun) as Record<string, (...given: unknown[]) => unknown>;
    const ids = pathParams(operation.path).filter((param) => param !== 'organization_id');
    const body = exampleBody(operation);
    const given = [...ids.map((id) => `${id}_1`), ...(body === undefined ? [] : [body])];
    const answer = methodsOf[name]?.(...given);
    return answer instanceof Object && 'page' in answer
      ? (answer as { page(): Promise<unknown> }).page()
      : answer;
  };
}

function exampleBody({ id }: Operation): object | undefined {
  const described = Object.values(openApiDocument({ version: 'any' }).paths)
    .flatMap((methodsOf) => Object.values(methodsOf))
    .find(({ operationId }) => operationId === id);
  const example = described?.requestBody?.content['application/json']?.example;
  return typeof example === 'object' && example !== null && Object.keys(example).length > 0
    ? example
    : undefined;
}

function operationOf(id: string): Operation {
  const operation = operationList.find((candidate) => candidate.id === id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  return operation;
}

async function requestOf(method: (parts: Parts) => Promise<unknown>): Promise<Seen> {
  await using server = await answering((_seen, response) => {
    const headers = { 'x-run-id': 'run_1', 'x-session-id': 'sess_1' };
    response.writeHead(200, headers).end(JSON.stringify({ ...runRecord, ...sessionRecord }));
  });
  const convoke = clientAt(server);
  const admin = new ConvokeAdmin({ ...server, token: 'a-token', organizationId: 'org_1' });
  const session = convoke.sessions.at('sess_1');
  await method({ convoke, admin, session, run: session.runs.at('run_1') });
  const [seen] = server.seen;
  if (seen === undefined) throw new Error('nothing was sent');
  return seen;
}

function pathPattern(path: string): RegExp {
  const pattern = pathParams(path).reduce(
    (text, name) => text.replace(`{${name}}`, '[A-Za-z0-9_]+'),
    path,
  );
  return new RegExp(`^${pattern}$`);
}
