import { AsyncLocalStorage } from 'node:async_hooks';
import { escapeLiteral, type PoolClient } from 'pg';

/** Setting value with which the policies show the rows of every tenant: the service's own work. */
const everyTenant = '*';

/**
 * The tenant scope of PostgreSQL's row-level security. The policies of the tables compare each row's tenant with the
 * setting `convoke.tenant` of the connection; while that is not set, no row is visible.
 *
 * This class remembers the last value set on each connection and sends it again only when it changes. A transaction
 * sets it with `set local` in the message that begins it, so that a rollback cannot change the remembered value.
 */
export class RowSecurity {
  readonly #tenant = new AsyncLocalStorage<string>();
  readonly #tenantOf = new WeakMap<PoolClient, string>();

  run<T>(tenantId: string, work: () => T): T {
    return this.#tenant.run(tenantId, work);
  }

  /** The statement that begins a transaction on this connection. */
  beginSql(client: PoolClient): string {
    const begin = 'begin isolation level read committed';
    const tenant = this.#current();
    if (this.#tenantOf.get(client) === tenant) return begin;
    return `${begin}; set local convoke.tenant = ${escapeLiteral(tenant)}`;
  }

  /** Sets the tenant on the connection for a statement outside of a transaction. */
  async apply(client: PoolClient): Promise<void> {
    const tenant = this.#current();
    if (this.#tenantOf.get(client) === tenant) return;
    await client.query({
      name: 'convoke_tenant',
      text: `select set_config('convoke.tenant', $1, false)`,
      values: [tenant],
    });
    this.#tenantOf.set(client, tenant);
  }

  #current(): string {
    return this.#tenant.getStore() ?? everyTenant;
  }
}
