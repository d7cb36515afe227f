import type { SessionRecord } from '../generated/records.ts';
import type { SessionsQuery } from '../generated/requests.ts';
import { type IdempotentOptions, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';
import { Session, SessionHandle } from './session.ts';

/** The sessions of the workspace. */
export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Opens a session with an agent. */
  async create(agentName: string, options: IdempotentOptions = {}): Promise<Session> {
    const { idempotencyKey = newKey(), signal } = options;
    const record = await this.#transport.json<SessionRecord>({
      method: 'POST',
      path: '/v1/sessions',
      json: { agent_name: agentName, idempotency_key: idempotencyKey },
      repeatable: 'always',
      signal,
    });
    return new Session(this.#transport, record);
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Session> {
    const path = at`/v1/sessions/${id}`;
    const record = await this.#transport.json<SessionRecord>({ method: 'GET', path, signal });
    return new Session(this.#transport, record);
  }

  /** The session of this id, without asking for it. */
  at(id: string): SessionHandle {
    return new SessionHandle(this.#transport, id);
  }

  /** Newest first. */
  list(query: SessionsQuery & CallOptions = {}): Listing<Session> {
    const item = (record: SessionRecord) => new Session(this.#transport, record);
    return new Listing(this.#transport, { path: '/v1/sessions', key: 'sessions', item }, query);
  }
}
