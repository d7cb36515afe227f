import { type ConvokeError, ConnectionError, isTemporary } from './errors.ts';
import type { NoticeRecord } from './generated/records.ts';
import type { FeedQuery } from './generated/requests.ts';
import type { NoticeType } from './generated/values.ts';
import { EventStream } from './runs/event-stream.ts';
import { isAfter } from './runs/run-event.ts';
import { usualPatienceMs, usualSilenceMs } from './runs/run.ts';
import { Listing } from './transport/listing.ts';
import { type RetryPolicy, backoffMs, pauseMs } from './transport/retry.ts';
import type { CallOptions, Transport } from './transport/transport.ts';
import { pause } from './transport/waiting.ts';

export interface FollowFeedOptions extends CallOptions {
  /** Id of the last notice you processed: only later ones are delivered. */
  readonly after?: string | undefined;
  /** Where to start without `after`: at the oldest notice that is kept (default), or after the newest. */
  readonly from?: 'oldest' | 'newest' | undefined;
  /** Only notices of these types. */
  readonly types?: readonly NoticeType[] | undefined;
  /** A stream without data for this long is considered dead. The service sends something every 15 s. */
  readonly silenceMs?: number | undefined;
  /** Time for which the service may be unreachable before `follow()` throws. */
  readonly patienceMs?: number | undefined;
  /** Called with the cursor, also when it moves over notices that `types` leaves out. Store it to continue after it. */
  readonly onCursor?: ((id: string) => void) | undefined;
}

/** Everything that happens in the workspace, as numbered notices. */
export class Feed {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Yields notices exactly once and in order, without an end. Reconnects when a connection breaks. Throws
   * `cursor_expired` if notices after the cursor are no longer kept: then read your lists again.
   *
   * @example
   * for await (const notice of convoke.feed.follow({ after: lastId, types: ['run_waiting'] })) {
   *   console.log(notice.run_id, notice.data.interaction_key);
   *   lastId = notice.id;
   * }
   */
  async *follow(options: FollowFeedOptions = {}): AsyncGenerator<NoticeRecord, void, undefined> {
    const { retry } = this.#transport.options;
    const { signal, patienceMs = usualPatienceMs } = options;
    const progress: Progress = {
      cursor: options.after === '' ? undefined : options.after,
      fruitless: 0,
      failingSince: undefined,
    };
    for (;;) {
      const before = progress.cursor;
      let failure: ConvokeError | undefined;
      try {
        yield* this.#oneStream(progress, options);
      } catch (error) {
        if (!isTemporary(error) || signal?.aborted === true) throw error;
        failure = error;
      }
      signal?.throwIfAborted();
      if (progress.cursor !== before) progress.fruitless = 0;
      await pause(pauseBefore(progress, { failure, patienceMs, retry }), signal);
    }
  }

  /** Lists the notices that are kept, oldest first, without waiting. */
  list(query: FeedQuery & CallOptions = {}): Listing<NoticeRecord> {
    return new Listing(this.#transport, { path: '/v1/events', key: 'events' }, query);
  }

  async *#oneStream(
    progress: Progress,
    options: FollowFeedOptions,
  ): AsyncGenerator<NoticeRecord, void, undefined> {
    const { types, from, signal, silenceMs = usualSilenceMs, onCursor } = options;
    const stream = await EventStream.open(this.#transport, {
      method: 'GET',
      path: '/v1/events',
      query: { types, from },
      headers: progress.cursor === undefined ? {} : { 'last-event-id': progress.cursor },
      // `follow` retries on its own, and for longer.
      attempts: 1,
      signal,
    });
    const move = (id: string | undefined) => {
      if (id === undefined || !isAfter(id, progress.cursor)) return false;
      progress.cursor = id;
      progress.failingSince = undefined;
      return true;
    };
    try {
      for await (const message of stream.messages(silenceMs)) {
        const notice = noticeIn(message);
        if (!move(notice.id)) continue;
        yield notice;
        onCursor?.(notice.id);
        signal?.throwIfAborted();
      }
    } finally {
      if (move(stream.lastId) && progress.cursor !== undefined) onCursor?.(progress.cursor);
      stream.close();
    }
  }
}

interface Progress {
  cursor: string | undefined;
  /** Number of consecutive connections without a notice. */
  fruitless: number;
  /** Time of the first of consecutive failures. */
  failingSince: number | undefined;
}

interface Round {
  readonly failure: ConvokeError | undefined;
  readonly patienceMs: number;
  readonly retry: RetryPolicy;
}

/** How long to wait before the next connection. Throws when following has failed for too long. */
function pauseBefore(progress: Progress, { failure, patienceMs, retry }: Round): number {
  progress.fruitless += 1;
  if (failure === undefined) {
    progress.failingSince = undefined;
    return backoffMs(retry, progress.fruitless - 1);
  }
  progress.failingSince ??= performance.now();
  const ms = pauseMs(failure, retry, progress.fruitless - 1);
  if (ms === undefined || performance.now() - progress.failingSince >= patienceMs) throw failure;
  return ms;
}

function noticeIn(message: string): NoticeRecord {
  try {
    const value = JSON.parse(message) as Partial<NoticeRecord> | null;
    if (typeof value?.id === 'string' && typeof value.type === 'string') {
      return value as NoticeRecord;
    }
  } catch {
    // Reported below.
  }
  throw new ConnectionError('The stream is broken. It holds something else than notices.', {
    code: 'stream_broken',
  });
}
