import type { IncomingMessage, ServerResponse } from 'node:http';
import { limits } from '@convoke/contract';
import type { EventBatch } from '../../app/runs/follow.ts';
import type { TakeBatch } from '../../app/shared-tails.ts';
import { refuse } from '../../app/refusal.ts';
import type { ApplicationCaller } from '../../domain/access.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { drained } from '../answers/send-parts.ts';
import { type AdmissionOptions, AdmittedStreams } from './admitted-streams.ts';
import { Frames } from './frames.ts';

/** One timer checks all streams. The bounds of D-30 and D-33 are both 15 s, so 5 s keeps well within them. */
const pulseMs = 5_000;
const quietMs = limits.streamPingMs - pulseMs;

/** A request that is held is answered this long before its token expires. */
const beforeExpiryMs = 1_000;

const ping = new Frames(': ping\n\n');
/** Without an empty line: it is a line of the first event's block, so that every block is an event (spec §6). */
const opening = Buffer.from(`retry: ${limits.streamRetryMs}\n`);

export interface EventStreamOptions extends AdmissionOptions {
  readonly metrics: Pick<Metrics, 'eventsDelivered'>;
  readonly maxAgeMs: number;
}

export interface OpenStream {
  readonly caller: ApplicationCaller;
  readonly headers: Readonly<Record<string, string>>;
  /** Gives the reader every batch; resolves when there is no more for it. */
  readonly follow: (reader: StreamReader) => Promise<void>;
}

export interface StreamReader {
  readonly take: TakeBatch<EventBatch<Frames>>;
  readonly signal: AbortSignal;
  readonly closing: Closing;
}

/** The end of a stream or of a held request. A reader that waits no longer may abort it, and then says what is last. */
export interface Closing {
  readonly signal: AbortSignal;
  abort(): void;
}

/** A request that is answered later, and counts as a stream until then. */
export interface HeldRequest {
  readonly caller: ApplicationCaller;
  readonly request: Pick<IncomingMessage, 'socket'>;
  /** How long it may take at most. */
  readonly ms: number;
  /** Resolves when the answer is known, or when the signal says that the time is over. */
  readonly wait: (closing: Closing) => Promise<void>;
}

interface Stream {
  /** Undefined for a request that is held: nothing is written to it. */
  readonly response: ServerResponse | undefined;
  readonly closing: AbortController;
  readonly openedAt: number;
  lastWriteAt: number;
}

type OpenResponse = Stream & { readonly response: ServerResponse };

function notReady(): never {
  return refuse('not_ready', { retryAfterSeconds: 1 });
}

/**
 * Sends server-sent events to every open reader (D-30 to D-33). A stream ends only between frames: with its run, with
 * the token of its reader, or when the reader loses access; the reader resumes with another token. A fault closes it
 * without an event, because `error` is the event that ends a failed run (spec §6.3).
 */
export class EventStreams {
  readonly #options: EventStreamOptions;
  readonly #admitted: AdmittedStreams<Stream>;
  #cancelPulse: () => void = () => {};
  #isClosing = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#admitted = new AdmittedStreams(options);
    this.#schedule();
  }

  get size(): number {
    return this.#admitted.size;
  }

  /** Resolves after the last byte. Until then it keeps as little as it can: a stream may be open for an hour. */
  send(response: ServerResponse, open: OpenStream): Promise<void> {
    if (this.#isClosing) notReady();
    const now = this.#options.clock.now();
    const closing = new AbortController();
    const stream: OpenResponse = { response, closing, openedAt: now, lastWriteAt: now };
    const remove = this.#admitted.add(open.caller, stream);
    // Already parsed; dropped because they contain the caller's token.
    response.req.headers = {};
    response.req.rawHeaders = [];
    return this.#untilEnd(stream, this.#begin(stream, open), remove);
  }

  /**
   * Lets a request wait for its answer within the bounds of a stream: the caps, the token and the access of its caller,
   * the end of the server. A request that one of them ends is refused: sent again, it finds what it waited for.
   */
  async hold({ caller, request, ms, wait }: HeldRequest): Promise<void> {
    if (this.#isClosing) notReady();
    const { clock } = this.#options;
    const closing = new AbortController();
    const now = clock.now();
    let isOver = false;
    const abort = () => {
      isOver ||= !closing.signal.aborted;
      closing.abort();
    };
    const stream: Stream = { response: undefined, closing, openedAt: now, lastWriteAt: now };
    const remove = this.#admitted.add(caller, stream);
    const leave = () => closing.abort();
    // An answer that comes with the end of the token would be refused.
    const lastsMs = Math.max(caller.tokenExpiresAt - now - beforeExpiryMs, 0);
    const cancelTimer = clock.after(Math.min(ms, lastsMs), abort);
    request.socket.once('close', leave);
    if (request.socket.destroyed) leave();
    try {
      await wait({ signal: closing.signal, abort });
    } finally {
      cancelTimer();
      request.socket.off('close', leave);
      remove();
    }
    if (closing.signal.aborted && !isOver) notReady();
  }

  /** Ends every stream at a frame boundary and refuses new ones. */
  close(): void {
    this.#isClosing = true;
    this.#cancelPulse();
    this.#admitted.forEach(({ closing }) => closing.abort());
  }

  #begin(stream: OpenResponse, { headers, follow }: OpenStream): Promise<void> {
    const { response, closing } = stream;
    try {
      response.writeHead(200, {
        ...headers,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      });
      response.write(opening);
      return follow({ take: this.#taker(stream), signal: closing.signal, closing });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #taker(stream: OpenResponse): StreamReader['take'] {
    const { response } = stream;
    return ({ rendered, after, lastSeq, ended }) => {
      stream.lastWriteAt = this.#options.clock.now();
      // Sequence numbers have no gaps, so their difference is the number of events.
      this.#options.metrics.eventsDelivered.add(lastSeq - after);
      // Corked, so that the last events and the end leave in one write: `end()` uncorks.
      if (ended) response.socket?.cork();
      if (rendered.writeTo(response)) return undefined;
      if (ended) response.socket?.uncork();
      return drained(response, this.#options.clock);
    };
  }

  async #untilEnd(
    { response, closing }: OpenResponse,
    following: Promise<void>,
    remove: () => void,
  ): Promise<void> {
    const leave = () => closing.abort();
    response.once('close', leave);
    if (response.destroyed) leave();
    try {
      await following;
      response.end();
    } catch (error) {
      this.#options.log.error('event stream failed', error);
      response.destroy();
    } finally {
      response.off('close', leave);
      remove();
    }
  }

  #schedule(): void {
    this.#cancelPulse = this.#options.clock.after(pulseMs, () => {
      const now = this.#options.clock.now();
      this.#admitted.forEach((stream) => this.#check(stream, now));
      this.#admitted.recheck();
      if (!this.#isClosing) this.#schedule();
    });
  }

  #check(stream: Stream, now: number): void {
    const { response, closing } = stream;
    if (now - stream.openedAt >= this.#options.maxAgeMs) return closing.abort();
    if (response === undefined) return;
    if (now - stream.lastWriteAt >= quietMs && response.writableLength === 0) {
      stream.lastWriteAt = now;
      ping.writeTo(response);
    }
  }
}
