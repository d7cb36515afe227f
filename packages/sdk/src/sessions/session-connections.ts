import type {
  BegunConnection,
  ConnectionRecord,
  SessionConnectionRecord,
} from '../generated/connection-records.ts';
import type { BeginConnection, PutSessionConnection } from '../generated/requests.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The accounts that the agent of one session uses. */
export class SessionConnections {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, sessionId: string) {
    this.#transport = transport;
    this.#path = at`/v1/sessions/${sessionId}/connections`;
  }

  /**
   * Lists the services that the agent uses, and whether their accounts are connected.
   *
   * @example
   * for (const { service, status } of await session.connections.list()) console.log(service, status);
   */
  async list({ signal }: CallOptions = {}): Promise<SessionConnectionRecord[]> {
    const { connections } = await this.#transport.json<{
      readonly connections: SessionConnectionRecord[];
    }>({ method: 'GET', path: this.#path, signal });
    return connections;
  }

  /**
   * Connects an account of the end user of the session, or replaces it: with its secret (`auth`), or with the `ticket`
   * with which the user has come back from the service.
   */
  put(
    service: string,
    { signal, ...json }: PutSessionConnection & CallOptions,
  ): Promise<ConnectionRecord> {
    const path = `${this.#path}${at`/${service}`}`;
    // A ticket is good for one request.
    const repeatable = json.ticket === undefined ? 'always' : 'refused';
    return this.#transport.json({ method: 'PUT', path, json, repeatable, signal });
  }

  /**
   * Begins to connect an account by a link. Send the browser of the user to `connect_url`; it returns to `return_url`
   * with a `ticket` for `put`.
   */
  begin(
    service: string,
    { signal, ...json }: BeginConnection & CallOptions,
  ): Promise<BegunConnection> {
    const path = `${this.#path}${at`/${service}`}`;
    return this.#transport.json({ method: 'POST', path, json, repeatable: 'always', signal });
  }

  /** Revokes the account of the end user of the session. */
  async delete(service: string, { signal }: CallOptions = {}): Promise<void> {
    const path = `${this.#path}${at`/${service}`}`;
    await this.#transport.json({ method: 'DELETE', path, signal });
  }
}
