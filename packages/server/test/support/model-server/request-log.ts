import type { Conversation } from './conversation.ts';

const requestsMax = 10_000;

/** One request for an answer, as the wire saw it. */
export interface LoggedRequest {
  readonly dialect: string;
  readonly model: string;
  readonly key: string | undefined;
  readonly tools: readonly string[];
  /** The whole body, as it came. */
  readonly source: string;
  readonly status: number;
  /** `early` when the client went away before the answer was complete: proof that a cancel reached the wire. */
  ended: 'open' | 'complete' | 'early';
  /** The script dropped the connection, not the client. */
  wasCut: boolean;
}

/** The received requests, oldest first. It is the only state of the server, and no answer depends on it. */
export class RequestLog {
  readonly #requests: LoggedRequest[] = [];

  get requests(): readonly LoggedRequest[] {
    return this.#requests;
  }

  add(parts: {
    readonly dialect: string;
    readonly key: string | undefined;
    readonly conversation: Conversation;
    readonly status: number;
  }): LoggedRequest {
    const { dialect, key, status, conversation } = parts;
    const { model, tools, source } = conversation;
    const logged: LoggedRequest = {
      dialect,
      model,
      key,
      tools,
      source,
      status,
      ended: 'open',
      wasCut: false,
    };
    this.#requests.push(logged);
    if (this.#requests.length > requestsMax) this.#requests.shift();
    return logged;
  }

  close(logged: LoggedRequest, isComplete: boolean): void {
    logged.ended = isComplete ? 'complete' : 'early';
  }

  /** The requests whose body holds this text, most often a marker in one test's prompt. */
  having(text: string): readonly LoggedRequest[] {
    return this.#requests.filter(({ source }) => source.includes(text));
  }
}
