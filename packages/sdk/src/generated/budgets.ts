// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { BudgetRecord } from './records.ts';
import type { SetBudget, PageQuery } from './requests.ts';
import { type IdempotentOptions, idempotencyHeader, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The budgets of the organization. Costs are in millionths of the currency. */
export class Budgets {
  readonly #transport: Transport;
  readonly #organization: string;

  /** `organization` is the path of the organization. */
  constructor(transport: Transport, organization: string) {
    this.#transport = transport;
    this.#organization = organization;
  }

  /** List the budgets of the organization. Lists every budget with its usage in the current period. */
  list(query: PageQuery & CallOptions = {}): Listing<BudgetRecord> {
    return new Listing(
      this.#transport,
      { path: `${this.#organization}/budgets`, key: 'budgets' },
      query,
    );
  }

  /**
   * Set the budget of a tenant, client, agent or session. A scope has at most one budget for each period. Without
   * `version` the budget is new; with the `version` that you read, its limits are replaced. Usage in the current
   * period is kept. A lower limit applies from the next usage report of every executing run. A first `max_cost` is
   * refused with `unpriced_model` where the scope has agents whose models have no price: it would refuse all their
   * runs.
   */
  set(budget: SetBudget, options: IdempotentOptions = {}): Promise<BudgetRecord> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'PUT',
      path: `${this.#organization}/budgets`,
      headers: idempotencyHeader(idempotencyKey),
      json: budget,
      repeatable: 'always',
      signal,
    });
  }

  /** Read a budget. Returns the budget with its usage in the current period. */
  get(id: string, { signal }: CallOptions = {}): Promise<BudgetRecord> {
    return this.#transport.json({
      method: 'GET',
      path: `${this.#organization}${at`/budgets/${id}`}`,
      signal,
    });
  }

  /** Delete a budget. Its limits no longer apply, and its usage is reset. Deleting it again is 204, too. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.json({
      method: 'DELETE',
      path: `${this.#organization}${at`/budgets/${id}`}`,
      signal,
    });
  }
}
