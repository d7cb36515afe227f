// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { AuditRecord, AuditStatusRecord } from './records.ts';
import type { AuditQuery } from './requests.ts';
import { Listing } from '../transport/listing.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The audit log of the organization. */
export class Audit {
  readonly #transport: Transport;
  readonly #organization: string;

  /** `organization` is the path of the organization. */
  constructor(transport: Transport, organization: string) {
    this.#transport = transport;
    this.#organization = organization;
  }

  /**
   * Read the audit log. Lists the rows of the organization. A page scans at most 10,000 rows, so with filters it
   * may have fewer than `limit` rows, or none, and still have a `next_cursor`.
   */
  list(query: AuditQuery & CallOptions = {}): Listing<AuditRecord> {
    return new Listing(
      this.#transport,
      { path: `${this.#organization}/audit`, key: 'rows' },
      query,
    );
  }

  /**
   * Read whether the audit log is intact. The server checks the hash chain in the background: new rows within
   * minutes, all of them every day.
   */
  status({ signal }: CallOptions = {}): Promise<AuditStatusRecord> {
    return this.#transport.json({
      method: 'GET',
      path: `${this.#organization}/audit/status`,
      signal,
    });
  }
}
