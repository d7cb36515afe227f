import type { InteractionRecord } from '../generated/records.ts';
import type {
  InteractionsQuery,
  PermissionAnswer,
  QuestionDeclined,
  QuestionReply,
} from '../generated/requests.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

export type Answer = PermissionAnswer | QuestionReply | QuestionDeclined;

/** Questions and permission requests of one session. */
export class Interactions {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, sessionId: string) {
    this.#transport = transport;
    this.#path = at`/v1/sessions/${sessionId}/interactions`;
  }

  /** Lists interactions, newest first; only pending ones unless `status` is set. */
  list(query: InteractionsQuery & CallOptions = {}): Listing<InteractionRecord> {
    return new Listing(this.#transport, { path: this.#path, key: 'interactions' }, query);
  }

  /** Lists the pending interactions, oldest first. */
  pending({ signal }: CallOptions = {}): Listing<InteractionRecord> {
    return this.list({ signal, status: 'pending', order: 'asc' });
  }

  /**
   * Answers by the durable key. Repeating the same answer succeeds; a different one throws a `ConflictError`.
   *
   * @example
   * await session.interactions.answer(request.interaction_key, { decision: 'allow', remember: 'exact' });
   * await session.interactions.answer(question.interaction_key, { answer: 'Captain' });
   */
  answer(key: string, answer: Answer, { signal }: CallOptions = {}): Promise<InteractionRecord> {
    return this.#transport.json({
      method: 'POST',
      path: `${this.#path}${at`/${key}/answer`}`,
      json: answer,
      repeatable: 'always',
      signal,
    });
  }

  /** Forgets an allow that the session remembers: its calls are asked about again. Once more, it changes nothing. */
  async forget(key: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.json({
      method: 'DELETE',
      path: `${this.#path}${at`/${key}/remembered`}`,
      repeatable: 'always',
      signal,
    });
  }
}
