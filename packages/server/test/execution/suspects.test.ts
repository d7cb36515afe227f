import { randomUUID } from 'node:crypto';
import { runId } from '@convoke/contract';
import { expect, test } from 'vitest';
import { Dispatcher } from '../../src/execution/dispatcher.ts';
import { begin, cancel, ended } from '../support/api-steps.ts';
import { MovingClock } from '../support/clocks.ts';
import { Puppet } from '../support/puppet-harness.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { startServer } from '../support/server.ts';

test('a server executes one run at a time that may be the one that ends servers (D-90)', async () => {
  const env = { CONVOKE_RUN_CONCURRENCY: '1', CONVOKE_LEASE_SECONDS: '300' };
  const { server, puppet } = await startPuppetServer({ env });
  const blocker = await begin(server, 'puppet');
  await puppet.leg();
  const waiting = [await begin(server, 'puppet'), await begin(server, 'puppet')];
  const { store, settings } = server.convoke.services;
  const suspects = await store.transaction(async (tx) => {
    const runs = await Promise.all(waiting.map(({ run }) => tx.runs.lock(runId(run.id))));
    const found = runs.flatMap((run) => (run?.status === 'queued' ? [run] : []));
    for (const run of found) tx.runs.save({ ...run, losses: 2, lossesTotal: 2 }, run);
    return found;
  });
  expect(suspects).toHaveLength(2);
  const services = { ...server.convoke.services, settings: { ...settings, runConcurrency: 10 } };
  const options = {
    owner: randomUUID(),
    machine: 'machine',
    holdsLeases: () => true,
    onFree: () => {},
  };
  const worker = new Dispatcher(services, options);
  worker.slots.accept();
  await worker.dispatchRuns();
  const leg = await puppet.leg();
  expect(worker.slots.load.legs).toBe(1);
  leg.end();
  const [first] = waiting.filter(({ run }) => run.id === leg.context.runId);
  await ended(server, first?.run ?? blocker.run);
  await worker.dispatchRuns();
  (await puppet.leg()).end();
  for (const { run } of waiting) expect((await ended(server, run)).status).toBe('completed');
  await worker.slots.drain(60_000);
  await cancel(server, blocker.run);
});

test('the time limit is for the run: what an earlier leg took is gone (D-95)', async () => {
  const clock = new MovingClock();
  const puppet = new Puppet();
  const clientTokenSeconds = 36_000;
  const agents = { puppet: puppet.agent({ limits: { run_seconds: 6_000 } }) };
  let server = await startServer({ clock, harnesses: [puppet], agents, clientTokenSeconds });
  const { run } = await begin(server, 'puppet');
  for (let drain = 0; drain < 2; drain += 1) {
    const leg = await puppet.leg();
    leg.isYielding = true;
    clock.advance(2_500_000);
    await server.stop(60_000);
    server = await server.restart();
  }
  await puppet.leg();
  clock.advance(1_000_001);
  expect((await ended(server, run)).error_code).toBe('run_timeout');
});
