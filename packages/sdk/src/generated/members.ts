// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { MemberRecord } from './records.ts';
import type { PageQuery } from './requests.ts';
import { Listing } from '../transport/listing.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The people of the organization. Invitations add them; the operator of the deployment removes them. */
export class Members {
  readonly #transport: Transport;
  readonly #organization: string;

  /** `organization` is the path of the organization. */
  constructor(transport: Transport, organization: string) {
    this.#transport = transport;
    this.#organization = organization;
  }

  /**
   * List the people of the organization. Lists members of every role. Invitations add members; only the operator of
   * the deployment changes and removes them.
   */
  list(query: PageQuery & CallOptions = {}): Listing<MemberRecord> {
    return new Listing(
      this.#transport,
      { path: `${this.#organization}/members`, key: 'members' },
      query,
    );
  }
}
