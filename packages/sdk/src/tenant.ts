import type {
  InteractionInTenantRecord,
  InteractionRecord,
  InteractionSummary,
  RunRecord,
  RunSummary,
} from './generated/records.ts';
import type { TenantInteractionsQuery, TenantRunsQuery } from './generated/requests.ts';
import { type Answer, Interactions } from './runs/interactions.ts';
import { Run } from './runs/run.ts';
import { Listing } from './transport/listing.ts';
import { at } from './transport/path.ts';
import type { CallOptions, Transport } from './transport/transport.ts';

/** The runs of all sessions of the workspace. */
export class TenantRuns {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists runs, newest first, without their input and answer.
   *
   * @example
   * for await (const run of convoke.runs.list({ status: ['failed'], label: ['ticket:OPS-1204'] })) console.log(run.id);
   */
  list(query: TenantRunsQuery & CallOptions = {}): Listing<RunSummary> {
    return new Listing(this.#transport, { path: '/v1/runs', key: 'runs' }, query);
  }

  /** Reads a run by its id alone. */
  async get(id: string, { signal }: CallOptions = {}): Promise<Run> {
    const path = at`/v1/runs/${id}`;
    const record = await this.#transport.json<RunRecord>({ method: 'GET', path, signal });
    return new Run(this.#transport, record);
  }
}

/** Pending requests in all sessions of the workspace. */
export class TenantInteractions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists interactions, oldest first; only pending ones unless `status` is set. */
  list(query: TenantInteractionsQuery & CallOptions = {}): Listing<InteractionSummary> {
    return new Listing(this.#transport, { path: '/v1/interactions', key: 'interactions' }, query);
  }

  /** Reads an interaction with everything that a person decides on. */
  get(key: string, { signal }: CallOptions = {}): Promise<InteractionInTenantRecord> {
    return this.#transport.json({ method: 'GET', path: at`/v1/interactions/${key}`, signal });
  }

  /** Answers an interaction of the list. */
  answer(
    { interaction_key: key, session_id: session }: AnsweredBy,
    answer: Answer,
    options: CallOptions = {},
  ): Promise<InteractionRecord> {
    return new Interactions(this.#transport, session).answer(key, answer, options);
  }
}

type AnsweredBy = Pick<InteractionSummary, 'interaction_key' | 'session_id'>;
