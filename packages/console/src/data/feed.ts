import type { NoticeRecord } from '@convoke/sdk';

export type FeedState = 'connecting' | 'live' | 'reconnecting';

/** The parts of the browser and the API that the feed uses; tests pass their own. */
export interface FeedParts {
  /** Runs `hold` in the one tab that has the lock; waits its turn in the others. */
  readonly lock: (hold: () => Promise<void>, signal: AbortSignal) => Promise<void>;
  readonly channel: FeedChannel;
  /**
   * One connection: yields notices after `after`, or from now on. Returns or throws when it breaks. `onOpen` is called
   * when the server has accepted it.
   */
  readonly connect: (
    after: string | undefined,
    options: {
      readonly signal: AbortSignal;
      readonly onOpen: () => void;
      /** How far the connection got, also over notices that were not sent. */
      readonly onCursor: (id: string) => void;
    },
  ) => AsyncIterable<NoticeRecord>;
  /** Waits before the next connection; the count is that of failures in a row. */
  readonly pause: (failures: number, signal: AbortSignal) => Promise<void>;
  /** The cursor is too old or unknown: everything must be read again. */
  readonly isCursorLost: (error: unknown) => boolean;
  /** No retry helps: signed out, or without the right. */
  readonly isFinal: (error: unknown) => boolean;
}

export interface FeedChannel {
  post(message: FeedMessage): void;
  listen(receive: (message: FeedMessage) => void): () => void;
}

export type FeedMessage =
  | { readonly kind: 'notice'; readonly notice: NoticeRecord }
  | { readonly kind: 'state'; readonly state: FeedState }
  | { readonly kind: 'lost' }
  | { readonly kind: 'access' }
  | { readonly kind: 'hello' };

export interface FeedListener {
  readonly onNotice: (notice: NoticeRecord) => void;
  readonly onState: (state: FeedState) => void;
  /** Notices may have been missed: read the lists again. */
  readonly onLost: () => void;
  /** A connection was opened again, or refused: what the person may do may have changed. */
  readonly onAccess: () => void;
}

/**
 * Follows the tenant's feed in one tab for all (six connections per origin must last for every tab). The tab with the
 * lock reads and tells the others; when it closes, the next one continues after the last notice that it saw. Resolves
 * when the signal is aborted or no retry helps.
 */
export async function followFeed(
  parts: FeedParts,
  listener: FeedListener,
  signal: AbortSignal,
): Promise<void> {
  const tab = new FeedTab(parts, listener);
  const leave = parts.channel.listen((message) => tab.receive(message));
  parts.channel.post({ kind: 'hello' });
  try {
    await parts.lock(() => tab.lead(signal), signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    leave();
  }
}

class FeedTab {
  readonly #parts: FeedParts;
  readonly #listener: FeedListener;
  #cursor: string | undefined;
  #state: FeedState = 'connecting';
  #isLeading = false;

  constructor(parts: FeedParts, listener: FeedListener) {
    this.#parts = parts;
    this.#listener = listener;
  }

  receive(message: FeedMessage): void {
    if (message.kind === 'hello') {
      if (this.#isLeading) this.#parts.channel.post({ kind: 'state', state: this.#state });
    } else if (message.kind === 'notice') this.#deliver(message.notice);
    else if (message.kind === 'state') this.#change(message.state);
    else if (message.kind === 'access') this.#listener.onAccess();
    else {
      this.#cursor = undefined;
      this.#listener.onLost();
    }
  }

  async lead(signal: AbortSignal): Promise<void> {
    this.#isLeading = true;
    let failures = 0;
    let isOpened = false;
    while (!signal.aborted) {
      try {
        const onOpen = () => {
          failures = 0;
          this.#tell({ kind: 'state', state: 'live' });
          if (isOpened) this.#tell({ kind: 'access' });
          isOpened = true;
        };
        const onCursor = (id: string) => {
          if (this.#cursor === undefined || id > this.#cursor) this.#cursor = id;
        };
        const options = { signal, onOpen, onCursor };
        for await (const notice of this.#parts.connect(this.#cursor, options)) {
          this.#tell({ kind: 'notice', notice });
        }
      } catch (error) {
        if (signal.aborted) return;
        if (this.#parts.isFinal(error)) return this.#tell({ kind: 'access' });
        if (this.#parts.isCursorLost(error)) this.#tell({ kind: 'lost' });
      }
      if (signal.aborted) return;
      failures += 1;
      this.#tell({ kind: 'state', state: 'reconnecting' });
      await this.#parts.pause(failures, signal);
    }
  }

  #tell(message: FeedMessage): void {
    this.receive(message);
    this.#parts.channel.post(message);
  }

  /** A tab that takes over may read notices again that the last tab has already passed on. */
  #deliver(notice: NoticeRecord): void {
    if (this.#cursor !== undefined && notice.id <= this.#cursor) return;
    this.#cursor = notice.id;
    this.#listener.onNotice(notice);
  }

  #change(state: FeedState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#listener.onState(state);
  }
}
