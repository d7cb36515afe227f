import { type JsonObject, limits, runId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { at, begin, cancel, ended, readRun } from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { addClient, addTenant } from '../support/identities.ts';
import type { Puppet } from '../support/puppet-harness.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { type TestServer, deployments } from '../support/server.ts';

describe.each(deployments)('messages to a run on %s (D-856)', (database) => {
  let server: TestServer;
  let puppet: Puppet;
  beforeAll(async () => {
    ({ server, puppet } = await startPuppetServer({ database }));
    Object.assign(puppet, { replays: true });
  });

  const send = (run: { id: string }, body: JsonObject) =>
    server.send('signal_run', { params: { run_id: run.id }, body });
  const refused = async (run: { id: string }, body: JsonObject) => {
    const { status, error } = await server.refused('signal_run', {
      params: { run_id: run.id },
      body,
    });
    return [status, error];
  };

  /** The next leg of this run: other runs of the file may have started some. */
  const legOf = async (run: { id: string }) => {
    for (;;) {
      const leg = await puppet.leg();
      if (leg.context.runId === run.id) return leg;
    }
  };

  test('show in the list of the tenant that a run waits for one, while no leg works (D-972)', async () => {
    const { run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    const listed = async () => {
      const { runs } = (await server.send('list_tenant_runs', {})).body;
      return runs.find(({ id }) => id === run.id)?.open_waits;
    };
    leg.emit({ type: 'wait', ref: 'receive', kind: 'signal', name: 'paid' });
    await eventually(async () => (await readRun(server, run)).open_waits === 1);
    expect(await listed()).toBeUndefined();
    leg.end('waiting');
    expect(await eventually(listed)).toBe(1);
    await send(run, { name: 'paid' });
    await puppet.leg();
    expect(await listed()).toBeUndefined();
    await cancel(server, run);
    await ended(server, run);
  });

  test('are kept until the run waits for them; a repetition is 200, another body 409', async () => {
    const { run } = await begin(server, 'puppet');
    const paid = { name: 'paid', data: { amount: 20 }, idempotency_key: 'evt_881' };
    const sent = await send(run, paid);
    expect([sent.status, sent.body]).toEqual([
      202,
      { run_id: run.id, name: 'paid', status: 'kept' },
    ]);
    const again = await send(run, paid);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(again.body).toEqual(sent.body);
    expect(await refused(run, { ...paid, data: { amount: 21 } })).toEqual([
      409,
      'idempotency_conflict',
    ]);
    expect((await refused(run, { name: 'has paid' }))[0]).toBe(400);
    await cancel(server, run);
    await ended(server, run);
    expect(await refused(run, { name: 'paid' })).toEqual([409, 'run_terminal']);
  });

  test('are bounded for each run, but for one that the run waits for', async () => {
    const { run } = await begin(server, 'puppet');
    for (let sent = 0; sent < limits.signalsKeptPerRun; sent += 1) {
      expect((await send(run, { name: 'more' })).status).toBe(202);
    }
    expect(await refused(run, { name: 'more' })).toEqual([409, 'signal_limit_reached']);
    expect((await server.send('get_run', { params: at(run) })).body.open_waits).toBeUndefined();
    const leg = await legOf(run);
    leg.emit({ type: 'wait', ref: 'receive', kind: 'signal', name: 'paid' });
    leg.end('waiting');
    await eventually(async () => (await readRun(server, run)).open_waits === 1);
    const { body } = await send(run, { name: 'paid' });
    expect(body.status).toBe('received');
    await legOf(run);
    await cancel(server, run);
  });

  test('are bounded together, because each leg gets all of them (D-1011)', async () => {
    const { run } = await begin(server, 'puppet');
    const message = { name: 'more', data: 'x'.repeat(limits.signalBodyMaxBytes - 100) };
    const most = Math.floor((4 * 1024 * 1024) / (message.data.length + 2));
    for (let sent = 0; sent < most; sent += 1) {
      expect((await send(run, message)).status).toBe(202);
    }
    expect(await refused(run, message)).toEqual([409, 'signal_limit_reached']);
    expect((await send(run, { name: 'more' })).status).toBe(202);
    await cancel(server, run);
  });

  test('of a run that does not exist, or of another tenant, is 404 and reaches nobody', async () => {
    expect(await refused({ id: 'run_unknown' }, { name: 'paid' })).toEqual([404, 'not_found']);
    const { run } = await begin(server, 'puppet');
    const as = (await addClient(server)).in(await addTenant(server, 'Elsewhere'));
    const call = { as, params: { run_id: run.id }, body: { name: 'paid' } };
    const { status, error } = await server.refused('signal_run', call);
    expect([status, error]).toEqual([404, 'not_found']);
    const { kept } = await server.convoke.services.store.read.waits.messages(runId(run.id));
    expect(kept).toBe(0);
    await cancel(server, run);
  });
});
