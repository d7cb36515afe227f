// What runs wait for moves with a deployment to another database: times, messages, called runs and callback URLs.
import { organizationId, runId, tenantId } from '@convoke/contract';
import { expect, test } from 'vitest';
import { exportDeployment, importDeployment } from '../../src/operate/transfer.ts';
import { begin, ended, logSoFar, readRun } from '../support/api-steps.ts';
import { callbackTokenOf } from '../support/callback-urls.ts';
import { anonymous } from '../support/checked-calls.ts';
import { type DatabaseKind, createLocation } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { Puppet } from '../support/puppet-harness.ts';
import { startServer } from '../support/server.ts';

const moves: readonly [DatabaseKind, DatabaseKind][] = [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
];

test.each(moves)('a tree of called runs that waits on %s continues on %s', async (from, to) => {
  const traits = { replays: true, callsAgents: true };
  const puppet = Object.assign(new Puppet({ afterLoss: 'repeat' }), traits);
  const server = await startServer({
    database: from,
    agents: { planner: puppet.agent({ agents: ['researcher'] }), researcher: puppet.agent() },
    harnesses: [puppet],
  });
  const signal = (name: string) =>
    ({ type: 'wait', ref: `receive ${name}`, kind: 'signal', name }) as const;
  const { run } = await begin(server, 'planner', 'sell the chairs');
  const first = await puppet.leg();
  first.emit(
    { type: 'wait', ref: 'call 1', kind: 'run', name: 'researcher', input: { prompt: 'chairs' } },
    { type: 'wait', ref: 'sleep nap', kind: 'timer', name: 'nap', due: { inMs: 1e9 } },
    signal('paid'),
  );
  first.end('waiting');
  const called = await puppet.leg();
  called.emit(signal('go'));
  called.end('waiting');
  const send = (at: typeof server, id: string, name: string) =>
    at.send('signal_run', { params: { run_id: id }, body: { name, data: `${name}!` } });
  await send(server, run.id, 'early');
  const below = async (at: typeof server) =>
    (await at.send('list_tenant_runs', { query: { ancestor_run_id: run.id } })).body.runs;
  // Both are parked: nothing executes that would be interrupted.
  const { organization_id, tenant_id } = server.quickstart;
  const scope = { organizationId: organizationId(organization_id), tenantId: tenantId(tenant_id) };
  const { runs } = server.convoke.services.store.read;
  for (const { id } of [run, ...(await below(server))]) {
    await eventually(async () => {
      const read = await runs.findById(scope, runId(id));
      return read !== undefined && read.lease === null && read.openWaits > 0;
    });
  }
  const before = await below(server);
  const shown = await readRun(server, run);
  expect(shown.waiting_on?.map(({ kind }) => kind).toSorted()).toEqual(['run', 'signal', 'timer']);
  const log = await logSoFar(server, run);
  const token = callbackTokenOf(server, run);

  await server.stop();
  const location = await createLocation(to);
  const place =
    to === 'postgres'
      ? { ...server.config, databaseUrl: location }
      : { ...server.config, databaseUrl: undefined };
  await importDeployment(place, exportDeployment(server.config));
  const moved = await server.restart({
    env: { CONVOKE_DATABASE_URL: to === 'postgres' ? location : '' },
  });

  expect((await readRun(moved, run)).waiting_on).toEqual(shown.waiting_on);
  expect(await logSoFar(moved, run)).toEqual(log);
  expect(await below(moved)).toEqual(before);
  const [child] = before;
  expect((await send(moved, child?.id ?? '', 'go')).body.status).toBe('received');
  const awake = await puppet.leg();
  awake.say('Oak.');
  awake.end();
  const next = await puppet.leg();
  const { input } = next;
  expect('waits' in input && input.waits?.get('call 1')).toMatchObject({
    result: { outcome: 'completed' },
    called: { id: child?.id, text: 'Oak.' },
  });
  next.emit(signal('early'));
  next.end('waiting');
  const early = await puppet.leg();
  expect('waits' in early.input && early.input.waits?.get('receive early')).toMatchObject({
    result: { outcome: 'received', data: 'early!' },
  });
  early.end('waiting');
  const told = await moved.call('POST', `/v1/callbacks/${token}`, {
    as: anonymous,
    headers: { 'content-type': 'application/json' },
    body: '20',
  });
  expect(told.status).toBe(202);
  const last = await puppet.leg();
  expect('waits' in last.input && last.input.waits?.get('receive paid')).toMatchObject({
    result: { outcome: 'received', data: 20 },
  });
  last.end();
  expect(await ended(moved, run)).toMatchObject({ status: 'completed' });
  await moved.stop();
});
