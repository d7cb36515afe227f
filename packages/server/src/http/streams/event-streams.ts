import type { ServerResponse } from 'node:http';
import { formatEventId, limits } from '@convoke/contract';
import type { EventBatch } from '../../app/runs/follow.ts';
import type { TakeBatch } from '../../app/shared-tails.ts';
import { refuse } from '../../app/refusal.ts';
import type { ApplicationCaller } from '../../domain/access.ts';
import type { RunEvent } from '../../domain/run/run-event.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Fanout } from '../../ports/fanout.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { Frames } from './frames.ts';

/** Open streams of one process, and of one client or person. Above either, a reader is refused with Retry-After. */
export interface StreamCaps {
  readonly inAll: number;
  readonly perClient: number;
}
const defaultCaps: StreamCaps = { inAll: 10_000, perClient: 2_000 };

/** One timer checks all streams. The bounds of D-30 and D-33 are both 15 s, so 5 s keeps well within them. */
const pulseMs = 5_000;
const quietMs = limits.streamPingMs - pulseMs;

const ping = Buffer.from(': ping\n\n');
const opening = Buffer.from(`retry: ${limits.streamRetryMs}\n\n`);

export interface EventStreamOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'eventsDelivered'>;
  readonly maxAgeMs: number;
  /** `defaultCaps` when absent. */
  readonly caps?: StreamCaps | undefined;
  readonly fanout: Fanout;
  /** Whether the caller still has access (D-33). */
  readonly recheck: (caller: ApplicationCaller) => Promise<boolean>;
}

export interface OpenStream {
  readonly caller: ApplicationCaller;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether frames have an `event:` line. */
  readonly names: 'on' | 'off';
  /** Gives the reader every batch; resolves when there is no more for it. */
  readonly follow: (reader: StreamReader) => Promise<void>;
}

export interface StreamReader {
  readonly take: TakeBatch<EventBatch<Frames>>;
  readonly signal: AbortSignal;
}

interface Stream {
  readonly response: ServerResponse;
  readonly caller: ApplicationCaller;
  readonly closing: AbortController;
  readonly openedAt: number;
  lastWriteAt: number;
}

/** The streams of one client or person. They recheck its access at once when some of it was revoked. */
interface CallerStreams {
  readonly streams: Set<Stream>;
  readonly unsubscribe: () => void;
}

/**
 * Sends server-sent events to every open reader (D-30 to D-33). A stream ends only between frames: with its run, with
 * the token of its reader, or when the reader loses access; the reader resumes with another token. A fault closes it
 * without an event, because `error` is the event that ends a failed run (spec §6.3).
 */
export class EventStreams {
  readonly #options: EventStreamOptions;
  readonly #open = new Set<Stream>();
  readonly #perCaller = new Map<string, CallerStreams>();
  #cancelPulse: () => void = () => {};
  #isClosing = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#schedule();
  }

  get size(): number {
    return this.#open.size;
  }

  async send(response: ServerResponse, open: OpenStream): Promise<void> {
    const { caller, headers, names, follow } = open;
    const now = this.#options.clock.now();
    const closing = new AbortController();
    const stream: Stream = { response, caller, closing, openedAt: now, lastWriteAt: now };
    this.#admit(stream);
    const leave = () => closing.abort();
    const lastsMs = Math.max(caller.tokenExpiresAt - now, 0);
    const cancelExpiry = this.#options.clock.after(lastsMs, leave);
    response.once('close', leave);
    try {
      response.writeHead(200, {
        ...headers,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      });
      response.write(opening);
      const take: StreamReader['take'] = ({ rendered, after, lastSeq }) => {
        stream.lastWriteAt = this.#options.clock.now();
        // Sequence numbers have no gaps, so their difference is the number of events.
        this.#options.metrics.eventsDelivered.add(lastSeq - after);
        const frames = names === 'on' ? rendered : rendered.unnamed;
        return frames.writeTo(response) ? undefined : this.#drained(response);
      };
      await follow({ take, signal: closing.signal });
      response.end();
    } catch (error) {
      this.#options.log.error('event stream failed', error);
      response.destroy();
    } finally {
      cancelExpiry();
      response.off('close', leave);
      this.#forget(stream);
    }
  }

  /** Ends every stream at a frame boundary and refuses new ones. */
  close(): void {
    this.#isClosing = true;
    this.#cancelPulse();
    for (const stream of this.#open) stream.closing.abort();
  }

  #admit(stream: Stream): void {
    const { subject } = stream.caller;
    const held = this.#perCaller.get(subject)?.streams.size ?? 0;
    if (this.#isClosing) refuse('not_ready', { retryAfterSeconds: 1 });
    const { inAll, perClient } = this.#options.caps ?? defaultCaps;
    if (this.#open.size >= inAll || held >= perClient) {
      refuse('rate_limited', { message: 'Too many open streams.', retryAfterSeconds: 5 });
    }
    this.#open.add(stream);
    this.#streamsOf(subject).add(stream);
  }

  #forget(stream: Stream): void {
    this.#open.delete(stream);
    const { subject } = stream.caller;
    const own = this.#perCaller.get(subject);
    own?.streams.delete(stream);
    if (own?.streams.size !== 0) return;
    own.unsubscribe();
    this.#perCaller.delete(subject);
  }

  #streamsOf(subject: string): Set<Stream> {
    const known = this.#perCaller.get(subject);
    if (known !== undefined) return known.streams;
    const streams = new Set<Stream>();
    const unsubscribe = this.#options.fanout.subscribe(`access:${subject}`, () => {
      for (const stream of streams) this.#recheck(stream);
    });
    this.#perCaller.set(subject, { streams, unsubscribe });
    return streams;
  }

  /** Waits until the reader has read its buffer (true) or left (false). Closes a reader that stalls too long (D-33). */
  #drained(response: ServerResponse): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isDrained: boolean) => {
        cancelStall();
        drains.off('drain', onDrain);
        response.off('close', onClose);
        resolve(isDrained);
      };
      // What was written past the response is drained by its socket, and so is what the response passed on to it.
      const drains = response.socket ?? response;
      const onDrain = () => settle(true);
      const onClose = () => settle(false);
      const cancelStall = this.#options.clock.after(limits.streamStallMs, () => response.destroy());
      drains.once('drain', onDrain);
      response.once('close', onClose);
      if (response.destroyed) settle(false);
    });
  }

  #schedule(): void {
    this.#cancelPulse = this.#options.clock.after(pulseMs, () => {
      const now = this.#options.clock.now();
      for (const stream of this.#open) this.#check(stream, now);
      if (!this.#isClosing) this.#schedule();
    });
  }

  #check(stream: Stream, now: number): void {
    const { response, closing } = stream;
    if (now - stream.openedAt >= this.#options.maxAgeMs) return closing.abort();
    if (now - stream.lastWriteAt >= quietMs && response.writableLength === 0) {
      stream.lastWriteAt = now;
      response.write(ping);
    }
    this.#recheck(stream);
  }

  #recheck({ caller, closing }: Stream): void {
    this.#options.recheck(caller).then(
      (hasAccess) => {
        if (!hasAccess) closing.abort();
      },
      // While the storage is unavailable nothing can be revoked either; the next pulse checks again.
      (error: unknown) => this.#options.log.error('event stream recheck failed', error),
    );
  }
}

/** Renders events as frames of the `text/event-stream` format (spec §6.2). */
export function renderFrames(events: readonly RunEvent[]): Frames {
  let text = '';
  for (const { seq, type, body } of events) {
    text += `id: ${formatEventId(seq)}\nevent: ${type}\ndata: ${body}\n\n`;
  }
  return new Frames(text);
}
