import { type AccountServices, currentAccount } from '../../src/app/connections/current-account.ts';
import { putConnection } from '../../src/app/connections/connections.ts';
import { type RefreshAnswer, aheadOfRequestMs } from '../../src/domain/connections/refresh.ts';
import type { TokenEndpoints } from '../../src/ports/connections/token-endpoints.ts';
import { sql } from '../../src/store/sql.ts';
import { by } from '../support/identity-fixture.ts';
import type { RunFixture } from '../support/run-fixture.ts';

/**
 * A provider that accepts each refresh token once, and ends the account when one is sent again, as rotating ones do.
 */
class Provider implements TokenEndpoints {
  readonly sent: string[] = [];
  answer: 'usual' | RefreshAnswer = 'usual';
  /** Called while a request is under way. */
  during: () => Promise<void> = async () => {};
  #current = 'refresh-token-0';

  async problemOf() {
    return undefined;
  }

  async refresh({ refreshToken }: { readonly refreshToken: string }): Promise<RefreshAnswer> {
    this.sent.push(refreshToken);
    await this.during();
    if (this.answer !== 'usual') return this.answer;
    if (refreshToken !== this.#current) return { kind: 'refused' };
    const number = this.sent.length;
    this.#current = `refresh-token-${number}`;
    const accessToken = `access-token-${number}`;
    const token = { accessToken, refreshToken: this.#current, expiresInSeconds: 3600 };
    return { kind: 'refreshed', token };
  }

  async redeem(): Promise<RefreshAnswer> {
    return { kind: 'unavailable' };
  }

  get reused(): boolean {
    return new Set(this.sent).size < this.sent.length;
  }
}

/** The process ends here: what it was about to do never happens. */
export class Death extends Error {}

export const moments = [
  'before the claim',
  'after the claim',
  'before the request',
  'after the request',
  'before the answer is stored',
  'after the answer is stored',
] as const;
export type Moment = (typeof moments)[number];

export const at = { service: 'github', endUser: 'u-17' };

/** A tenant with one account whose token ends in half a minute, and what its provider sees. */
export async function setUp(world: RunFixture) {
  const { id: tenantId } = await world.seed.tenant(world.scope.organizationId);
  const scope = { ...world.scope, tenantId };
  const provider = new Provider();
  const services = { ...world, tokenEndpoints: provider };
  const put = (accessToken: string, refreshToken = 'refresh-token-0', endsInMs = 30_000) =>
    putConnection(services, scope, {
      at,
      account: {
        auth: {
          type: 'oauth',
          tokenEndpoint: 'https://provider.test/token',
          clientId: 'client',
          refreshes: true,
        },
        secret: { value: accessToken, refreshToken },
        expiresAt: world.clock.now() + endsInMs,
      },
      createdBy: { kind: 'client', id: 'cli_1' },
      by,
    });
  await put('access-token-0');
  const wanted = { scope, at, aheadMs: aheadOfRequestMs };
  const account = (own: AccountServices = services) => currentAccount(own, wanted);
  const row = async () => {
    const found = await world.store.read.connections.find(scope, at);
    if (found === undefined) throw new Error('the connection is gone');
    return found;
  };
  const notices = async () =>
    (
      await world.database.all<{ body: string }>(sql`
        select body from outbox where tenant_id = ${tenantId}
        union all select body from notices where tenant_id = ${tenantId}`)
    ).filter(({ body }) => body.includes('connection_expired')).length;
  return { scope, provider, services, put, wanted, account, row, notices };
}

/** The same services in a process that dies at a moment of its refresh. */
export function mortal(services: AccountServices, moment: Moment): AccountServices {
  let transactions = 0;
  const { store, tokenEndpoints } = services;
  const die = (now: Moment) => {
    if (now === moment) throw new Death(now);
  };
  return {
    ...services,
    store: {
      ...store,
      read: store.read,
      async transaction(work) {
        transactions += 1;
        const isClaim = transactions === 1;
        die(isClaim ? 'before the claim' : 'before the answer is stored');
        const result = await store.transaction(work);
        die(isClaim ? 'after the claim' : 'after the answer is stored');
        return result;
      },
    },
    tokenEndpoints: {
      problemOf: (endpoint) => tokenEndpoints.problemOf(endpoint),
      redeem: (request) => tokenEndpoints.redeem(request),
      async refresh(request) {
        die('before the request');
        const answer = await tokenEndpoints.refresh(request);
        die('after the request');
        return answer;
      },
    },
  };
}
