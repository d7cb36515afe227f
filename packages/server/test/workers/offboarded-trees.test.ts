import { expect, test } from 'vitest';
import { sendSignal } from '../../src/app/runs/signals.ts';
import { offboardTenant } from '../../src/app/tenants.ts';
import { sql } from '../../src/store/sql.ts';
import { cancelCalledRuns } from '../../src/workers/cancel-called-runs.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { offboardTenants } from '../../src/workers/offboard-tenants.ts';
import { settleWaits } from '../../src/workers/settle-waits.ts';
import { completed, createCallingWorld, only, parked, research } from '../support/calling-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { hour } from '../support/run-fixture.ts';
import { withDisk } from '../support/with-disk.ts';

test.each(databaseKinds)(
  'offboarding a tenant ends its trees of called runs, and leaves none of their waits, on %s (D-67)',
  async (kind) => {
    const of = await createCallingWorld(kind);
    const { world } = of;
    const due = { inMs: hour };
    const { run, leg } = await of.begun();
    const nap = { type: 'wait', ref: 'sleep nap', kind: 'timer', name: 'nap', due } as const;
    const receive = { ...nap, ref: 'receive paid', kind: 'signal', name: 'paid' } as const;
    await world.record(leg, { items: [research, nap, receive], end: parked });
    const client = { kind: 'client', id: of.client, requestId: 'req_1', address: null } as const;
    const early = { runId: run.id, name: 'early', data: 1, by: client, idempotencyKey: undefined };
    await sendSignal(world, world.scope, { ...early, chargeRate: () => {} });
    const child = only(await of.calledBy(run));
    // It executes; what it has called waits in the queue.
    const executing = await world.claimed(child);
    await world.record(executing, { items: [{ ...research, name: 'critic' }] });
    const grandchild = only(await of.calledBy(child));

    const services = await withDisk(world);
    const { organizationId, tenantId: id } = world.scope;
    await offboardTenant(world, organizationId, { id, confirm: id, by });
    const round = async () => {
      await Promise.all([
        offboardTenants(services),
        cancelCalledRuns(world),
        endParkedCancellations(world),
        settleWaits(world),
      ]);
    };
    for (let times = 0; times < 4; times += 1) await round();
    expect(await world.read(run)).toMatchObject({ status: 'cancelled', openWaits: 0 });
    expect(await world.read(child)).toMatchObject({ status: 'cancelling' });
    expect(await world.read(grandchild)).toMatchObject({ status: 'cancelled' });
    await world.record(executing, { end: completed('too late') });
    for (let times = 0; times < 12; times += 1) await round();

    const tenant = await world.store.read.tenants.find(organizationId, id);
    expect(tenant?.status).toBe('offboarded');
    const left = await world.database.get<{ waits: number; runs: number }>(sql`
      select (select count(*) from waits) as waits, (select count(*) from runs) as runs`);
    expect(left).toEqual({ waits: 0, runs: 0 });
    world.clock.advance(hour);
    await round();
    expect(world.warnings).toEqual([]);
  },
);
