import { describe, expect, test } from 'vitest';
import type { CredentialProvider } from '../../../src/ports/credential-provider.ts';
import { begin, eventsPath } from '../../support/api-steps.ts';
import { FakeClock, MovingClock } from '../../support/clocks.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestClient, addClient, addTenant } from '../../support/identities.ts';
import { type TestServer, deployments, requestToken, startServer } from '../../support/server.ts';

/** A slow external provider. */
function slowProvider(): CredentialProvider & { isDone: boolean } {
  return {
    isDone: false,
    withdraw() {
      return Promise.resolve(this.isDone ? 'done' : 'pending');
    },
  };
}

describe.each(deployments)('withdrawals over HTTP on %s (spec §5.7)', (database) => {
  const paramsOf = (server: TestServer, client: TestClient) => ({
    organization_id: server.quickstart.organization_id,
    client_id: client.record.id,
  });

  test('with a slow provider answer 202, show the pending operation, and finish later', async () => {
    const provider = slowProvider();
    const clock = new MovingClock();
    const server = await startServer({ database, provider, clock });
    const client = await addClient(server);
    const params = paramsOf(server, client);
    const token = client.in(server.quickstart.tenant_id);
    const read = async () => (await server.send('get_client', { params })).body;

    const narrowed = await server.send('update_client', {
      params,
      body: { version: 1, profile: 'observe' },
    });
    expect(narrowed.status).toBe(202);
    expect(narrowed.body).toMatchObject({
      version: 2,
      profile: 'observe',
      pending_operation: { kind: 'change_permissions', requested_at: expect.any(String) },
    });
    const renamed = await server.send('update_client', {
      params,
      body: { version: 2, name: 'Renamed in between' },
    });
    expect([renamed.status, renamed.body.pending_operation?.kind]).toEqual([
      202,
      'change_permissions',
    ]);
    const session = { as: token, body: { agent_name: 'echo' } };
    expect((await server.refused('create_session', session)).error).toBe('insufficient_scope');

    const revoking = { ...params, credential_id: client.credentialId };
    const revoked = await server.send('revoke_credential', { params: revoking });
    expect(revoked.status).toBe(202);
    expect(revoked.body).toMatchObject({
      status: 'revoked',
      pending_operation: { kind: 'revoke_credential' },
    });
    await expect(requestToken(server.baseUrl, client)).rejects.toThrow('invalid_client');
    expect((await server.send('list_sessions', { as: token })).status).toBe(200);

    const disabled = await server.send('update_client', {
      params,
      body: { version: 3, status: 'disabled' },
    });
    expect([disabled.status, disabled.body.pending_operation?.kind]).toEqual([
      202,
      'disable_client',
    ]);
    expect((await server.refused('list_sessions', { as: token })).status).toBe(403);
    expect((await read()).credentials[0]?.pending_operation?.kind).toBe('revoke_credential');
    const { organization_id } = params;
    const listed = await server.send('list_clients', { params: { organization_id } });
    expect(listed.body.clients[0]?.pending_operation?.kind).toBe('disable_client');

    provider.isDone = true;
    clock.advance(120_000);
    await eventually(async () => {
      const { client: record, credentials } = await read();
      const shown = [record, ...credentials];
      return shown.every((one) => one.pending_operation === undefined);
    });

    provider.isDone = false;
    const deleted = await server.send('delete_client', { params });
    expect([deleted.status, deleted.body?.pending_operation?.kind]).toEqual([202, 'delete_client']);
    // Spec §5.7: its access has ended, so the record does not say that it is active.
    expect(deleted.body?.status).toBe('disabled');
    expect((await server.refused('get_client', { params })).status).toBe(404);
    // Deleting again shows what the first answer showed, until the cleanup is done.
    const again = await server.send('delete_client', { params });
    expect([again.status, again.body]).toEqual([202, deleted.body]);
    provider.isDone = true;
    clock.advance(120_000);
    const { store } = server.convoke.services;
    await eventually(async () => {
      const due = await store.read.withdrawals.due(Number.MAX_SAFE_INTEGER, 10);
      return due.length === 0;
    });
    expect((await server.send('delete_client', { params })).status).toBe(204);
  });

  test('that are pending when the server stops are finished by the next one', async () => {
    const provider = slowProvider();
    const first = await startServer({ database, provider });
    const client = await addClient(first);
    const params = paramsOf(first, client);
    const body = { version: 1, status: 'disabled' };
    expect((await first.send('update_client', { params, body })).status).toBe(202);
    const clock = new MovingClock();
    clock.advance(120_000);
    provider.isDone = true;
    const second = await first.restart({ clock });
    await eventually(async () => {
      const { body: shown } = await second.send('get_client', { params });
      return shown.client.pending_operation === undefined;
    });
  });

  test('with the built-in provider are complete in the answer', async () => {
    const server = await startServer({ database });
    const client = await addClient(server);
    const params = paramsOf(server, client);
    const change = async (body: object) => server.send('update_client', { params, body });
    const narrowed = await change({ version: 1, profile: 'observe' });
    expect([narrowed.status, narrowed.body.pending_operation]).toEqual([200, undefined]);
    expect((await change({ version: 2, status: 'disabled' })).status).toBe(200);
    const revoking = { ...params, credential_id: client.credentialId };
    expect((await server.send('revoke_credential', { params: revoking })).status).toBe(204);
    expect((await server.send('revoke_credential', { params: revoking })).status).toBe(204);
    expect((await server.send('delete_client', { params })).status).toBe(204);
  });
});

