import { beforeAll, describe, expect, test } from 'vitest';
import { currentAccount } from '../../src/app/connections/current-account.ts';
import { putConnection } from '../../src/app/connections/connections.ts';
import { invokeAgent } from '../../src/app/runs/start-run.ts';
import { aheadOfRequestMs, claimMs } from '../../src/domain/connections/refresh.ts';
import { sql } from '../../src/store/sql.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture, hour } from '../support/run-fixture.ts';

const declared = (service: string) =>
  ({ service, owner: 'end_user', hasFallback: false, isRequired: true }) as const;

describe.each(databaseKinds)('a start that an ended account refuses on %s (D-940)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind, { connections: [declared('github'), declared('mail')] });
  });

  async function setUp(refreshToken?: string) {
    const { id: tenantId } = await world.seed.tenant(world.scope.organizationId);
    const scope = { ...world.scope, tenantId };
    const put = (service: string, endsInMs: number) =>
      putConnection(world, scope, {
        at: { service, endUser: 'u-17' },
        account: {
          auth: {
            type: 'oauth',
            tokenEndpoint: 'https://provider.test/token',
            clientId: 'client',
            refreshes: refreshToken !== undefined,
          },
          secret: { value: 'access-token-0', refreshToken },
          expiresAt: world.clock.now() + endsInMs,
        },
        createdBy: { kind: 'client', id: 'cli_1' },
        by,
      });
    const start = () =>
      invokeAgent(world, scope, {
        agentName: 'agent',
        endUser: 'u-17',
        input: { prompt: 'hi' },
        clientId: world.clientId,
        idempotencyKey: undefined,
        chargeRate: () => {},
      });
    const reasons = async () => {
      const filter = { endUser: 'u-17' };
      const page = { limit: 10, order: 'asc' } as const;
      const found = await world.store.read.connections.list(scope, filter, page);
      return Object.fromEntries(
        found.map(({ service, status, statusReason }) => [service, statusReason ?? status]),
      );
    };
    const told = async (text: string) => {
      const rows = await world.database.all<{ body: string }>(sql`
        select body from outbox where tenant_id = ${tenantId}
        union all select body from notices where tenant_id = ${tenantId}`);
      return rows.filter(({ body }) => body.includes(text)).length;
    };
    return { scope, put, start, reasons, told };
  }

  test('expires every account that has ended, once, and its list and the feed tell it', async () => {
    const { put, start, reasons, told } = await setUp();
    await put('github', hour);
    await put('mail', hour);
    await start();
    world.clock.advance(hour);
    const refused = { code: 'connection_missing' };
    const starts = await Promise.allSettled([start(), start(), start()]);
    for (const one of starts) expect(one).toMatchObject({ status: 'rejected', reason: refused });
    expect(await reasons()).toEqual({ github: 'no_refresh', mail: 'no_refresh' });
    expect(await told('connection_expired')).toBe(2);
    await put('github', hour);
    await put('mail', hour);
    await start();
  });

  test('expires an account whose refresh has been lost', async () => {
    const { scope, put, start, reasons, told } = await setUp('refresh-token-0');
    await put('github', aheadOfRequestMs / 2);
    await put('mail', hour);
    // The server that refreshes it dies with its request.
    const dying = { ...world, tokenEndpoints: { ...world.tokenEndpoints, refresh: neverAnswered } };
    const at = { service: 'github', endUser: 'u-17' };
    await expect(currentAccount(dying, { scope, at, aheadMs: aheadOfRequestMs })).rejects.toThrow(
      'died',
    );
    world.clock.advance(claimMs + 1);
    await expect(start()).rejects.toMatchObject({ code: 'connection_missing' });
    expect(await reasons()).toEqual({ github: 'refresh_lost', mail: 'connected' });
    expect(await told('connection_expired')).toBe(1);
  });
});

async function neverAnswered(): Promise<never> {
  throw new Error('died');
}
