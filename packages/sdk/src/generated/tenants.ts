// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { TenantRecord } from './records.ts';
import type { CreateTenant, OffboardTenant, PageQuery } from './requests.ts';
import { type IdempotentOptions, idempotencyHeader, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The tenants of the organization. One is usable when it is `active` and its attachment is `ready`. */
export class Tenants {
  readonly #transport: Transport;
  readonly #organization: string;

  /** `organization` is the path of the organization. */
  constructor(transport: Transport, organization: string) {
    this.#transport = transport;
    this.#organization = organization;
  }

  /** List the tenants of the organization. Lists tenants in every state, offboarded ones included. */
  list(query: PageQuery & CallOptions = {}): Listing<TenantRecord> {
    return new Listing(
      this.#transport,
      { path: `${this.#organization}/tenants`, key: 'tenants' },
      query,
    );
  }

  /** Create a tenant. Provisioning continues after the response: read the tenant until it is active and ready. */
  create(tenant: CreateTenant, options: IdempotentOptions = {}): Promise<TenantRecord> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'POST',
      path: `${this.#organization}/tenants`,
      headers: idempotencyHeader(idempotencyKey),
      json: tenant,
      repeatable: 'always',
      signal,
    });
  }

  /** Read a tenant. Returns the tenant. It is usable when it is `active` and its attachment state is `ready`. */
  get(id: string, { signal }: CallOptions = {}): Promise<TenantRecord> {
    return this.#transport.json({
      method: 'GET',
      path: `${this.#organization}${at`/tenants/${id}`}`,
      signal,
    });
  }

  /** Retry failed provisioning. Retries the provisioning of a tenant after it failed. */
  retry(id: string, { signal }: CallOptions = {}): Promise<TenantRecord> {
    return this.#transport.json({
      method: 'POST',
      path: `${this.#organization}${at`/tenants/${id}:retry`}`,
      signal,
    });
  }

  /**
   * Offboard a tenant permanently. Revokes the access of all automation clients immediately, then deletes the
   * sessions, runs, events, files and session folders of the tenant. This cannot be undone.
   */
  offboard(id: string, { signal, ...change }: OffboardTenant & CallOptions): Promise<TenantRecord> {
    return this.#transport.json({
      method: 'POST',
      path: `${this.#organization}${at`/tenants/${id}:offboard`}`,
      json: change,
      repeatable: 'always',
      signal,
    });
  }
}
