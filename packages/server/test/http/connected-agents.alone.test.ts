// Agents that use the accounts of their tenants and end users (D-591 to D-604).
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { eventTypes, isTerminalRunStatus } from '@convoke/contract';
import type { Identity } from '../support/checked-calls.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { addClient, addTenant } from '../support/identities.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { addMember, asPerson } from '../support/sign-in/console.ts';

/** Says what it got, reversed, so that the redaction of the leg does not hide it from the test. */
const program = `
import json, os, sys
json.loads(sys.stdin.readline())
names = ["CRM_TOKEN", "GITHUB_TOKEN", "MAIL_TOKEN"]
told = [os.environ.get(name, "none")[::-1] for name in names]
print(json.dumps({"type": "message_delta", "text": json.dumps(told)}), flush=True)
print(json.dumps({"type": "message_delta", "text": " plain " + os.environ["CRM_TOKEN"]}), flush=True)
`;
const agents = {
  teller: {
    description: 'Tells',
    framework: 'stdio',
    command: ['python3', './tell.py'],
    publish: ['a2a'],
    connections: {
      crm: { owner: 'tenant' },
      github: { owner: 'end_user' },
      mail: { owner: 'end_user', fallback: 'tenant', required: false },
    },
    env: {
      CRM_TOKEN: '${connection:crm}',
      GITHUB_TOKEN: '${connection:github}',
      MAIL_TOKEN: '${connection:mail}',
    },
  },
};
const agentFiles = { 'teller/tell.py': program };
const secretOf = (...parts: readonly string[]) => ['planted', ...parts, 'secret'].join('-');
const reversed = (text: string) => Array.from(text).toReversed().join('');

