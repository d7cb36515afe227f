import { PlainClients } from './generated/clients.ts';
import type { ClientRecord } from './generated/records.ts';
import type { UpdateClient } from './generated/requests.ts';
import { at } from './transport/path.ts';
import type { CallOptions, Transport } from './transport/transport.ts';

/** The automation clients of the organization. `id` is the record id (`cli_…`), not the OAuth client id. */
export class Clients extends PlainClients {
  readonly #transport: Transport;
  readonly #organization: string;

  constructor(transport: Transport, organization: string) {
    super(transport, organization);
    this.#transport = transport;
    this.#organization = organization;
  }

  /**
   * Changes name, permissions or status. Sent once: if the response is lost, compare the `version` from
   * `get` to see whether the change took effect.
   */
  update(id: string, change: UpdateClient, { signal }: CallOptions = {}): Promise<ClientRecord> {
    const path = `${this.#organization}${at`/m2m/${id}`}`;
    return this.#transport.json({ method: 'PATCH', path, json: change, signal });
  }
}
