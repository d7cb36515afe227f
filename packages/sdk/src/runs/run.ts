import { RunError } from '../errors.ts';
import type { RunRecord } from '../generated/records.ts';
import type { CancelRun, EventsQuery } from '../generated/requests.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';
import { forwardAbort } from '../transport/waiting.ts';
import { EventStream } from './event-stream.ts';
import { type FollowLogOptions, type RunLog, followLog } from './follow.ts';
import { InteractionResponder, type InteractionHandlers } from './interaction-responder.ts';
import { Interactions } from './interactions.ts';
import type { RunEvent } from './run-event.ts';

export interface WaitOptions extends CallOptions, InteractionHandlers {
  /** A stream on which nothing came for this long is taken for dead. The service says something every 15 s. */
  readonly silenceMs?: number | undefined;
  /** For how long the service may be out of reach before following it ends with an error. */
  readonly patienceMs?: number | undefined;
}

export interface FollowOptions extends WaitOptions {
  /** The id of the last event you dealt with: only what comes after it is delivered. */
  readonly after?: string | undefined;
}

/** Two pings of the service (D-30) and some. */
const usualSilenceMs = 35_000;

/** A restart, a deployment, a moment without a network. */
const usualPatienceMs = 120_000;

/** A run by its ids. Nothing is fetched until you ask. */
export class RunHandle implements AsyncIterable<RunEvent> {
  readonly id: string;
  readonly sessionId: string;
  readonly #transport: Transport;
  readonly #path: string;
  #opened: EventStream | undefined;

  constructor(
    transport: Transport,
    ids: { readonly id: string; readonly sessionId: string },
    opened?: EventStream,
  ) {
    this.#transport = transport;
    this.id = ids.id;
    this.sessionId = ids.sessionId;
    this.#path = at`/v1/sessions/${ids.sessionId}/runs/${ids.id}`;
    this.#opened = opened;
  }

  /** The run as it is now. */
  read({ signal }: CallOptions = {}): Promise<RunRecord> {
    return this.#transport.json({ method: 'GET', path: this.#path, signal });
  }

  /**
   * The events of the run, each exactly once and in order, from the first one or from `after`, until the
   * run has ended. Connections that break are made anew. Leave the loop to stop following; the run goes
   * on. To go on in another process, keep `event.id` once you dealt with the event.
   *
   * @example
   * for await (const event of run.follow({ onPermission: () => 'allow' })) {
   *   if (event.type === 'message_delta') process.stdout.write(event.data.text);
   * }
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<RunEvent, void, undefined> {
    const { after, silenceMs = usualSilenceMs, patienceMs = usualPatienceMs, signal } = options;
    const stop = new AbortController();
    const untie = forwardAbort(signal, stop);
    const attendance = this.#attendance(options, stop);
    try {
      if (after !== undefined) void attendance?.resume(stop.signal);
      for await (const event of this.#events({
        after,
        silenceMs,
        patienceMs,
        signal: stop.signal,
      })) {
        attendance?.notice(event);
        yield event;
      }
    } finally {
      untie();
      attendance?.close();
      stop.abort();
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    return this.follow();
  }

  /** The whole answer, once the run has completed. A run that failed or was cancelled is a `RunError`. */
  async text(options: WaitOptions = {}): Promise<string> {
    let text = '';
    for await (const event of this.follow(options)) {
      if (event.type === 'message_delta') text += event.data.text;
    }
    const run = await this.read(options);
    if (run.status === 'completed') return text;
    throw new RunError(run);
  }

  /** The run once it has ended, whichever way. */
  async wait(options: WaitOptions = {}): Promise<RunRecord> {
    for await (const _event of this.follow(options));
    return this.read(options);
  }

  /** Asks the run to end. It has ended when its `run_cancelled` event comes. */
  cancel({ signal, ...body }: CancelRun & CallOptions = {}): Promise<RunRecord> {
    const path = `${this.#path}/cancel`;
    return this.#transport.json({ method: 'POST', path, json: body, repeatable: 'always', signal });
  }

  /** What was recorded so far, in pages, without waiting for more. */
  events(query: EventsQuery & CallOptions = {}): Listing<RunEvent> {
    return new Listing(this.#transport, { path: `${this.#path}/events`, key: 'events' }, query);
  }

  #attendance(
    { onPermission, onQuestion }: InteractionHandlers,
    stop: AbortController,
  ): InteractionResponder | undefined {
    if (onPermission === undefined && onQuestion === undefined) return undefined;
    return new InteractionResponder({
      runId: this.id,
      interactions: new Interactions(this.#transport, this.sessionId),
      handlers: { onPermission, onQuestion },
      fail: (error) => stop.abort(error),
    });
  }

  #events(options: FollowLogOptions): AsyncGenerator<RunEvent, void, undefined> {
    const log: RunLog = {
      runId: this.id,
      retry: this.#transport.options.retry,
      read: (signal) => this.read({ signal }),
      connect: (after, signal) => this.#connect(after, signal),
    };
    return followLog(log, options);
  }

  async #connect(after: string | undefined, signal: AbortSignal): Promise<EventStream> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (opened !== undefined && after === undefined) {
      opened.tie(signal);
      return opened;
    }
    opened?.close();
    return EventStream.open(this.#transport, {
      method: 'GET',
      path: `${this.#path}/events`,
      headers: after === undefined ? {} : { 'last-event-id': after },
      // Following retries by itself, and for longer.
      attempts: 1,
      signal,
    });
  }
}

/** A run with the record that it was got with. */
export class Run extends RunHandle {
  readonly record: RunRecord;

  constructor(transport: Transport, record: RunRecord) {
    super(transport, { id: record.id, sessionId: record.session_id });
    this.record = record;
  }
}
