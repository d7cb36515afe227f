import { errors, operations, organizationId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../src/app/audit.ts';
import { signOutEverywhere } from '../../src/app/people/passwords.ts';
import { Refusal, orRefuse } from '../../src/app/refusal.ts';
import { Challenge } from '../../src/auth/tokens/challenge.ts';
import { createGate } from '../../src/auth/gate.ts';
import { type Client, changeClient } from '../../src/domain/client.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import type { Membership } from '../../src/ports/repositories/identity/organizations.ts';
import type { StoreTransaction } from '../../src/ports/store.ts';
import { databaseKinds } from '../support/databases.ts';
import { type IdentityFixture, by, createIdentityFixture } from '../support/identity-fixture.ts';

const { create_session: operation, whoami } = operations;

function request(...pairs: readonly [string, string][]) {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    // Node keeps the first Authorization and joins the rest.
    if (!(key in headers)) headers[key] = value;
    else if (key !== 'authorization') headers[key] += `, ${value}`;
  }
  return { headers, rawHeaders: pairs.flat() };
}

/** Of a caller whose streams continue. */
const standing = { hasAccess: true, revokedAt: undefined };

async function answer(admission: Promise<unknown>): Promise<string> {
  try {
    await admission;
    return 'admitted';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return `${errors[error.code].status} ${error.code}`;
  }
}

function challengeOf(refusal: Refusal): string | undefined {
  return refusal instanceof Challenge ? refusal.challenge : undefined;
}

async function refusalOf(admission: Promise<unknown>): Promise<Refusal> {
  const error = await admission.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Refusal);
  return error as Refusal;
}

