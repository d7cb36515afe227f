import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../support/clocks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { addClient, addOrganization, addPerson, addTenant } from '../../support/identities.ts';
import { type TestServer, startServer } from '../../support/server.ts';

const paramsOf = ({ quickstart }: TestServer) => ({ organization_id: quickstart.organization_id });

describe.each(databaseKinds)('management by many at once, on %s', (database) => {
  test('of twenty creates with one key one gets 201, and one secret is shown (D-63)', async () => {
    const server = await startServer({ database });
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 'Raced', profile: 'invoke' };
    const request = { params: paramsOf(server), headers, body };
    const path = `/v1/organizations/${server.quickstart.organization_id}/m2m`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.call('POST', path, { headers, body })),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array<number>(19).fill(409)]);
    const made = answers.find(({ status }) => status === 201);
    const { client_secret: secret, client } = JSON.parse(made?.text ?? '{}');
    expect(answers.filter(({ text }) => text.includes(secret))).toHaveLength(1);
    const refused = await server.refused('create_client', request);
    expect(refused.error).toBe('secret_already_issued');
    expect(JSON.parse(refused.text).client.id).toBe(client.id);
    const { body: list } = await server.send('list_clients', { params: paramsOf(server) });
    expect(list.clients.filter(({ name }) => name === 'Raced')).toHaveLength(1);
  });

  test('of twenty changes of one version one wins, and the version increases by one (spec §9.4)', async () => {
    const server = await startServer({ database });
    const { body: made } = await server.send('create_client', {
      params: paramsOf(server),
      headers: { 'idempotency-key': randomUUID() },
      body: { name: 'Raced', profile: 'invoke' },
    });
    const path = `/v1/organizations/${server.quickstart.organization_id}/m2m/${made.client.id}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        server.call('PATCH', path, { body: { version: 1, name: `Name ${index}` } }),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const { status, text } of answers) {
      if (status !== 200)
        expect([status, JSON.parse(text).error]).toEqual([409, 'version_conflict']);
    }
    const params = { ...paramsOf(server), client_id: made.client.id };
    const { body } = await server.send('get_client', { params });
    expect(body.client).toEqual(JSON.parse(won[0]?.text ?? '{}'));
    expect(body.client.version).toBe(2);
  });
});

describe('the rate of changes (D-68)', () => {
  test('applies to one person per organization exactly, and to no other', async () => {
    const clock = new FakeClock();
    const env = { CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '60' };
    const server = await startServer({ clock, env });
    const home = paramsOf(server);
    const admin = await addPerson(server, home.organization_id, 'admin');
    const away = await addOrganization(server, 'Away');
    const change = async (as: object, params = home) => {
      const at = { ...params, client_id: 'cli_unknown' };
      return (await server.refused('delete_client', { as: { ...as }, params: at })).status;
    };
    let accepted = 0;
    let limited = 0;
    // Ten times the rate for a minute of this clock, while an admin works at a tenth of it.
    for (let tenth = 0; tenth < 600; tenth += 1) {
      const status = await change(server.owner);
      if (status === 404) accepted += 1;
      else if (status === 429) limited += 1;
      if (tenth % 100 === 50) expect(await change(admin)).toBe(404);
      clock.advance(100);
    }
    expect([accepted, limited]).toEqual([20 + 59, 600 - 79]);
    expect(await change(away.owner, { organization_id: away.organization_id })).toBe(404);
    expect((await server.send('list_clients', { params: home })).status).toBe(200);
    const refused = await server.refused('delete_client', {
      params: { ...home, client_id: 'cli_unknown' },
    });
    expect(refused.status).toBe(404);
  });
});

test('a new tenant of a lone server is usable although no period of a pass has ended (D-67, D-265)', async () => {
  const server = await startServer({ clock: new FakeClock() });
  // The passes of the start are over once a first tenant is there.
  await addTenant(server, 'First');
  const id = await addTenant(server, 'Second');
  const as = (await addClient(server, {})).in(id);
  expect((await server.send('list_agents', { as })).status).toBe(200);
});

describe('a tenant that cannot be provisioned (D-67)', () => {
  test('shows what to do, and continues after a retry', async () => {
    const server = await startServer({ expectsFaults: true });
    const workspaces = join(server.config.dataDir, 'workspaces');
    if (existsSync(workspaces)) renameSync(workspaces, `${workspaces}-away`);
    writeFileSync(workspaces, 'a file is in the way of the folder');
    const { body: made } = await server.send('create_tenant', {
      params: paramsOf(server),
      headers: { 'idempotency-key': randomUUID() },
      body: { display_name: 'Blocked', mode: 'saas' },
    });
    const params = { ...paramsOf(server), tenant_id: made.id };
    const read = async () => (await server.send('get_tenant', { params })).body;
    const inStatus = (status: string) =>
      eventually(async () => {
        const tenant = await read();
        return tenant.status === status && tenant;
      });
    const failed = await inStatus('failed');
    expect(failed.attachment_state).toBe('failed');
    expect(failed.status_reason).toMatch(
      /^The folder for sessions cannot be written \(E\w+\)\. Ask/,
    );
    expect(failed.status_reason).not.toContain(server.config.dataDir);
    const again = await server.send('retry_tenant', { params });
    expect([again.status, again.body.status]).toEqual([202, 'provisioning']);
    expect((await inStatus('failed')).status_reason).toBe(failed.status_reason);
    rmSync(workspaces);
    await server.send('retry_tenant', { params });
    const active = await inStatus('active');
    expect([active.attachment_state, active.status_reason]).toEqual(['ready', undefined]);
    expect((await server.refused('retry_tenant', { params })).error).toBe('tenant_not_retryable');
  });
});
