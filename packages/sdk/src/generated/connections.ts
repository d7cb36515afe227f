// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { ConnectionRecord } from './connection-records.ts';
import type { PutConnection, ConnectionsQuery, ConnectionOwner } from './requests.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The accounts of the workspace and of its end users for services that agents use. */
export class Connections {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Connect an account. Stores the account of an end user, or of the tenant, for a service that agents use. A
   * service has one account for each owner: another request replaces it. The secrets are sealed, and no answer has
   * them. Automation clients write all of them; a person their own (`end_user` is the id of the person), owners and
   * admins also those of the tenant.
   */
  put(
    service: string,
    { signal, ...change }: PutConnection & CallOptions,
  ): Promise<ConnectionRecord> {
    return this.#transport.json({
      method: 'PUT',
      path: at`/v1/connections/${service}`,
      json: change,
      signal,
    });
  }

  /**
   * List the connections of the tenant. Lists the connections of the tenant and of all its end users, without
   * secrets.
   */
  list(query: ConnectionsQuery & CallOptions = {}): Listing<ConnectionRecord> {
    return new Listing(this.#transport, { path: '/v1/connections', key: 'connections' }, query);
  }

  /**
   * Revoke a connection. Deletes the connection with its secrets. What an agent asks for next no longer gets it;
   * the account itself stays valid at its service. Owners and admins delete those of all end users.
   */
  async delete(
    service: string,
    { signal, ...query }: ConnectionOwner & CallOptions = {},
  ): Promise<void> {
    await this.#transport.json({
      method: 'DELETE',
      path: at`/v1/connections/${service}`,
      query,
      signal,
    });
  }
}
