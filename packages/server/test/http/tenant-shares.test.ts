import { describe, expect, test } from 'vitest';
import { begin, ended, readRun } from '../support/api-steps.ts';
import { addClient, addTenant } from '../support/identities.ts';
import { startPuppetServer } from '../support/puppet-server.ts';

describe('concurrency', () => {
  test('a tenant has its share, and its backlog does not delay another tenant', async () => {
    const { server, puppet } = await startPuppetServer({
      env: { CONVOKE_TENANT_RUN_CONCURRENCY: '2', CONVOKE_RUN_CONCURRENCY: '3' },
    });
    const busy = await Promise.all(
      Array.from({ length: 5 }, () => begin(server, 'puppet', 'busy')),
    );
    const legs = [await puppet.leg(), await puppet.leg()];
    const statuses = () => Promise.all(busy.map(async ({ run }) => readRun(server, run)));
    expect((await statuses()).map(({ status }) => status).sort()).toEqual([
      'queued',
      'queued',
      'queued',
      'running',
      'running',
    ]);
    const tenant = await addTenant(server);
    const as = (await addClient(server)).in(tenant);
    const { body: session } = await server.send('create_session', {
      as,
      body: { agent_name: 'puppet' },
    });
    await server.send('start_run', {
      as,
      params: { session_id: session.id },
      body: { input: { prompt: 'other' } },
    });
    const other = await puppet.leg();
    expect(other.context.prompt).toBe('other');
    other.end();
    for (const leg of legs) leg.end();
    for (let left = 3; left > 0; left -= 1) (await puppet.leg()).end();
    for (const { run } of busy) expect((await ended(server, run)).status).toBe('completed');
  });
});
