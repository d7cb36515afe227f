import { RunText } from '@convoke/faces';
import { NoOutput, RunError } from '../errors.ts';
import type { RunRecord, SignalRecord } from '../generated/records.ts';
import type { CancelRun, EventsQuery, SignalRun, UpdateRun } from '../generated/requests.ts';
import type { Json } from '../generated/values.ts';
import { type IdempotentOptions, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';
import { forwardAbort } from '../transport/waiting.ts';
import { EventStream } from './event-stream.ts';
import { Feedback } from './feedback.ts';
import { type FollowLogOptions, type RunLog, followLog } from './follow.ts';
import { InteractionResponder, type InteractionHandlers } from './interaction-responder.ts';
import { Interactions } from './interactions.ts';
import type { RunEvent } from './run-event.ts';

export interface WaitOptions extends CallOptions, InteractionHandlers {
  /** A stream without data for this long is considered dead. The service sends something every 15 s. */
  readonly silenceMs?: number | undefined;
  /** Time for which the service may be unreachable before `follow()` throws. */
  readonly patienceMs?: number | undefined;
}

export interface FollowOptions extends WaitOptions {
  /** Id of the last event you processed: only later events are delivered. */
  readonly after?: string | undefined;
}

/** More than two ping intervals of the service (D-30). */
export const usualSilenceMs = 35_000;

/** Covers a restart, a deployment or a short network outage. */
export const usualPatienceMs = 120_000;

/** A run by its ids. Creating it sends no request. */
export class RunHandle<Output = Json> implements AsyncIterable<RunEvent> {
  readonly id: string;
  readonly sessionId: string;
  readonly feedback: Feedback;
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
    this.feedback = new Feedback(transport, this.#path);
    this.#opened = opened;
  }

  /** Reads the current state of the run. */
  read({ signal }: CallOptions = {}): Promise<RunRecord> {
    return this.#transport.json({ method: 'GET', path: this.#path, signal });
  }

  /**
   * Yields the events of the run exactly once and in order, from the first one or from `after`, until the
   * run has ended. Reconnects when a connection breaks. Leaving the loop does not cancel the run. To
   * continue in another process, store `event.id` after you have processed the event.
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
    const responder = this.#responder(options, stop);
    try {
      if (after !== undefined) responder?.resume(stop.signal);
      for await (const event of this.#events({
        after,
        silenceMs,
        patienceMs,
        signal: stop.signal,
      })) {
        responder?.handle(event);
        yield event;
      }
    } finally {
      untie();
      responder?.close();
      stop.abort();
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    return this.follow();
  }

  /** Waits for the run and returns its complete answer. Throws a `RunError` if it failed or was cancelled. */
  async text(options: WaitOptions = {}): Promise<string> {
    const joined = new RunText();
    for await (const event of this.follow(options)) joined.take(event);
    const run = await this.read(options);
    if (run.status === 'completed') return joined.text;
    throw new RunError(run);
  }

  /**
   * Waits for the run and returns what its agent returned, which the server has checked against the `output_schema`.
   * Throws a `RunError` if the run failed or was cancelled, and `NoOutput` if it completed without one.
   *
   * @example
   * const { team } = await run.output();
   */
  async output<Value = Output>(options: WaitOptions = {}): Promise<Value> {
    const run = await this.wait(options);
    if (run.status !== 'completed') throw new RunError(run);
    if (run.output === undefined) throw new NoOutput(run);
    return run.output as Value;
  }

  /** Waits until the run has ended, with any outcome, and returns its record. */
  async wait(options: WaitOptions = {}): Promise<RunRecord> {
    for await (const _event of this.follow(options));
    return this.read(options);
  }

  /** Requests cancellation. The run has ended when its `run_cancelled` event arrives. */
  cancel({ signal, ...body }: CancelRun & CallOptions = {}): Promise<RunRecord> {
    const path = `${this.#path}/cancel`;
    return this.#transport.json({ method: 'POST', path, json: body, repeatable: 'always', signal });
  }

  /**
   * Sends a message to the run. The agent gets it where it waits for one of this name; until then it is kept.
   *
   * @example
   * await run.signal('paid', { amount: 20 }, { idempotencyKey: event.id });
   */
  signal(
    name: string,
    data: Json = null,
    { idempotencyKey = newKey(), signal }: IdempotentOptions = {},
  ): Promise<SignalRecord> {
    return this.#transport.json({
      method: 'POST',
      path: at`/v1/runs/${this.id}/signals`,
      json: { name, data, idempotency_key: idempotencyKey } satisfies SignalRun,
      repeatable: 'always',
      signal,
    });
  }

  /** Changes labels: they are merged by key, and null removes one. */
  update({ signal, ...body }: UpdateRun & CallOptions): Promise<RunRecord> {
    const path = this.#path;
    return this.#transport.json({
      method: 'PATCH',
      path,
      json: body,
      repeatable: 'always',
      signal,
    });
  }

  /** Lists the events that are recorded so far, without waiting. */
  events(query: EventsQuery & CallOptions = {}): Listing<RunEvent> {
    return new Listing(this.#transport, { path: `${this.#path}/events`, key: 'events' }, query);
  }

  #responder(
    { onPermission, onQuestion, onWaiting, patienceMs = usualPatienceMs }: FollowOptions,
    stop: AbortController,
  ): InteractionResponder | undefined {
    const given = [onPermission, onQuestion, onWaiting];
    if (given.every((handler) => handler === undefined)) return undefined;
    return new InteractionResponder({
      runId: this.id,
      interactions: new Interactions(this.#transport, this.sessionId),
      handlers: { onPermission, onQuestion, onWaiting },
      retry: this.#transport.options.retry,
      patienceMs,
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
      // `followLog` retries on its own, and for longer.
      attempts: 1,
      signal,
    });
  }
}

/** A run with the record that the request returned. */
export class Run<Output = Json> extends RunHandle<Output> {
  readonly record: RunRecord;

  constructor(transport: Transport, record: RunRecord) {
    super(transport, { id: record.id, sessionId: record.session_id });
    this.record = record;
  }
}
