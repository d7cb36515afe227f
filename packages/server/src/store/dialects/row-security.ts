import { AsyncLocalStorage } from 'node:async_hooks';
import type { PoolClient } from 'pg';
import type { WireQuery } from './postgres-batch.ts';

/** Setting value with which the policies show the rows of every tenant: the service's own work. */
const everyTenant = '*';

/**
 * The tenant scope of PostgreSQL's row-level security. The policies of the tables compare each row's tenant with the
 * setting `convoke.tenant` of the connection; while that is not set, no row is visible.
 *
 * This class remembers the last value set on each connection and sends it again only when it changes, in one message
 * with the statement that needs it. A transaction sets it for itself only, so that a rollback cannot change the
 * remembered value.
 */
export class RowSecurity {
  readonly #tenant = new AsyncLocalStorage<string>();
  readonly #tenantOf = new WeakMap<PoolClient, string>();

  run<T>(tenantId: string, work: () => T): T {
    return this.#tenant.run(tenantId, work);
  }

  /** The statements that begin a transaction on this connection. */
  begin(client: PoolClient): WireQuery[] {
    const begin = {
      name: 'convoke_begin',
      text: 'begin isolation level read committed',
      values: [],
    };
    const tenant = this.#current();
    if (this.#tenantOf.get(client) === tenant) return [begin];
    const text = `select set_config('convoke.tenant', $1, true)`;
    return [begin, { name: 'convoke_local_tenant', text, values: [tenant] }];
  }

  /** The statements to send before one outside a transaction. Call `isSet` once they have succeeded with it. */
  before(client: PoolClient): {
    readonly queries: readonly WireQuery[];
    readonly isSet: () => void;
  } {
    const tenant = this.#current();
    if (this.#tenantOf.get(client) === tenant) return { queries: [], isSet: () => {} };
    const text = `select set_config('convoke.tenant', $1, false)`;
    return {
      queries: [{ name: 'convoke_tenant', text, values: [tenant] }],
      isSet: () => {
        this.#tenantOf.set(client, tenant);
      },
    };
  }

  #current(): string {
    return this.#tenant.getStore() ?? everyTenant;
  }
}