describe.each(databaseKinds)('on %s', (database) => {
  let server: TestServer;
  /** A token endpoint that answers each refresh token once. */
  const issued: string[] = [];
  let endpoint: string;
  beforeAll(async () => {
    const provider = createServer((_, answer) => {
      issued.push(secretOf('issued', String(issued.length)));
      const access_token = issued.at(-1);
      answer.setHeader('content-type', 'application/json');
      answer.end(JSON.stringify({ access_token, expires_in: 3600 }));
    });
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    atFileEnd(() => void provider.close());
    const { port } = provider.address() as AddressInfo;
    endpoint = `http://127.0.0.1:${port}/token`;
    const env = { CONVOKE_CONNECTION_ALLOW: '127.0.0.1/32' };
    server = await startServer({ database, agents, agentFiles, env });
  });

  async function newTenant() {
    const id = await addTenant(server, 'Connected');
    const as = (await addClient(server, {})).in(id);
    const put = (service: string, token: string, end_user?: string) =>
      server.send('put_connection', {
        as,
        params: { service },
        body: { ...(end_user === undefined ? {} : { end_user }), auth: { type: 'bearer', token } },
      });
    return { id, as, put };
  }

  const input = { prompt: 'tell' };
  async function toldTo(as: Identity, end_user?: string) {
    const of = end_user === undefined ? {} : { end_user };
    const { body: session } = await server.send('create_session', {
      as,
      body: { agent_name: 'teller', ...of },
    });
    return { session, ...(await toldIn(as, session.id)) };
  }
  async function toldIn(as: Identity, session_id: string) {
    const params = { session_id };
    const { body: started } = await server.send('start_run', { as, params, body: { input } });
    const run = await eventually(async () => {
      const at = { session_id, run_id: started.id };
      const { body } = await server.send('get_run', { as, params: at });
      return isTerminalRunStatus(body.status) && body;
    });
    const [told = '[]', plain = ''] = (run.output_text ?? '').split(' plain ');
    return { run, told: JSON.parse(told) as string[], plain };
  }

  /** What the log of the run says about the accounts that the agent got (D-602). */
  async function usedIn(as: Identity, { session_id, id }: { session_id: string; id: string }) {
    const reader = await server.stream(`/v1/sessions/${session_id}/runs/${id}/events`, { as });
    const used = (await reader.all()).filter(({ event }) => event === 'connection_used');
    return used.map(({ data }) => eventTypes.connection_used.data.parse(data.data));
  }

  test('end users of two tenants use their own accounts, and none is shown (D-591, D-596, D-603)', async () => {
    const tenants = await Promise.all([newTenant(), newTenant()]);
    const runs = await Promise.all(
      tenants.flatMap(({ as, put }, index) => {
        const name = ['one', 'two'][index] ?? '';
        const crm = put('crm', secretOf(name, 'crm'));
        const mail = put('mail', secretOf(name, 'mail'));
        return ['u-1', 'u-2'].map(async (user) => {
          await put('github', secretOf(name, user, 'github'), user);
          if (user === 'u-2') await put('mail', secretOf(name, user, 'mail'), user);
          await Promise.all([crm, mail]);
          const { run, told, plain, session } = await toldTo(as, user);
          expect(session.end_user).toBe(user);
          const own = user === 'u-2' ? [name, user, 'mail'] : [name, 'mail'];
          expect(told).toEqual(
            [secretOf(name, 'crm'), secretOf(name, user, 'github'), secretOf(...own)].map(reversed),
          );
          expect(plain).toBe('[secret]');
          const used = (await usedIn(as, run)).map(({ service, owner }) => `${service} ${owner}`);
          const whose = user === 'u-2' ? 'end_user' : 'tenant';
          expect(used).toEqual(['crm tenant', 'github end_user', `mail ${whose}`]);
          return run;
        });
      }),
    );
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 'completed'));
    // Nothing that a caller can read has one of them, and no page of the database.
    for (const { as } of tenants) {
      const reads = await Promise.all([
        server.call('GET', '/v1/connections', { as }),
        server.call('GET', '/v1/agents', { as }),
        server.call('GET', '/v1/sessions', { as }),
        server.call('GET', '/v1/runs', { as }),
      ]);
      for (const { status, text } of reads) {
        expect(status).toBe(200);
        expect(text).not.toMatch(/planted-/);
      }
    }
  });

  test('an optional account that is missing sets no variable, and a run needs no session for it (D-596)', async () => {
    const { as, put } = await newTenant();
    await put('crm', secretOf('crm'));
    await put('github', secretOf('github'), 'u-1');
    const { told } = await toldTo(as, 'u-1');
    expect(told.map(reversed)).toEqual([secretOf('crm'), secretOf('github'), 'none']);
  });

  test('a run that needs an account is refused wherever it starts, and nothing is queued (D-601)', async () => {
    const { as, put } = await newTenant();
    await put('crm', secretOf('crm'));
    const { body: session } = await server.send('create_session', {
      as,
      body: { agent_name: 'teller', end_user: 'u-1' },
    });
    const params = { session_id: session.id };
    const missing = { status: 409, error: 'connection_missing' };
    const start = { as, params, body: { input } };
    const refused = await server.refused('start_run', start);
    expect(refused).toMatchObject(missing);
    expect(refused.text).toContain('github');
    const agent_name = 'teller';
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hi' }] };
    const agUi = {
      threadId: 'thread-1',
      runId: 'run-1',
      messages: [{ id: 'm1', role: 'user', content: 'hi' }],
    };
    const { body: schedule } = await server.send('create_schedule', {
      as,
      body: { name: 'Yearly', agent_name, cron: '0 0 1 1 *', input },
    });
    const answers = [
      server.refused('invoke_agent', { as, params: { agent_name }, body: { input } }),
      server.refused('send_ui_message', { as, params, body: { id: 'chat', messages: [message] } }),
      server.refused('run_ag_ui', { as, params: { agent_name }, body: agUi }),
      server.refused('run_session_ag_ui', {
        as,
        params,
        body: { ...agUi, threadId: session.id },
      }),
      server.refused('run_schedule', { as, params: { schedule_id: schedule.id } }),
    ];
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject(missing);
    const { body: read } = await server.send('get_session', { as, params });
    expect(read).toMatchObject({ status: 'idle' });
    // Connected now: the same session works, and a revocation counts for its next run.
    await put('github', secretOf('github'), 'u-1');
    expect((await toldIn(as, session.id)).run.status).toBe('completed');
    await server.send('delete_connection', {
      as,
      params: { service: 'github' },
      query: { end_user: 'u-1' },
    });
    expect(await server.refused('start_run', start)).toMatchObject(missing);
  });

  test('a token that is about to end is refreshed before the program gets it (D-598)', async () => {
    const { as, put } = await newTenant();
    await put('github', secretOf('github'), 'u-1');
    const auth = {
      type: 'oauth',
      access_token: secretOf('ends', 'soon'),
      expires_at: new Date(Date.now() + 60_000).toISOString(),
      refresh_token: secretOf('refresh'),
      token_endpoint: endpoint,
      client_id: 'client',
    };
    await server.send('put_connection', { as, params: { service: 'crm' }, body: { auth } });
    const { told } = await toldTo(as, 'u-1');
    expect(issued.map(reversed)).toContain(told[0]);
    const { body } = await server.send('list_connections', { as, query: { service: 'crm' } });
    expect(body.connections).toMatchObject([{ version: 2, status: 'connected' }]);
    expect(body.connections[0]?.last_used_at).toBeDefined();
    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
    expect(metrics).toContain('convoke_connection_refreshes_total{outcome="refreshed"} 1\n');
  });

  test('a schedule that an ended account refuses expires it (D-940)', async () => {
    const { as, put } = await newTenant();
    const auth = {
      type: 'oauth',
      access_token: secretOf('ended'),
      expires_at: '2020-01-15T09:30:00.000Z',
    };
    await server.send('put_connection', { as, params: { service: 'crm' }, body: { auth } });
    await put('github', secretOf('github'), 'u-1');
    const plan = { name: 'Yearly', agent_name: 'teller', cron: '0 0 1 1 *', input };
    const { body: schedule } = await server.send('create_schedule', { as, body: plan });
    const params = { schedule_id: schedule.id };
    const refused = await server.refused('run_schedule', { as, params });
    expect(refused).toMatchObject({ status: 409, error: 'connection_missing' });
    const { body } = await server.send('list_connections', { as, query: { status: 'expired' } });
    expect(body.connections).toMatchObject([{ service: 'crm', status_reason: 'no_refresh' }]);
  });

  test('a schedule opens its sessions for its end user (D-591)', async () => {
    const { as, put } = await newTenant();
    await put('crm', secretOf('crm'));
    await put('github', secretOf('u-1', 'github'), 'u-1');
    const plan = { name: 'Yearly', agent_name: 'teller', cron: '0 0 1 1 *', input };
    const create = (body: object) => ({ as, body: { ...plan, ...body } });
    const { body: schedule } = await server.send('create_schedule', create({ end_user: 'u-1' }));
    expect(schedule.end_user).toBe('u-1');
    const params = { schedule_id: schedule.id };
    const { body: run } = await server.send('run_schedule', { as, params });
    const { body: session } = await server.send('get_session', {
      as,
      params: { session_id: run.session_id },
    });
    expect(session.end_user).toBe('u-1');
    const kept = { mode: 'keep', session_id: session.id };
    for (const body of [{ end_user: 'usr_1' }, { end_user: 'u-2', session: kept }]) {
      const refused = await server.refused('create_schedule', create(body));
      expect(refused).toMatchObject({ status: 400, error: 'invalid_body' });
    }
    await server.send('create_schedule', create({ end_user: 'u-1', session: kept }));
  });

  test('in a session of a person only that person starts runs (D-592)', async () => {
    const [me, colleague] = [await addMember(server, 'operator'), await addMember(server, 'admin')];
    const [as, asColleague] = [await asPerson(server, me), await asPerson(server, colleague)];
    const connect = (service: string, by: Identity, body: object) =>
      server.send('put_connection', { as: by, params: { service }, body });
    const bearer = (token: string) => ({ auth: { type: 'bearer', token } });
    await connect('crm', asColleague, bearer(secretOf('crm')));
    await connect('github', as, { end_user: me, ...bearer(secretOf('mine')) });
    const { told, session } = await toldTo(as);
    expect(session.end_user).toBe(me);
    expect(told[1]).toBe(reversed(secretOf('mine')));
    const params = { session_id: session.id };
    for (const other of [asColleague, server.client]) {
      const refused = await server.refused('start_run', { as: other, params, body: { input } });
      expect(refused).toMatchObject({ status: 403, error: 'forbidden' });
    }
    const asOther = { agent_name: 'teller', end_user: colleague };
    for (const by of [as, server.client]) {
      const refused = await server.refused('create_session', { as: by, body: asOther });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_body' });
    }
  });

  test('an agent says which accounts it uses (D-604)', async () => {
    const { body } = await server.send('get_agent', { params: { agent_name: 'teller' } });
    expect(body.connections).toEqual([
      { service: 'crm', owner: 'tenant', required: true },
      { service: 'github', owner: 'end_user', required: true },
      { service: 'mail', owner: 'end_user', required: false },
    ]);
  });
});
