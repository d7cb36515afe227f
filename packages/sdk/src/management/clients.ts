import type {
  ClientRecord,
  ClientWithCredentials,
  IssuedClient,
  ProfileCatalog,
} from '../generated/records.ts';
import type { CreateClient, PageQuery, UpdateClient } from '../generated/requests.ts';
import { type IdempotentOptions, idempotencyHeader, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The automation clients of the organization. `id` is the record id (`cli_…`), not the OAuth client id. */
export class Clients {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  /** Lists the clients, without secrets. */
  list(query: PageQuery & CallOptions = {}): Listing<ClientRecord> {
    return new Listing(this.#transport, { path: this.#path, key: 'clients' }, query);
  }

  /** Returns the profiles and scopes that a client can have. */
  profiles({ signal }: CallOptions = {}): Promise<ProfileCatalog> {
    return this.#transport.json({ method: 'GET', path: `${this.#path}/profiles`, signal });
  }

  /**
   * Creates a client with its first credential. Only this response contains the secret: if it is lost, a
   * retry throws a `ConflictError` (`secret_already_issued`) whose `body` names the client.
   */
  create(client: CreateClient, options: IdempotentOptions = {}): Promise<IssuedClient> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'POST',
      path: this.#path,
      headers: idempotencyHeader(idempotencyKey),
      json: client,
      repeatable: 'always',
      signal,
    });
  }

  get(id: string, { signal }: CallOptions = {}): Promise<ClientWithCredentials> {
    return this.#transport.json({ method: 'GET', path: this.#at(id), signal });
  }

  /**
   * Changes name, permissions or status. Sent once: if the response is lost, compare the `version` from
   * `get` to see whether the change took effect.
   */
  update(id: string, change: UpdateClient, { signal }: CallOptions = {}): Promise<ClientRecord> {
    return this.#transport.json({ method: 'PATCH', path: this.#at(id), json: change, signal });
  }

  /** Deletes the client and revokes its access. Returns the record while cleanup continues. */
  delete(id: string, { signal }: CallOptions = {}): Promise<ClientRecord | undefined> {
    return this.#transport.remove({ path: this.#at(id), signal });
  }

  #at(id: string): string {
    return `${this.#path}${at`/${id}`}`;
  }
}
