import type { BudgetRecord } from '../generated/records.ts';
import type { PageQuery, SetBudget } from '../generated/requests.ts';
import { type IdempotentOptions, idempotencyHeader, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The budgets of the organization. Costs are in millionths of the currency. */
export class Budgets {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  /** Lists the budgets, newest first, with what was used in the current period. */
  list(query: PageQuery & CallOptions = {}): Listing<BudgetRecord> {
    return new Listing(this.#transport, { path: this.#path, key: 'budgets' }, query);
  }

  get(id: string, { signal }: CallOptions = {}): Promise<BudgetRecord> {
    return this.#transport.json({ method: 'GET', path: this.#at(id), signal });
  }

  /**
   * Sets the budget of a scope and period: a new one, or with the `version` that you read, other ceilings.
   *
   * @example
   * await admin.budgets.set({
   *   scope: { kind: 'tenant', id: tenantId },
   *   period: 'day',
   *   max_cost: 5_000_000,
   * });
   */
  set(budget: SetBudget, options: IdempotentOptions = {}): Promise<BudgetRecord> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'PUT',
      path: this.#path,
      headers: idempotencyHeader(idempotencyKey),
      json: budget,
      repeatable: 'always',
      signal,
    });
  }

  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: this.#at(id), signal });
  }

  #at(id: string): string {
    return `${this.#path}${at`/${id}`}`;
  }
}
