import type { UsageRecord } from './generated/records.ts';
import { Listing } from './transport/listing.ts';
import type { CallOptions, Transport } from './transport/transport.ts';

/**
 * Tokens, costs and runs of a tenant or, for people, of an organization.
 *
 * @example
 * for await (const { group, cost, currency } of convoke.usage.list({ group_by: 'agent' })) {
 *   console.log(group, (cost ?? 0) / 1_000_000, currency);
 * }
 */
export class Usage<Query extends object> {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  /** Lists sums in the order of time, then of the group. `cost` is in millionths of `currency`. */
  list(query?: Query & CallOptions): Listing<UsageRecord> {
    return new Listing(this.#transport, { path: this.#path, key: 'usage' }, query ?? {});
  }
}
