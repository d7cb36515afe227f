import type { MemberRecord } from '../generated/records.ts';
import type { PageQuery } from '../generated/requests.ts';
import { Listing } from '../transport/listing.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The people of the organization. The operator of the deployment adds and removes them. */
export class Members {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  /** Lists members of every role, newest first. */
  list(query: PageQuery & CallOptions = {}): Listing<MemberRecord> {
    return new Listing(this.#transport, { path: this.#path, key: 'members' }, query);
  }
}
