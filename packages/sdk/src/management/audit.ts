import type { AuditRecord, AuditStatusRecord } from '../generated/records.ts';
import type { AuditQuery } from '../generated/requests.ts';
import { Listing } from '../transport/listing.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The audit log of the organization. */
export class Audit {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  /** Lists rows, newest first. A page may be empty although more follow; iterating continues. */
  list(query: AuditQuery & CallOptions = {}): Listing<AuditRecord> {
    return new Listing(this.#transport, { path: this.#path, key: 'rows' }, query);
  }

  /** Returns the end of the hash chain, and how far the server has checked it. */
  status({ signal }: CallOptions = {}): Promise<AuditStatusRecord> {
    return this.#transport.json({ method: 'GET', path: `${this.#path}/status`, signal });
  }
}
