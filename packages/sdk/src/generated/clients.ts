// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type {
  ClientRecord,
  ProfileCatalog,
  IssuedClient,
  ClientWithCredentials,
} from './records.ts';
import type { CreateClient, PageQuery } from './requests.ts';
import { type IdempotentOptions, idempotencyHeader, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The automation clients of the organization. */
export class PlainClients {
  readonly #transport: Transport;
  readonly #organization: string;

  /** `organization` is the path of the organization. */
  constructor(transport: Transport, organization: string) {
    this.#transport = transport;
    this.#organization = organization;
  }

  /** List the automation clients. Lists the machine identities of the organization. Deleted clients are not listed. */
  list(query: PageQuery & CallOptions = {}): Listing<ClientRecord> {
    return new Listing(
      this.#transport,
      { path: `${this.#organization}/m2m`, key: 'clients' },
      query,
    );
  }

  /**
   * List the permission profiles and scopes. Lists what a client can be allowed to do. `catalog_version` changes
   * when a profile or a scope does.
   */
  profiles({ signal }: CallOptions = {}): Promise<ProfileCatalog> {
    return this.#transport.json({
      method: 'GET',
      path: `${this.#organization}/m2m/profiles`,
      signal,
    });
  }

  /**
   * Create an automation client with its first credential. Creates a machine identity and issues its first secret.
   * The secret is shown once: a repeated request with the same key never returns it again.
   */
  create(client: CreateClient, options: IdempotentOptions = {}): Promise<IssuedClient> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'POST',
      path: `${this.#organization}/m2m`,
      headers: idempotencyHeader(idempotencyKey),
      json: client,
      repeatable: 'always',
      signal,
    });
  }

  /**
   * Read an automation client and its credentials. Returns the client with its active, expired and revoked
   * credentials. It also holds the `version` for an update.
   */
  get(id: string, { signal }: CallOptions = {}): Promise<ClientWithCredentials> {
    return this.#transport.json({
      method: 'GET',
      path: `${this.#organization}${at`/m2m/${id}`}`,
      signal,
    });
  }

  /**
   * Delete an automation client. Revokes the client's access immediately, with all its credentials. Its runs and
   * sessions remain.
   */
  delete(id: string, { signal }: CallOptions = {}): Promise<ClientRecord | undefined> {
    return this.#transport.remove({ path: `${this.#organization}${at`/m2m/${id}`}`, signal });
  }
}
