import type { AgentTypes, AnyAgents } from '../agent-types.ts';
import type { SessionRecord } from '../generated/records.ts';
import type { SessionsQuery } from '../generated/requests.ts';
import { type LabelledOptions, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';
import { Session, SessionHandle } from './session.ts';

export interface CreateSessionOptions extends LabelledOptions {
  readonly title?: string | undefined;
  /** The user of your product that the session is for: its runs use the connections of this user. */
  readonly endUser?: string | undefined;
}

/** The sessions of the workspace. */
export class Sessions<Agents extends AgentTypes<Agents> = AnyAgents> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a session with an agent. */
  async create<Name extends keyof Agents & string>(
    agentName: Name,
    options: CreateSessionOptions = {},
  ): Promise<Session<Agents[Name]>> {
    const { idempotencyKey = newKey(), title, labels, endUser, signal } = options;
    const record = await this.#transport.json<SessionRecord>({
      method: 'POST',
      path: '/v1/sessions',
      json: {
        agent_name: agentName,
        title,
        labels,
        end_user: endUser,
        idempotency_key: idempotencyKey,
      },
      repeatable: 'always',
      signal,
    });
    return new Session<Agents[Name]>(this.#transport, record);
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Session> {
    const path = at`/v1/sessions/${id}`;
    const record = await this.#transport.json<SessionRecord>({ method: 'GET', path, signal });
    return new Session(this.#transport, record);
  }

  /** Returns the session with this id without a request. */
  at(id: string): SessionHandle {
    return new SessionHandle(this.#transport, id);
  }

  /** Lists the sessions, newest first. */
  list(query: SessionsQuery & CallOptions = {}): Listing<Session> {
    const item = (record: SessionRecord) => new Session(this.#transport, record);
    return new Listing(this.#transport, { path: '/v1/sessions', key: 'sessions', item }, query);
  }
}
