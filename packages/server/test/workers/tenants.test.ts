import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runId, sessionId } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { offboardTenant, retryTenant } from '../../src/app/tenants.ts';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import { leaseRun, openRun } from '../../src/domain/run/run.ts';
import { openSession } from '../../src/domain/session.ts';
import { type Tenant, openTenant } from '../../src/domain/tenant.ts';
import { createLocalFanout } from '../../src/fanout/local.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { createFolderProvisioner } from '../../src/session-folders/folder-provisioner.ts';
import { openSessionFolders } from '../../src/session-folders/session-folders.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { forgetTenants } from '../../src/workers/retention/forget-tenants.ts';
import { type OffboardServices, offboardTenants } from '../../src/workers/offboard-tenants.ts';
import { provisionTenants } from '../../src/workers/provision-tenants.ts';
import { databaseKinds } from '../support/databases.ts';
import { type IdentityFixture, by, createIdentityFixture } from '../support/identity-fixture.ts';
import { settings } from '../support/settings.ts';
import { fillTenant, nothing, rowsOf } from './tenant-contents.ts';

const folders: string[] = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-tenants-'));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) removeFolderSync(folder);
});

const silent = { info() {}, warn() {}, error() {} };

describe.each(databaseKinds)('the lifecycle of a tenant on %s', (kind) => {
  let world: IdentityFixture;
  let dataDir: string;
  let services: IdentityFixture & OffboardServices;

  beforeAll(async () => {
    world = await createIdentityFixture(kind);
    dataDir = newFolder();
    services = {
      ...world,
      log: silent,
      fanout: createLocalFanout(),
      metrics: createMetrics(),
      blobs: await openDiskBlobs({ dataDir }),
      sessionFolders: openSessionFolders({ dataDir, log: silent }),
      provisioner: createFolderProvisioner({ dataDir }),
      settings,
    };
  });

  const find = async (tenant: Tenant) =>
    (await world.store.read.tenants.find(tenant.organizationId, tenant.id)) ?? tenant;

  async function newTenant(): Promise<Tenant> {
    const organizationId = await world.seed.organization();
    const id = (await world.seed.tenant(organizationId, 'failed')).id;
    const tenant = openTenant(
      { id, organizationId, displayName: 'Acme', mode: 'saas' },
      world.clock.now(),
    );
    const seeded = (await world.store.read.tenants.find(organizationId, id)) ?? tenant;
    await world.store.transaction((tx) => tx.tenants.save(tenant, seeded));
    return tenant;
  }

  describe('provisioning', () => {
    test('ends active and ready, with folders for files and sessions', async () => {
      const tenant = await newTenant();
      while (await provisionTenants(services));
      expect(await find(tenant)).toMatchObject({ status: 'active', attachmentState: 'ready' });
      expect(readdirSync(join(dataDir, 'workspaces', tenant.id))).toEqual([]);
      expect(existsSync(join(dataDir, 'blobs', tenant.id))).toBe(false);
    });

    test('fails with a reason when the folder cannot be written, and continues after a retry', async () => {
      const blocked = newFolder();
      writeFileSync(join(blocked, 'workspaces'), 'in the way');
      const tenant = await newTenant();
      const broken = { ...services, provisioner: createFolderProvisioner({ dataDir: blocked }) };
      while (await provisionTenants(broken));
      const failed = await find(tenant);
      expect(failed).toMatchObject({ status: 'failed', attachmentState: 'failed' });
      expect(failed.statusReason).toMatch(/folder for sessions cannot be written \(E\w+\)/);
      expect(failed.statusReason).not.toContain(blocked);
      rmSync(join(blocked, 'workspaces'));
      await retryTenant(services, tenant.organizationId, { id: tenant.id, by });
      while (await provisionTenants(broken));
      expect(await find(tenant)).toMatchObject({ status: 'active', statusReason: null });
    });

    test('does not fail the tenant when the database is unavailable; the next pass continues', async () => {
      const tenant = await newTenant();
      const away = {
        ...services,
        store: {
          ...world.store,
          transaction: () => Promise.reject(new StorageUnavailable('away')),
        },
      };
      await expect(provisionTenants(away)).rejects.toThrow('away');
      expect(await find(tenant)).toMatchObject({ status: 'provisioning' });
      while (await provisionTenants(services));
      expect(await find(tenant)).toMatchObject({ status: 'active' });
    });

    test('that an offboarding overtakes does not reactivate the tenant', async () => {
      const tenant = await newTenant();
      const slow = {
        ...services,
        provisioner: {
          ...services.provisioner,
          async makeFolder(id: Tenant['id']) {
            await services.provisioner.makeFolder(id);
            await offboardTenant(world, tenant.organizationId, { id, confirm: id, by });
          },
        },
      };
      while (await provisionTenants(slow));
      expect(await find(tenant)).toMatchObject({ status: 'offboarding' });
      while (await offboardTenants(services));
      expect(existsSync(join(dataDir, 'workspaces', tenant.id))).toBe(false);
    });
  });

  describe('offboarding', () => {
    const fill = (tenant: Tenant, events?: number) => fillTenant(services, tenant, events);
    const leftOf = (tenant: Tenant) => rowsOf(world, tenant);

    function expectNothingLeft(tenant: Tenant, rows: Record<string, number>): void {
      expect(rows).toEqual(nothing);
      expect(existsSync(join(dataDir, 'blobs', tenant.id))).toBe(false);
      expect(existsSync(join(dataDir, 'workspaces', tenant.id))).toBe(false);
    }

    async function newActive(): Promise<Tenant> {
      return world.seed.tenant(await world.seed.organization());
    }
    const leave = (tenant: Tenant) =>
      offboardTenant(world, tenant.organizationId, { id: tenant.id, confirm: tenant.id, by });

    test('deletes everything but the row of the tenant, and touches no other tenant', async () => {
      const [tenant, sibling] = [await newActive(), await newActive()];
      for (const filled of [tenant, sibling]) {
        await fill(filled);
        await fill(filled);
      }
      const onDisk = () =>
        ['blobs', 'workspaces'].map((place) =>
          readdirSync(join(dataDir, place, sibling.id)).sort(),
        );
      const before = { rows: await leftOf(sibling), files: onDisk() };
      await leave(tenant);
      while (await offboardTenants(services));
      expect(await find(tenant)).toMatchObject({
        status: 'offboarded',
        attachmentState: 'detached',
      });
      expectNothingLeft(tenant, await leftOf(tenant));
      expect({ rows: await leftOf(sibling), files: onDisk() }).toEqual(before);
    });

    test('removes the folders of the tenant on every other machine', async () => {
      const [tenant, sibling] = [await newActive(), await newActive()];
      const elsewhere = createFolderProvisioner({ dataDir: newFolder() });
      const forget = () => forgetTenants({ ...world, provisioner: elsewhere });
      await forget();
      for (const { id } of [tenant, sibling]) await elsewhere.makeFolder(id);
      await leave(tenant);
      await forget();
      expect((await elsewhere.tenantsWithFolder()).sort()).toEqual([tenant.id, sibling.id].sort());
      while (await offboardTenants(services));
      await forget();
      expect(await elsewhere.tenantsWithFolder()).toEqual([sibling.id]);
    });

    test('deletes a long log in bounded transactions', async () => {
      const tenant = await newActive();
      await fill(tenant, 1_200);
      await leave(tenant);
      const changes: number[] = [];
      let last = (await leftOf(tenant))['run_events'] ?? 0;
      const watched = {
        ...services,
        store: {
          ...world.store,
          transaction: async (work: Parameters<typeof world.store.transaction>[0]) => {
            const result = await world.store.transaction(work);
            const left = (await leftOf(tenant))['run_events'] ?? 0;
            changes.push(last - left);
            last = left;
            return result;
          },
        },
      } as typeof services;
      while (await offboardTenants(watched));
      expect(last).toBe(0);
      expect(Math.max(...changes)).toBeLessThanOrEqual(500);
      expectNothingLeft(tenant, await leftOf(tenant));
    });

    test('finishes after a crash at any moment', async () => {
      // The process may crash before and after every call of a port.
      let crashes = 0;
      for (let moment = 0; ; moment += 1) {
        const tenant = await newActive();
        await fill(tenant);
        await leave(tenant);
        let calls = 0;
        const crashing = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
          return async (...args: A): Promise<R> => {
            if (calls++ === moment) throw new Error('crash before');
            const result = await call(...args);
            if (calls++ === moment) throw new Error('crash after');
            return result;
          };
        };
        const fragile = {
          ...services,
          store: {
            ...world.store,
            transaction: crashing((work: Parameters<typeof world.store.transaction>[0]) =>
              world.store.transaction(work),
            ),
          } as typeof world.store,
          blobs: {
            ...services.blobs,
            removeAll: crashing((prefix: string) => services.blobs.removeAll(prefix)),
          },
          sessionFolders: {
            ...services.sessionFolders,
            remove: crashing((...at: Parameters<typeof services.sessionFolders.remove>) =>
              services.sessionFolders.remove(...at),
            ),
          },
          provisioner: {
            ...services.provisioner,
            removeFolder: crashing((id: Tenant['id']) => services.provisioner.removeFolder(id)),
          },
        };
        const isCrashed = await passesOf(fragile).then(
          () => false,
          () => true,
        );
        await passesOf(services);
        expect(await find(tenant)).toMatchObject({ status: 'offboarded' });
        expectNothingLeft(tenant, await leftOf(tenant));
        if (!isCrashed) break;
        crashes += 1;
      }
      expect(crashes).toBeGreaterThan(8);
    });

    const passesOf = async (parts: OffboardServices) => {
      while (await offboardTenants(parts));
    };

    test('cancels executing runs and waits for them for a bounded time', async () => {
      const tenant = await newActive();
      const scope = { organizationId: tenant.organizationId, tenantId: tenant.id };
      const now = world.clock.now();
      const id = sessionId(world.ids.next('sess'));
      const run = leaseRun(
        openRun(
          {
            ...scope,
            id: runId(world.ids.next('run')),
            sessionId: id,
            agentName: 'demo',
            clientId: null,
            number: 1,
            input: '{}',
          },
          { isHead: true, now },
        ),
        { owner: 'worker', machine: 'machine-1', expiresAt: now + 15_000, agentDigest: null },
        now,
      );
      const opened = openSession({ id, ...scope, agentName: 'demo', filesSupported: false }, now);
      const session = { ...opened, status: 'running', currentRunId: run.id, runCount: 1 } as const;
      await world.store.transaction(async (tx) => {
        tx.sessions.insert(session);
        await tx.runs.insert(run);
      });
      await leave(tenant);
      await passesOf(services);
      const asked = await world.store.read.runs.find(scope, id, run.id);
      expect(asked?.status).toBe('cancelling');
      expect(await find(tenant)).toMatchObject({ status: 'offboarding', step: 'cancel' });
      world.clock.advance(60_000);
      await passesOf(services);
      expect(await find(tenant)).toMatchObject({ status: 'offboarded' });
      expectNothingLeft(tenant, await leftOf(tenant));
      // The worker that still held the run can no longer write.
      const extension = { runId: run.id, epoch: run.leaseEpoch, count: 1, now };
      const written = await world.store.transaction((tx) => tx.runs.extendLog(extension));
      expect(written).toBeUndefined();
    });
  });
});
