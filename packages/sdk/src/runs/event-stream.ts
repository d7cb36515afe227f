import { ServerError } from '../errors.ts';
import { MessageParser } from '../transport/server-sent-events.ts';
import type { Call, Transport } from '../transport/transport.ts';
import { forwardAbort, reasonOf } from '../transport/waiting.ts';
import { type RunEvent, parseRunEvent } from './run-event.ts';

/** One connection to the events of a run or of a tenant. `follow()` opens as many as it needs. */
export class EventStream {
  /** Whether the server closed the stream. If not, the connection broke or timed out. */
  isClean = false;
  readonly #response: Response;
  readonly #parser = new MessageParser();
  readonly #controller: AbortController;
  readonly #ties: (() => void)[] = [];

  private constructor(response: Response, controller: AbortController) {
    this.#response = response;
    this.#controller = controller;
  }

  static async open(transport: Transport, call: Call): Promise<EventStream> {
    const controller = new AbortController();
    const untie = forwardAbort(call.signal, controller);
    try {
      const headers = { accept: 'text/event-stream', ...call.headers };
      const response = await transport.open({ ...call, headers, signal: controller.signal });
      const stream = new EventStream(response, controller);
      stream.#ties.push(untie);
      return stream;
    } catch (error) {
      untie();
      throw error;
    }
  }

  get headers(): Headers {
    return this.#response.headers;
  }

  /** Whether the run has ended and the cursor is its last event: the server answers 204 instead of a stream. */
  get isAtEnd(): boolean {
    return this.#response.status === 204;
  }

  get retryMs(): number | undefined {
    return this.#parser.retryMs;
  }

  /** The last id that the server sent, with or without an event. */
  get lastId(): string | undefined {
    return this.#parser.lastId;
  }

  /** Closes the stream when the signal is aborted. */
  tie(signal: AbortSignal): void {
    this.#ties.push(forwardAbort(signal, this.#controller));
  }

  close(): void {
    for (const untie of this.#ties) untie();
    this.#controller.abort();
  }

  /** Yields the events of a run as they arrive. */
  async *events(runId: string, silenceMs: number): AsyncGenerator<RunEvent, void, undefined> {
    for await (const message of this.messages(silenceMs)) {
      const event = parseRunEvent(message, runId);
      if (event === undefined) throw broken('It holds something else than events of the run.');
      yield event;
    }
  }

  /**
   * Yields messages as they arrive. Ends with the connection, and when nothing arrived for `silenceMs`:
   * the server sends something every 15 s (D-30), so a silent connection is dead.
   */
  async *messages(silenceMs: number): AsyncGenerator<string, void, undefined> {
    const reader = this.#reader();
    const decoder = new TextDecoder();
    for (;;) {
      const bytes = await this.#read(reader, silenceMs);
      if (bytes === undefined) return;
      yield* this.#messages(decoder.decode(bytes, { stream: true }));
    }
  }

  #reader(): ReadableStreamDefaultReader<Uint8Array> {
    const { body, headers } = this.#response;
    const isEvents = headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (body === null || !isEvents) throw broken('The answer is not a stream of events.');
    return body.getReader();
  }

  async #read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    silenceMs: number,
  ): Promise<Uint8Array | undefined> {
    // The timer runs only while waiting for data: a slow consumer does not mean a silent server.
    const timer = setTimeout(() => this.#controller.abort(silent), silenceMs);
    try {
      const { done, value } = await reader.read();
      this.isClean = done;
      return value;
    } catch {
      const { signal } = this.#controller;
      if (signal.aborted && reasonOf(signal) !== silent) throw reasonOf(signal);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  #messages(text: string): readonly string[] {
    try {
      return this.#parser.push(text);
    } catch (cause) {
      throw broken('A message is too long.', cause);
    }
  }
}

const silent = Symbol('silent');

function broken(why: string, cause?: unknown): ServerError {
  return new ServerError(`The stream is broken. ${why}`, { code: 'stream_broken', cause });
}