describe('open streams of a client (D-33)', () => {
  const closings: Record<string, (server: TestServer, client: TestClient) => Promise<unknown>> = {
    'is disabled': (server, client) => patch(server, client, { status: 'disabled' }),
    'loses the scope they need': (server, client) => patch(server, client, { profile: 'deploy' }),
    'is deleted': (server, client) =>
      server.send('delete_client', {
        params: {
          organization_id: server.quickstart.organization_id,
          client_id: client.record.id,
        },
      }),
    'has the credential revoked that opened them': (server, client) =>
      server.send('revoke_credential', {
        params: {
          organization_id: server.quickstart.organization_id,
          client_id: client.record.id,
          credential_id: client.credentialId,
        },
      }),
  };
  const patch = (server: TestServer, client: TestClient, change: object) =>
    server.send('update_client', {
      params: { organization_id: server.quickstart.organization_id, client_id: client.record.id },
      body: { version: 1, ...change },
    });

  test.each(Object.keys(closings))('close at once when it %s, between frames', async (name) => {
    // The clock does not advance, so no periodic check can have closed them.
    const server = await startServer({ clock: new FakeClock() });
    const client = await addClient(server);
    const { run } = await begin(server, 'sleeper');
    const as = client.in(server.quickstart.tenant_id);
    const reader = await server.stream(eventsPath(run), { as });
    const other = await server.stream(eventsPath(run));
    const frames = reader.all();
    await closings[name]?.(server, client);
    expect((await frames).some((frame) => frame.event === 'run_started')).toBe(true);
    expect(reader.torn).toBe('');
    await server.send('cancel_run', { params: { session_id: run.session_id, run_id: run.id } });
    await other.until('run_cancelled');
  });

  test('stay open when another credential is revoked; tokens of the revoked one stay valid (spec §5.7)', async () => {
    const server = await startServer({ clock: new FakeClock() });
    const client = await addClient(server);
    const { organization_id, tenant_id } = server.quickstart;
    const params = { organization_id, client_id: client.record.id };
    const second = await server.send('add_credential', {
      params,
      headers: { 'idempotency-key': 'second-credential' },
      body: { label: 'second', expires_in_days: 1 },
    });
    const as = client.in(tenant_id);
    const { run } = await begin(server, 'sleeper');
    const reader = await server.stream(eventsPath(run), { as });
    await reader.until('run_started');
    const revoking = { ...params, credential_id: second.body.credential.id };
    await server.send('revoke_credential', { params: revoking });
    await server.send('cancel_run', { params: { session_id: run.session_id, run_id: run.id } });
    expect((await reader.all()).at(-1)?.data.type).toBe('run_cancelled');
    await server.send('revoke_credential', {
      params: { ...params, credential_id: client.credentialId },
    });
    expect((await server.send('list_agents', { as })).status).toBe(200);
  });

  test('close within fifteen seconds when their tenant is offboarded', async () => {
    const clock = new MovingClock();
    const server = await startServer({ clock });
    const tenant = await addTenant(server);
    const client = await addClient(server);
    const as = client.in(tenant);
    const session = await server.send('create_session', { as, body: { agent_name: 'sleeper' } });
    const params = { session_id: session.body.id };
    const started = await server.send('start_run', {
      as,
      params,
      body: { input: { prompt: 'x' } },
    });
    const reader = await server.stream(eventsPath(started.body), { as });
    const frames = reader.all();
    const { organization_id } = server.quickstart;
    const at = { organization_id, tenant_id: tenant };
    await server.send('offboard_tenant', { params: at, body: { confirm: tenant } });
    clock.advance(15_000);
    expect((await frames).some((frame) => frame.event === 'run_started')).toBe(true);
  });
});
