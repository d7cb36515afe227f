import { AsyncLocalStorage } from 'node:async_hooks';
import { escapeLiteral, type PoolClient } from 'pg';

/** What the policies take for the service's own work, which is for every tenant. */
const everyTenant = '*';

/**
 * Whose rows the statements of a piece of work may touch. The policies of the tables compare each row's
 * tenant with the setting `convoke.tenant` of the connection; where that was never made, no row is seen.
 *
 * A connection keeps what it was told last, and here it is remembered, so that a connection is told only
 * when that changes. A transaction is told in the message that begins it, and until its end only: no
 * rollback can leave something else behind than what is remembered.
 */
export class Confinement {
  readonly #tenant = new AsyncLocalStorage<string>();
  readonly #told = new WeakMap<PoolClient, string>();

  run<T>(tenantId: string, work: () => T): T {
    return this.#tenant.run(tenantId, work);
  }

  /** What begins a transaction on this connection. */
  begin(client: PoolClient): string {
    const begin = 'begin isolation level read committed';
    const tenant = this.#current();
    if (this.#told.get(client) === tenant) return begin;
    return `${begin}; set local convoke.tenant = ${escapeLiteral(tenant)}`;
  }

  /** Makes the connection ready for a single statement. */
  async tell(client: PoolClient): Promise<void> {
    const tenant = this.#current();
    if (this.#told.get(client) === tenant) return;
    await client.query({
      name: 'convoke_tenant',
      text: `select set_config('convoke.tenant', $1, false)`,
      values: [tenant],
    });
    this.#told.set(client, tenant);
  }

  #current(): string {
    return this.#tenant.getStore() ?? everyTenant;
  }
}
