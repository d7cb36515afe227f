import type { TenantRecord } from '../generated/records.ts';
import type { CreateTenant, OffboardTenant, PageQuery } from '../generated/requests.ts';
import { type IdempotentOptions, idempotencyHeader, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The tenants of the organization. One is usable when it is `active` and its attachment is `ready`. */
export class Tenants {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  /** Lists the tenants, newest first. */
  list(query: PageQuery & CallOptions = {}): Listing<TenantRecord> {
    return new Listing(this.#transport, { path: this.#path, key: 'tenants' }, query);
  }

  get(id: string, { signal }: CallOptions = {}): Promise<TenantRecord> {
    return this.#transport.json({ method: 'GET', path: this.#at(id), signal });
  }

  /** Creates a tenant. Provisioning continues after the response. */
  create(tenant: CreateTenant, options: IdempotentOptions = {}): Promise<TenantRecord> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'POST',
      path: this.#path,
      headers: idempotencyHeader(idempotencyKey),
      json: tenant,
      repeatable: 'always',
      signal,
    });
  }

  /** Retries failed provisioning. */
  retry(id: string, { signal }: CallOptions = {}): Promise<TenantRecord> {
    return this.#transport.json({ method: 'POST', path: `${this.#at(id)}:retry`, signal });
  }

  /** Permanently deletes the tenant and its data. `confirm` repeats its id. */
  offboard(id: string, { confirm, signal }: OffboardTenant & CallOptions): Promise<TenantRecord> {
    return this.#transport.json({
      method: 'POST',
      path: `${this.#at(id)}:offboard`,
      json: { confirm },
      repeatable: 'always',
      signal,
    });
  }

  #at(id: string): string {
    return `${this.#path}${at`/${id}`}`;
  }
}
