import type { RunRecord } from '../generated/records.ts';
import type { PageQuery } from '../generated/requests.ts';
import { Run } from '../runs/run.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** A `UIMessage` of the AI SDK, whose package owns its shape. */
export interface UiMessage {
  readonly id: string;
  readonly role: string;
  readonly metadata?: unknown;
  readonly parts: readonly object[];
}

/**
 * The session as a chat of the Vercel AI SDK. A page uses it through `ConvokeChatTransport` of `@convoke/sdk/ai-sdk`.
 */
export class UiMessages {
  readonly #transport: Transport;
  readonly #path: string;
  /** Runs whose end was in a listed message; undefined before anything was listed. */
  #ended: Set<string> | undefined;

  constructor(transport: Transport, sessionId: string) {
    this.#transport = transport;
    this.#path = at`/v1/sessions/${sessionId}/ai-sdk`;
  }

  /** Lists the messages of the session by runs, the newest runs first; in a page the oldest message is on top. */
  list(query: PageQuery & CallOptions = {}): Listing<UiMessage> {
    this.#ended ??= new Set();
    const ended = this.#ended;
    const item = (message: UiMessage) => {
      if (isWhole(message)) ended.add(message.id);
      return message;
    };
    const source = { path: `${this.#path}/messages`, key: 'messages', item };
    return new Listing(this.#transport, source, query);
  }

  /** Whether a listed message shows the end of this run; undefined if nothing was listed. */
  hasListedEnd(runId: string): boolean | undefined {
    return this.#ended?.has(runId);
  }

  /**
   * Starts a run with a message of the user, or answers with one of the assistant. Returns the run. The same message
   * again has the same effect once.
   */
  async send(message: UiMessage, { signal }: CallOptions = {}): Promise<Run> {
    const record = await this.#transport.json<RunRecord>({
      method: 'POST',
      path: this.#path,
      headers: { prefer: 'respond-async' },
      json: { messages: [message] },
      repeatable: 'always',
      signal,
    });
    return new Run(this.#transport, record);
  }
}

/** Whether the message shows its run to the end. */
function isWhole({ metadata }: UiMessage): boolean {
  const { status } = (metadata ?? {}) as { readonly status?: string };
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
