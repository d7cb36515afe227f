import { randomUUID } from 'node:crypto';
import {
  type ClientRecord,
  type Profile,
  type Scope,
  idPrefixes,
  organizationId,
  userId,
} from '@convoke/contract';
import { createOrganization } from '../../src/app/organizations.ts';
import { openSigningKeys } from '../../src/auth/keys.ts';
import { deriveKey, loadMasterKey } from '../../src/auth/master-key.ts';
import { createSealing } from '../../src/auth/sealing.ts';
import { type Tokens, createTokens, longestTokenLifetimeMs } from '../../src/auth/tokens/tokens.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Role } from '../../src/ports/repositories/identity/organizations.ts';
import type { Identity } from './checked-calls.ts';
import { eventually } from './eventually.ts';
import { type ClientSecret, type TestServer, bearer, requestToken, selecting } from './server.ts';

/** An organization and an owner who may manage it. */
export interface Organization {
  readonly organization_id: string;
  readonly owner: Identity;
}

export function firstOrganization(server: TestServer): Organization {
  return { organization_id: server.quickstart.organization_id, owner: server.owner };
}

/** Another organization with an owner. Only an operator creates one, so there is no call for it. */
export async function addOrganization(server: TestServer, name: string): Promise<Organization> {
  const by = { kind: 'operator', id: 'tests', requestId: null, address: null } as const;
  const { id } = await createOrganization(server.convoke.services, { name, by });
  return { organization_id: id, owner: await addPerson(server, id, 'owner') };
}

/** A person with a role in an organization, and a token for them. */
export async function addPerson(
  server: TestServer,
  organization: string,
  role: Role,
): Promise<Identity> {
  const { store, ids, clock } = server.convoke.services;
  const id = userId(ids.next(idPrefixes.user));
  const createdAt = clock.now();
  await store.transaction(async (tx) => {
    await tx.organizations.ensureUser({ id, email: `${id}@convoke.test`, createdAt });
    await tx.organizations.insertMembership({
      organizationId: organizationId(organization),
      userId: id,
      role,
      createdAt,
    });
  });
  const { token } = await (await tokensOf(server)).issueForPerson(id, 3600);
  return bearer(token);
}

/** A tenant made through the API, once it is usable. */
export async function addTenant(
  server: TestServer,
  display_name = 'Tenant',
  { organization_id, owner }: Organization = firstOrganization(server),
): Promise<string> {
  const { body: made } = await server.send('create_tenant', {
    as: owner,
    params: { organization_id },
    headers: { 'idempotency-key': randomUUID() },
    body: { display_name, mode: 'saas' },
  });
  const params = { organization_id, tenant_id: made.id };
  return eventually(async () => {
    const { body } = await server.send('get_tenant', { as: owner, params });
    return body.status === 'active' && body.attachment_state === 'ready' && body.id;
  });
}

export interface NewClient {
  readonly name?: string;
  readonly profile?: Profile;
  readonly scopes?: readonly Scope[];
  readonly tenant_ids?: readonly string[];
}

export interface TestClient extends ClientSecret {
  readonly record: ClientRecord;
  readonly credentialId: string;
  /** Its token, with the selectors of one tenant of its organization. */
  in(tenantId: string): Identity;
}

/** An automation client made through the API, with a token. */
export async function addClient(
  server: TestServer,
  { name = 'Client', profile = 'invoke', ...rest }: NewClient = {},
  { organization_id, owner }: Organization = firstOrganization(server),
): Promise<TestClient> {
  const { body } = await server.send('create_client', {
    as: owner,
    params: { organization_id },
    headers: { 'idempotency-key': randomUUID() },
    body: { name, profile, ...rest },
  });
  const { client, credential, client_id, client_secret } = body;
  const token = await requestToken(server.baseUrl, { client_id, client_secret });
  return {
    record: client,
    credentialId: credential.id,
    client_id,
    client_secret,
    in: (tenant_id) => selecting({ organization_id, tenant_id }, token),
  };
}

/** A client of another organization, which does nothing wrong. */
export async function addBystander(server: TestServer): Promise<Identity> {
  const other = await addOrganization(server, 'Bystander');
  const tenant = await addTenant(server, 'Bystander', other);
  return (await addClient(server, {}, other)).in(tenant);
}

/**
 * What the server itself issues tokens with, opened a second time: another replica would do the same. A
 * clock of its own makes tokens of another time.
 */
export async function tokensOf(server: TestServer, clock?: Clock): Promise<Tokens> {
  const { store, ids, clock: usual } = server.convoke.services;
  const { baseUrl, cluster } = server.config;
  const masterKey = await loadMasterKey(cluster.masterKeyFile);
  const keys = await openSigningKeys({
    store,
    clock: usual,
    sealing: createSealing(deriveKey(masterKey, 'signing-keys')),
    longestLifetimeMs: longestTokenLifetimeMs,
  });
  return createTokens({ keys, clock: clock ?? usual, ids, baseUrl });
}
