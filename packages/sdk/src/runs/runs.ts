import type { AgentType, AnyAgent, InputOf } from '../agent-types.ts';
import type { RunRecord } from '../generated/records.ts';
import type { RunsQuery } from '../generated/requests.ts';
import { type LabelledOptions, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';
import { Run, RunHandle } from './run.ts';

/** A prompt, or the complete input that the agent declares. */
export type RunInput = InputOf<AnyAgent>;

export interface StartOptions extends LabelledOptions {
  /** Ids of files of the session to attach to the run. */
  readonly files?: readonly string[] | undefined;
}

/** The runs of one session. */
export class Runs<Type extends AgentType = AnyAgent> {
  readonly #transport: Transport;
  readonly #sessionId: string;
  readonly #path: string;

  constructor(transport: Transport, sessionId: string) {
    this.#transport = transport;
    this.#sessionId = sessionId;
    this.#path = at`/v1/sessions/${sessionId}/runs`;
  }

  /** Starts a run. A session executes one run at a time; later runs are queued. Same as `session.run()`. */
  async start(input: InputOf<Type>, options: StartOptions = {}): Promise<Run<Type['output']>> {
    const { idempotencyKey = newKey(), labels, signal } = options;
    const record = await this.#transport.json<RunRecord>({
      method: 'POST',
      path: this.#path,
      json: { input: inputOf(input, options), labels, idempotency_key: idempotencyKey },
      repeatable: 'always',
      signal,
    });
    return new Run<Type['output']>(this.#transport, record);
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Run<Type['output']>> {
    const path = `${this.#path}${at`/${id}`}`;
    const record = await this.#transport.json<RunRecord>({ method: 'GET', path, signal });
    return new Run<Type['output']>(this.#transport, record);
  }

  /** Returns the run with this id without a request, for example to follow it in another process. */
  at(id: string): RunHandle<Type['output']> {
    return new RunHandle(this.#transport, { id, sessionId: this.#sessionId });
  }

  /** Lists the runs, newest first. */
  list(query: RunsQuery & CallOptions = {}): Listing<Run<Type['output']>> {
    const item = (record: RunRecord) => new Run<Type['output']>(this.#transport, record);
    return new Listing(this.#transport, { path: this.#path, key: 'runs', item }, query);
  }
}

export function inputOf(input: string | object, { files }: Pick<StartOptions, 'files'>): object {
  const whole = typeof input === 'string' ? { prompt: input } : input;
  return files === undefined ? whole : { ...whole, files };
}
