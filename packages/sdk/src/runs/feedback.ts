import type { FeedbackRecord } from '../generated/records.ts';
import type { PutFeedback } from '../generated/requests.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

export interface DeleteFeedback extends CallOptions {
  /** The user of your product for whom an automation client speaks. */
  readonly end_user?: string | undefined;
}

/** The feedback on one run. */
export class Feedback {
  readonly #transport: Transport;
  readonly #path: string;

  /** `run` is the path of the run. */
  constructor(transport: Transport, run: string) {
    this.#transport = transport;
    this.#path = `${run}/feedback`;
  }

  /**
   * Says something about the run under a key. It replaces what the same author said under it before.
   *
   * @example
   * await run.feedback.put('rating', { score: 1, comment: 'Right team.' });
   */
  put(key: string, { signal, ...json }: PutFeedback & CallOptions): Promise<FeedbackRecord> {
    const path = `${this.#path}${at`/${key}`}`;
    return this.#transport.json({ method: 'PUT', path, json, repeatable: 'always', signal });
  }

  /** Lists what all authors say, by key and author; with a token for one session, what its own author says. */
  async list({ signal }: CallOptions = {}): Promise<FeedbackRecord[]> {
    const { feedback } = await this.#transport.json<{ readonly feedback: FeedbackRecord[] }>({
      method: 'GET',
      path: this.#path,
      signal,
    });
    return feedback;
  }

  /** Takes back what the caller said. Throws a `NotFoundError` if that is nothing. */
  async delete(key: string, { signal, end_user }: DeleteFeedback = {}): Promise<void> {
    const path = `${this.#path}${at`/${key}`}`;
    await this.#transport.json({ method: 'DELETE', path, query: { end_user }, signal });
  }
}
