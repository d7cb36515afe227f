import {
  type Scope,
  type TenantStatus,
  clientId,
  credentialId,
  organizationId,
  scopesOf,
  tenantId,
  userId,
} from '@convoke/contract';
import { builtInCredentials } from '../../src/auth/built-in-credentials.ts';
import { createGate } from '../../src/auth/gate.ts';
import { createHeadSeal } from '../../src/auth/head-seal.ts';
import { openSigningKeys } from '../../src/auth/keys.ts';
import { createSealing } from '../../src/auth/sealing.ts';
import { createSecrets } from '../../src/auth/secrets.ts';
import { createTokens, longestTokenLifetimeMs } from '../../src/auth/tokens/tokens.ts';
import type { Actor } from '../../src/domain/audit.ts';
import type { Client } from '../../src/domain/client.ts';
import type { Allower } from '../../src/domain/rules/approvers.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { createLocalFanout } from '../../src/fanout/local.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Ids } from '../../src/ports/ids.ts';
import type { Role } from '../../src/ports/repositories/identity/organizations.ts';
import type { Secrets } from '../../src/ports/secrets.ts';
import type { Store } from '../../src/ports/store.ts';
import { migrationsFolder } from '../../src/store/database.ts';
import { createStore } from '../../src/store/store.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { noTraces } from '../../src/telemetry/traces.ts';
import { FakeClock } from './clocks.ts';
import { type DatabaseKind, createMigratedLocation, openTestDatabase } from './databases.ts';

const masterKey = Buffer.alloc(32, 7);
export const baseUrl = 'https://convoke.test';

/** An actor for tests in which any person will do. */
export const by: Actor = { kind: 'user', id: 'usr_1', requestId: 'req-1', address: '192.0.2.7' };

/** The same as one who may allow what no rule restricts. */
export const allower: Allower = { kind: 'client', id: by.id };

export type IdentityFixture = Awaited<ReturnType<typeof createIdentityFixture>>;

/** The identity parts of a deployment on a real database, with a fake clock. */
export async function createIdentityFixture(kind: DatabaseKind, place?: string) {
  const location = place ?? (await createMigratedLocation(kind));
  const database = await openTestDatabase(kind, { location, migrations: migrationsFolder(kind) });
  const store = createStore(database, createHeadSeal(masterKey));
  const clock = new FakeClock();
  let made = 0;
  const ids = { next: (prefix: string) => `${prefix}_${String((made += 1)).padStart(6, '0')}` };
  const sealing = createSealing(masterKey);
  const openKeys = () =>
    openSigningKeys({ store, clock, sealing, longestLifetimeMs: longestTokenLifetimeMs });
  const keys = await openKeys();
  const tokens = createTokens({ keys, clock, ids, baseUrl });
  const gate = createGate({ store, tokens, tenantHeader: 'any', baseUrl });
  const secrets = createSecrets(masterKey);
  const core = { kind, location, database, store, clock, ids, keys, openKeys, tokens, gate };
  const silent = { info() {}, warn() {}, error() {} };
  const around = {
    log: silent,
    metrics: createMetrics(),
    traces: noTraces,
    fanout: createLocalFanout(),
    provider: builtInCredentials,
  };
  return { ...core, ...around, secrets, seed: seeds({ store, clock, ids, secrets }) };
}

interface SeedParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: Secrets;
}

function seeds({ store, clock, ids, secrets }: SeedParts) {
  async function organization() {
    const id = organizationId(ids.next('org'));
    await write(store, async (tx) => {
      await tx.organizations.insert({ id, name: `Organization ${id}`, createdAt: clock.now() });
      await tx.audit.open(id);
    });
    return id;
  }

  async function tenant(of: Tenant['organizationId'], status: TenantStatus = 'active') {
    const record: Tenant = {
      id: tenantId(ids.next('ten')),
      organizationId: of,
      displayName: 'Tenant',
      mode: 'saas',
      status,
      attachmentState: status === 'active' ? 'ready' : 'pending',
      statusReason: null,
      step: null,
      createdAt: clock.now(),
      updatedAt: clock.now(),
    };
    await write(store, (tx) => tx.tenants.insert(record));
    return record;
  }

  async function client(of: Client['organizationId'], scopes?: readonly Scope[]) {
    const id = clientId(ids.next('cli'));
    const record: Client = {
      id,
      organizationId: of,
      oauthClientId: `oauth-${id}`,
      name: 'Backend',
      description: null,
      profile: scopes === undefined ? 'invoke' : 'custom',
      scopes: scopes ?? scopesOf('invoke'),
      status: 'active',
      version: 1,
      createdBy: 'usr_seed',
      createdAt: clock.now(),
      updatedAt: clock.now(),
      deletedAt: null,
      tenantIds: null,
      notBefore: 0,
    };
    const credential = credentialId(ids.next('cred'));
    const { secret, hmac, hint } = secrets.issue();
    await write(store, async (tx) => {
      await tx.clients.insert(record);
      await tx.credentials.insert({
        id: credential,
        clientId: id,
        label: 'default',
        secretHmac: hmac,
        secretHint: hint,
        createdAt: clock.now(),
        expiresAt: clock.now() + 90 * 86_400_000,
        revokedAt: null,
        lastUsedAt: null,
      });
    });
    return { record, secret, credentialId: credential };
  }

  async function person(of: Client['organizationId'], role: Role) {
    const id = userId(ids.next('usr'));
    await write(store, async (tx) => {
      await tx.organizations.ensureUser({ id, email: `${id}@test`, createdAt: clock.now() });
      const createdAt = clock.now();
      await tx.organizations.insertMembership({ organizationId: of, userId: id, role, createdAt });
    });
    return id;
  }

  return { organization, tenant, client, person };
}

function write(store: Store, work: Parameters<Store['transaction']>[0]): Promise<unknown> {
  return store.transaction(work);
}