describe.each(databaseKinds)('the gate on %s', (kind) => {
  let world: IdentityFixture;
  let tenant: Tenant;
  let sibling: Tenant;
  let foreign: Tenant;
  let broken: Tenant;
  let leaving: Tenant;
  let client: Client;
  let bearer: [string, string];
  let ownerBearer: [string, string];

  beforeAll(async () => {
    world = await createIdentityFixture(kind);
    const home = await world.seed.organization();
    const away = await world.seed.organization();
    tenant = await world.seed.tenant(home);
    sibling = await world.seed.tenant(home);
    foreign = await world.seed.tenant(away);
    broken = await world.seed.tenant(home, 'failed');
    leaving = await world.seed.tenant(home, 'offboarding');
    client = (await world.seed.client(home)).record;
    bearer = await bearerOf(client);
    const owner = await world.seed.person(home, 'owner');
    ownerBearer = ['Authorization', `Bearer ${(await world.tokens.issueForPerson(owner)).token}`];
  });

  async function bearerOf(of: Client): Promise<[string, string]> {
    const { token } = await world.tokens.issueForClient(of, of.scopes);
    return ['Authorization', `Bearer ${token}`];
  }
  const organization = (id: string = tenant.organizationId): [string, string] => [
    'X-Organization-ID',
    id,
  ];
  const workspace = (id: string = tenant.id): [string, string] => ['X-Workspace-Tenant-ID', id];
  const plain = (id: string = tenant.id): [string, string] => ['X-Tenant-ID', id];
  const garbage: [string, string] = ['Authorization', 'Bearer e30.e30.e30'];

  test('answers in the order 401, 400, 403 (D-52)', async () => {
    const tokens = { none: [], garbage: [garbage], human: [ownerBearer], machine: [bearer] };
    const selectors = {
      none: [],
      'organization only': [organization()],
      'tenant only': [workspace()],
      'tenant twice': [organization(), workspace(), workspace()],
      'organization twice': [organization(), organization(), workspace()],
      'both tenant headers': [organization(), workspace(), plain()],
      'no id': [organization('a b'), workspace()],
      empty: [organization(''), workspace()],
      'unknown organization': [organization('org_unknown'), workspace()],
      'foreign tenant': [organization(), workspace(foreign.id)],
      'foreign projection': [organization(foreign.organizationId), workspace(foreign.id)],
      'failed tenant': [organization(), workspace(broken.id)],
      'tenant being offboarded': [organization(), workspace(leaving.id)],
      right: [organization(), workspace()],
      'right, other header': [organization(), plain()],
      sibling: [organization(), workspace(sibling.id)],
    };
    const grid: Record<string, string[]> = {};
    for (const [name, sent] of Object.entries(selectors)) {
      grid[name] = [];
      for (const token of Object.values(tokens)) {
        const sending = request(...token, ...sent);
        grid[name].push(await answer(world.gate.admitApplication(operation, sending)));
      }
    }
    const [missing, invalid] = ['400 missing_selector', '400 invalid_selector'];
    const [anonymous, forbidden] = ['401 unauthorized', '403 forbidden'];
    expect(grid).toEqual({
      none: [anonymous, anonymous, missing, missing],
      'organization only': [anonymous, anonymous, missing, missing],
      'tenant only': [anonymous, anonymous, missing, missing],
      'tenant twice': [anonymous, anonymous, invalid, invalid],
      'organization twice': [anonymous, anonymous, invalid, invalid],
      'both tenant headers': [anonymous, anonymous, invalid, invalid],
      'no id': [anonymous, anonymous, invalid, invalid],
      empty: [anonymous, anonymous, missing, missing],
      'unknown organization': [anonymous, anonymous, forbidden, forbidden],
      'foreign tenant': [anonymous, anonymous, forbidden, forbidden],
      'foreign projection': [anonymous, anonymous, forbidden, forbidden],
      'failed tenant': [anonymous, anonymous, forbidden, forbidden],
      'tenant being offboarded': [anonymous, anonymous, forbidden, forbidden],
      right: [anonymous, anonymous, forbidden, 'admitted'],
      'right, other header': [anonymous, anonymous, forbidden, 'admitted'],
      sibling: [anonymous, anonymous, forbidden, 'admitted'],
    });
  });

  test('all denials of access are identical (D-52)', async () => {
    const disabled = (await world.seed.client(tenant.organizationId)).record;
    const disabledBearer = await bearerOf(disabled);
    await world.store.transaction((tx) =>
      tx.clients.save({ ...disabled, status: 'disabled', version: 2 }, disabled),
    );
    const denials = [
      request(bearer, organization('org_unknown'), workspace()),
      request(bearer, organization(), workspace('ten_unknown')),
      request(bearer, organization(), workspace(foreign.id)),
      request(bearer, organization(foreign.organizationId), workspace(foreign.id)),
      request(bearer, organization(), workspace(broken.id)),
      request(bearer, organization(), workspace(leaving.id)),
      request(ownerBearer, organization(), workspace()),
      request(disabledBearer, organization(), workspace()),
    ];
    const seen = new Set<string>();
    for (const denied of denials) {
      const refusal = await refusalOf(world.gate.admitApplication(operation, denied));
      expect(refusal).not.toBeInstanceOf(Challenge);
      const { code, retryAfterSeconds, details, codeOnly } = refusal;
      seen.add(JSON.stringify({ code, retryAfterSeconds, details, codeOnly }));
    }
    expect([...seen]).toEqual([JSON.stringify({ code: 'forbidden', details: {}, codeOnly: true })]);
  });

  test('a 401 names invalid_token only when a token was sent (RFC 6750)', async () => {
    const challenge = async (...sent: [string, string][]) =>
      challengeOf(await refusalOf(world.gate.admitApplication(operation, request(...sent))));
    expect(await challenge()).toBe('Bearer realm="convoke"');
    const invalid = 'Bearer realm="convoke", error="invalid_token"';
    expect(await challenge(garbage)).toBe(invalid);
    expect(await challenge(['Authorization', 'Basic eDp5'])).toBe(invalid);
    expect(await challenge(bearer, garbage)).toBe(invalid);
  });

  test('a missing scope is named only to a caller with access to the tenant (D-54)', async () => {
    const observer = (await world.seed.client(tenant.organizationId, ['runs:read'])).record;
    const observerBearer = await bearerOf(observer);
    const inside = request(observerBearer, organization(), workspace());
    const refusal = await refusalOf(world.gate.admitApplication(operation, inside));
    expect(refusal).toMatchObject({ code: 'insufficient_scope', codeOnly: true });
    expect(challengeOf(refusal)).toContain('scope="sessions:write"');
    const outside = request(observerBearer, organization(), workspace(foreign.id));
    expect(await answer(world.gate.admitApplication(operation, outside))).toBe('403 forbidden');
  });

  test('a token grants only its own scopes, and only those its client still has (D-51)', async () => {
    const { record } = await world.seed.client(tenant.organizationId);
    const narrow = await world.tokens.issueForClient(record, ['runs:read', 'agents:deploy']);
    const narrowBearer: [string, string] = ['Authorization', `Bearer ${narrow.token}`];
    const sending = request(narrowBearer, organization(), workspace());
    const caller = await world.gate.admitApplication(whoami, sending);
    expect([...caller.scopes]).toEqual(['runs:read']);
    expect(await answer(world.gate.admitApplication(operation, sending))).toBe(
      '403 insufficient_scope',
    );
  });

  test('an admitted automation client gets its identity and scopes', async () => {
    const sending = request(bearer, organization(), plain(sibling.id));
    expect(await world.gate.admitApplication(operation, sending)).toMatchObject({
      kind: 'application',
      actor: { kind: 'client', id: client.id },
      identity: {
        kind: 'client',
        client: { id: client.id, oauthClientId: client.oauthClientId, scopes: client.scopes },
      },
      tenant: { id: sibling.id, status: 'active' },
      scope: { organizationId: client.organizationId, tenantId: sibling.id },
      required: ['sessions:write'],
      tokenExpiresAt: world.clock.now() + 600_000,
      subject: client.id,
    });
  });

  describe('a revocation takes effect on the next request and on an open stream (spec §5.7, D-33)', () => {
    const withdrawals: Record<string, (of: Client, where: Tenant) => Promise<unknown>> = {
      'client disabled': (of) =>
        world.store.transaction((tx) =>
          tx.clients.save({ ...of, status: 'disabled', version: 2 }, of),
        ),
      'client deleted': (of) =>
        world.store.transaction((tx) => tx.clients.save({ ...of, deletedAt: 1 }, of)),
      'scope removed': (of) =>
        world.store.transaction((tx) =>
          tx.clients.save({ ...of, profile: 'custom', scopes: ['runs:read'], version: 2 }, of),
        ),
      'tenant offboarded': (_, where) =>
        world.store.transaction((tx) =>
          tx.tenants.save({ ...where, status: 'offboarding', attachmentState: 'detached' }, where),
        ),
    };

    test.each(Object.keys(withdrawals))('%s', async (name) => {
      const where = await world.seed.tenant(client.organizationId);
      const { record } = await world.seed.client(client.organizationId);
      const sending = request(await bearerOf(record), organization(), workspace(where.id));
      const caller = await world.gate.admitApplication(operation, sending);
      expect(await world.gate.recheck(caller)).toEqual(standing);
      await withdrawals[name]?.(record, where);
      expect(await answer(world.gate.admitApplication(operation, sending))).toMatch(/^403 /);
      expect((await world.gate.recheck(caller)).hasAccess).toBe(false);
    });
  });

  test('a stream ends when the credential that obtained its token is revoked; requests are admitted', async () => {
    const { record, credentialId } = await world.seed.client(client.organizationId);
    const { token } = await world.tokens.issueForClient(record, record.scopes, credentialId);
    const sending = request(['Authorization', `Bearer ${token}`], organization(), workspace());
    const caller = await world.gate.admitApplication(operation, sending);
    expect(await world.gate.recheck(caller)).toEqual(standing);
    const { store, clock } = world;
    await store.transaction((tx) => tx.credentials.revoke(credentialId, clock.now()));
    expect(await world.gate.recheck(caller)).toEqual({ ...standing, revokedAt: clock.now() });
    expect(await answer(world.gate.admitApplication(operation, sending))).toBe('admitted');
  });

  test('enabling a disabled client does not revive its tokens', async () => {
    const { record } = await world.seed.client(client.organizationId);
    const sent = [organization(), workspace()] as const;
    const old = await bearerOf(record);
    const caller = await world.gate.admitApplication(operation, request(old, ...sent));
    world.clock.advance(1);
    const disabled = orRefuse(
      changeClient(record, { version: 1, status: 'disabled' }, world.clock.now()),
    );
    await world.store.transaction((tx) => tx.clients.save(disabled, record));
    const enabled = orRefuse(
      changeClient(disabled, { version: 2, status: 'active' }, world.clock.now()),
    );
    await world.store.transaction((tx) => tx.clients.save(enabled, disabled));
    const again = world.gate.admitApplication(operation, request(old, ...sent));
    expect(await answer(again)).toBe('401 unauthorized');
    expect(await answer(world.gate.admitAny(request(old)))).toBe('401 unauthorized');
    expect((await world.gate.recheck(caller)).hasAccess).toBe(false);
    const fresh = await bearerOf(enabled);
    const admitted = world.gate.admitApplication(operation, request(fresh, ...sent));
    expect(await answer(admitted)).toBe('admitted');
  });

  test('X-Tenant-ID is ignored where the deployment accepts X-Workspace-Tenant-ID only (D-52)', async () => {
    const strict = createGate({
      ...world,
      tenantHeader: 'workspace',
      baseUrl: 'https://convoke.example',
    });
    const alone = request(bearer, organization(), plain());
    expect(await answer(strict.admitApplication(operation, alone))).toBe('400 missing_selector');
    const right = request(bearer, organization(), workspace());
    expect(await answer(strict.admitApplication(operation, right))).toBe('admitted');
  });

  describe('the management API', () => {
    const roles = [
      ['owner', 'admitted'],
      ['admin', 'admitted'],
      ['member', '403 forbidden'],
    ] as const;
    test.each(roles)('answers %s with %s', async (role, expected) => {
      const person = await world.seed.person(client.organizationId, role);
      const { token } = await world.tokens.issueForPerson(person);
      const sending = request(['Authorization', `Bearer ${token}`]);
      expect(await answer(world.gate.admitHuman(sending, client.organizationId))).toBe(expected);
      const elsewhere = world.gate.admitHuman(sending, foreign.organizationId);
      expect(await answer(elsewhere)).toBe('403 forbidden');
      const nowhere = world.gate.admitHuman(sending, organizationId('org_unknown'));
      expect(await answer(nowhere)).toBe('403 forbidden');
      const noId = world.gate.admitHuman(sending, organizationId('\u0000'));
      expect(await answer(noId)).toBe('403 forbidden');
    });

    const changes = {
      'is demoted': (tx: StoreTransaction, seen: Membership) =>
        tx.organizations.saveRole({ ...seen, role: 'member' }),
      'is removed': (tx: StoreTransaction, seen: Membership) =>
        tx.organizations.deleteMembership(seen),
    };
    test.each(Object.entries(changes))(
      'refuses a person who %s from the next request on, whatever their token',
      async (_, change) => {
        const of = client.organizationId;
        const person = await world.seed.person(of, 'admin');
        const { token } = await world.tokens.issueForPerson(person);
        const sending = request(['Authorization', `Bearer ${token}`]);
        expect(await answer(world.gate.admitHuman(sending, of))).toBe('admitted');
        await world.store.transaction(async (tx) => {
          const seen = await tx.organizations.membership(of, person);
          if (seen !== undefined) await change(tx, seen);
        });
        expect(await answer(world.gate.admitHuman(sending, of))).toBe('403 forbidden');
      },
    );

    test('refuses the tokens of a person who was signed out after they were issued', async () => {
      const person = await world.seed.person(client.organizationId, 'owner');
      const bearerNow = async (): Promise<[string, string]> => {
        const { token } = await world.tokens.issueForPerson(person);
        return ['Authorization', `Bearer ${token}`];
      };
      const old = request(await bearerNow());
      expect(await answer(world.gate.admitHuman(old, client.organizationId))).toBe('admitted');
      world.clock.advance(1);
      await signOutEverywhere(world, { userId: person, by });
      const fresh = request(await bearerNow());
      for (const [sending, expected] of [
        [old, '401 unauthorized'],
        [fresh, 'admitted'],
      ] as const) {
        const managing = world.gate.admitHuman(sending, client.organizationId);
        expect(await answer(managing)).toBe(expected);
        expect(await answer(world.gate.admitAny(sending))).toBe(expected);
      }
      const [row] = await listAudit(world, { chain: client.organizationId, limit: 1 });
      expect(row).toMatchObject({ action: 'member.sign_out', object: person });
    });

    test('refuses an automation client, and a caller without a token', async () => {
      const machine = await refusalOf(
        world.gate.admitHuman(request(bearer), client.organizationId),
      );
      expect(machine).toMatchObject({ code: 'forbidden', codeOnly: true });
      const anonymous = world.gate.admitHuman(request(), client.organizationId);
      expect(await answer(anonymous)).toBe('401 unauthorized');
    });
  });

  test('workspace discovery accepts clients and people, without selectors (D-55)', async () => {
    expect(await world.gate.admitAny(request(bearer))).toMatchObject({
      kind: 'automation',
      reach: { organizationIds: [client.organizationId], tenantIds: client.tenantIds },
    });
    expect(await world.gate.admitAny(request(ownerBearer))).toMatchObject({
      kind: 'human',
      reach: { organizationIds: [client.organizationId], tenantIds: null },
    });
    expect(await answer(world.gate.admitAny(request(garbage)))).toBe('401 unauthorized');
  });
});
