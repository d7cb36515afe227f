import {
  isRepeatable,
  type Operation,
  type OperationId,
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

/** A method for every operation of the contract. An operation without one does not compile. */
const methods: Readonly<Record<OperationId, ((parts: Parts) => Promise<unknown>) | NotForClients>> =
  {
    issue_token: { because: 'tokens.test.ts: the client does it by itself' },
    get_metadata: { because: 'OAuth libraries read it' },
    get_jwks: { because: 'those who verify tokens read it' },

    list_workspaces: ({ convoke }) => convoke.workspaces({ limit: 5 }).page(),
    whoami: ({ convoke }) => convoke.whoami(),

    list_agents: ({ convoke }) => convoke.agents.list({ order: 'desc' }).page(),
    invoke_agent: ({ convoke }) => convoke.agents.invoke('demo', 'Hello'),

    create_session: ({ convoke }) => convoke.sessions.create('demo'),
    list_sessions: ({ convoke }) =>
      convoke.sessions.list({ status: 'idle', agent_name: 'demo', limit: 1 }).page(),
    get_session: ({ convoke }) => convoke.sessions.get('sess_1'),
    stop_session: ({ session }) => session.stop({ mode: 'terminate', reason: 'Done' }),
    resume_session: ({ session }) => session.resume(),

    start_run: ({ session }) => session.run('Hello', { files: ['file_1'] }),
    list_runs: ({ session }) => session.runs.list({ status: 'failed' }).page(),
    get_run: ({ session }) => session.runs.get('run_1'),
    follow_run_events: ({ run }) => run.events({ limit: 10 }).page(),
    cancel_run: ({ run }) => run.cancel({ reason: 'Enough' }),

    list_interactions: ({ session }) => session.interactions.list({ status: 'all' }).page(),
    answer_interaction: ({ session }) => session.interactions.answer('int_1', { decision: 'deny' }),

    get_agent: ({ convoke }) => convoke.agents.get('demo'),
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
    download_file: ({ session }) =>
      session.files.download('file_1', { range: { start: 1, end: 2 } }),
    delete_file: ({ session }) => session.files.delete('file_1'),

    create_schedule: ({ convoke }) =>
      convoke.schedules.create({
        name: 'Nightly',
        agent_name: 'demo',
        cron: '0 3 * * *',
        input: 'Hello',
      }),
    list_schedules: ({ convoke }) => convoke.schedules.list({ status: 'paused' }).page(),
    get_schedule: ({ convoke }) => convoke.schedules.get('sch_1'),
    update_schedule: ({ convoke }) =>
      convoke.schedules.update('sch_1', { version: 1, cron: '0 4 * * *' }),
    delete_schedule: ({ convoke }) => convoke.schedules.delete('sch_1'),
    pause_schedule: ({ convoke }) => convoke.schedules.pause('sch_1'),
    resume_schedule: ({ convoke }) => convoke.schedules.resume('sch_1'),
    run_schedule: ({ convoke }) => convoke.schedules.run('sch_1'),
    list_fires: ({ convoke }) => convoke.schedules.fires('sch_1', { limit: 5 }).page(),
    preview_schedule: ({ convoke }) => convoke.schedules.preview('sch_1', { count: 3 }),

    create_webhook: ({ convoke }) =>
      convoke.webhooks.create({ url: 'https://example.com/hook', types: ['run_failed'] }),
    list_webhooks: ({ convoke }) => convoke.webhooks.list({ limit: 5 }).page(),
    get_webhook: ({ convoke }) => convoke.webhooks.get('wh_1'),
    update_webhook: ({ convoke }) =>
      convoke.webhooks.update('wh_1', { version: 1, status: 'disabled' }),
    delete_webhook: ({ convoke }) => convoke.webhooks.delete('wh_1'),
    rotate_webhook: ({ convoke }) => convoke.webhooks.rotate('wh_1'),
    test_webhook: ({ convoke }) => convoke.webhooks.test('wh_1'),
    list_deliveries: ({ convoke }) =>
      convoke.webhooks.deliveries('wh_1', { status: 'failed' }).page(),
    get_delivery: ({ convoke }) => convoke.webhooks.delivery('wh_1', 'whd_1'),
    redeliver: ({ convoke }) => convoke.webhooks.redeliver('wh_1', 'whd_1'),
    replay_webhook: ({ convoke }) =>
      convoke.webhooks.replay('wh_1', { afterId: '0000000000000042' }),

    list_clients: ({ admin }) => admin.clients.list().page(),
    list_profiles: ({ admin }) => admin.clients.profiles(),
    create_client: ({ admin }) =>
      admin.clients.create({ name: 'Nightly', profile: 'custom', scopes: ['runs:read'] }),
    get_client: ({ admin }) => admin.clients.get('cli_1'),
    update_client: ({ admin }) => admin.clients.update('cli_1', { version: 1, status: 'disabled' }),
    delete_client: ({ admin }) => admin.clients.delete('cli_1'),

    add_credential: ({ admin }) => admin.credentials.add('cli_1', { label: 'autumn' }),
    revoke_credential: ({ admin }) => admin.credentials.revoke('cli_1', 'cred_1'),

    read_usage: ({ convoke }) => convoke.usage.list({ group_by: 'agent' }).page(),
    read_organization_usage: ({ admin }) => admin.usage.list({ bucket: 'day' }).page(),

    list_budgets: ({ admin }) => admin.budgets.list().page(),
    set_budget: ({ admin }) =>
      admin.budgets.set({ scope: { kind: 'agent', id: 'a' }, period: 'day', max_tokens: 1 }),
    get_budget: ({ admin }) => admin.budgets.get('bud_1'),
    delete_budget: ({ admin }) => admin.budgets.delete('bud_1'),

    list_tenants: ({ admin }) => admin.tenants.list().page(),
    create_tenant: ({ admin }) => admin.tenants.create({ display_name: 'Acme', mode: 'saas' }),
    get_tenant: ({ admin }) => admin.tenants.get('ten_1'),
    retry_tenant: ({ admin }) => admin.tenants.retry('ten_1'),
    offboard_tenant: ({ admin }) => admin.tenants.offboard('ten_1', { confirm: 'ten_1' }),

    get_me: ({ convoke }) => convoke.me(),
    get_organization: ({ admin }) => admin.organization(),
    list_audit: ({ admin }) => admin.audit.list({ action: 'token.issue', limit: 2 }).page(),
    get_audit_status: ({ admin }) => admin.audit.status(),
    list_members: ({ admin }) => admin.members.list({ limit: 2 }).page(),

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
  const called = Object.entries(methods).flatMap(([id, method]) =>
    typeof method === 'function' ? [{ operation: operationOf(id), method }] : [],
  );

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
