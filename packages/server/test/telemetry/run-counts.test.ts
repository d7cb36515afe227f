import { organizationId, runId, sessionId, tenantId } from '@convoke/contract';
import { expect, test } from 'vitest';
import { recordEnd } from '../../src/app/record-end.ts';
import { lockRun } from '../../src/app/record.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { begin } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { readSamples, sampleOf } from '../support/metric-samples.ts';
import { createRunFixture } from '../support/run-fixture.ts';
import { startServer } from '../support/server.ts';

test.each(databaseKinds)(
  'a run whose worker has died counts as ended and as recovered, once (%s)',
  async (kind) => {
    const world = await createRunFixture(kind);
    await world.claimed(await world.start(await world.open()));
    world.clock.advance(16_000);
    const leases = {
      owner: 'worker-2',
      isExecuting: () => false,
      canTrustExpiry: () => true,
    };
    await reconcileRuns(world, leases);
    await reconcileRuns(world, leases);
    const samples = readSamples(await world.metrics.render());
    const lost = { status: 'failed', error_code: 'worker_lost' };
    expect(sampleOf(samples, 'convoke_runs_ended_total', lost)).toBe(1);
    expect(sampleOf(samples, 'convoke_runs_recovered_total')).toBe(1);
    expect(sampleOf(samples, 'convoke_events_appended_total')).toBe(2);
  },
);

test('a leg that is stopped because its run ended elsewhere counts as a lost lease', async () => {
  const server = await startServer();
  const { run } = await begin(server, 'sleeper');
  const { services } = server.convoke;
  const { organization_id, tenant_id } = server.quickstart;
  const at = {
    scope: { organizationId: organizationId(organization_id), tenantId: tenantId(tenant_id) },
    sessionId: sessionId(run.session_id),
    runId: runId(run.id),
  };
  await eventually(async () => {
    const { body } = await server.send('get_run', {
      params: { session_id: run.session_id, run_id: run.id },
    });
    return body.status === 'running';
  });
  await services.store.transaction(async (tx) => {
    const seen = await lockRun(tx, at);
    if (seen?.run.status !== 'running') throw new Error('the run does not execute');
    const { session, run: running } = seen;
    await recordEnd(services, tx, {
      seen: { session, run: running },
      outcome: { status: 'cancelled' },
    });
  });
  const lost = await eventually(async () => {
    services.fanout.wake(`control:${at.runId}`);
    const samples = readSamples(await (await server.fetch('GET', '/metrics')).text());
    return sampleOf(samples, 'convoke_leases_lost_total') || undefined;
  });
  expect(lost).toBe(1);
});
