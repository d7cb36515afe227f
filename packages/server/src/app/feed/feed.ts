import { type TenantId, formatNoticeId, parseNoticeId } from '@convoke/contract';
import type { Notice } from '../../domain/notice.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { FeedBounds } from '../../ports/repositories/delivery/feeds.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { type LogBatch, type LogReader, SharedTails } from '../shared-tails.ts';

export interface FeedStart {
  /** Undefined or empty: start at `from`. */
  readonly lastEventId: string | undefined;
  readonly from: 'oldest' | 'newest';
}

/** D-113: the number after which a reader starts. Refuses a cursor whose next notice is not in the feed. */
export async function feedPosition(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  { lastEventId, from }: FeedStart,
): Promise<number> {
  const bounds = await store.read.feeds.bounds(scope);
  if (lastEventId === undefined || lastEventId === '') {
    return from === 'newest' ? bounds.lastSeq : bounds.oldestSeq - 1;
  }
  const seq = parseNoticeId(lastEventId);
  if (seq === undefined || seq > bounds.lastSeq) {
    const newest =
      bounds.lastSeq === 0 ? 'it is empty' : `its newest is ${formatNoticeId(bounds.lastSeq)}`;
    return refuse('invalid_last_event_id', {
      message: `Last-Event-ID is not a notice of this feed; ${newest}.`,
    });
  }
  return isKept(seq, bounds) ? seq : refuseExpired(bounds);
}

function isKept(after: number, { oldestSeq }: FeedBounds): boolean {
  return after >= oldestSeq - 1;
}

function refuseExpired({ oldestSeq }: FeedBounds): never {
  const oldest = formatNoticeId(oldestSeq);
  return refuse('cursor_expired', {
    message: `Notices after this cursor are no longer kept. The oldest is ${oldest}.`,
    details: { oldest_id: oldest },
  });
}

/** Notices looked at for one page. */
const lookedAtMax = 5_000;
const noticesPerRead = 500;

export interface NoticePage {
  readonly notices: readonly Notice[];
  /** The number up to which the feed was looked at. */
  readonly lookedTo: number;
  /** True when there may be more. */
  readonly isCut: boolean;
}

/** Reads notices of some types, in order. */
export async function readFeed(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  range: { readonly after: number; readonly limit: number; readonly isWanted: NoticeFilter },
): Promise<NoticePage> {
  const notices: Notice[] = [];
  let lookedTo = range.after;
  for (let looked = 0; looked < lookedAtMax; looked += noticesPerRead) {
    const read = await store.read.feeds.after(scope, lookedTo, noticesPerRead);
    if (read[0] !== undefined && read[0].seq !== lookedTo + 1) {
      return refuseExpired(await store.read.feeds.bounds(scope));
    }
    for (const notice of read) {
      lookedTo = notice.seq;
      if (!range.isWanted(notice)) continue;
      notices.push(notice);
      if (notices.length === range.limit) return { notices, lookedTo, isCut: true };
    }
    if (read.length < noticesPerRead) return { notices, lookedTo, isCut: false };
  }
  return { notices, lookedTo, isCut: true };
}

export type NoticeFilter = (notice: Notice) => boolean;

export interface NoticeBatch extends LogBatch {
  readonly notices: readonly Notice[];
}

/** As for the events of a run: what a reader that does not read makes the server hold. */
const batchBounds = { limit: 200, maxBytes: 128 * 1024 };

/** Follows the feeds of tenants; readers that have caught up share one tail per tenant. */
export class FeedFollower {
  readonly #services: Pick<Services, 'store'>;
  readonly #tails: SharedTails<TenantId, NoticeBatch>;

  constructor(services: Pick<Services, 'store' | 'fanout' | 'clock' | 'log' | 'metrics'>) {
    this.#services = services;
    this.#tails = new SharedTails(services, {
      topicOf: (tenantId) => `feed:${tenantId}`,
      lastSeqs: (tenantIds) => services.store.read.feeds.lastSeqs(tenantIds),
    });
  }

  follow(
    scope: TenantScope,
    reader: Pick<LogReader<TenantId, NoticeBatch>, 'after' | 'take' | 'signal'>,
  ): Promise<void> {
    const read = (at: number) => this.#batch(scope, at);
    return this.#tails.follow({ ...reader, key: scope.tenantId, read });
  }

  async #batch(scope: TenantScope, after: number): Promise<NoticeBatch | undefined> {
    const read = await this.#services.store.read.feeds.after(scope, after, batchBounds.limit);
    const [first] = read;
    if (first === undefined) return undefined;
    // The next notice is no longer kept: the stream ends, and the reader learns why when it connects again.
    if (first.seq !== after + 1) {
      return { after, lastSeq: after, notices: [], ended: true, isCut: false };
    }
    const notices = fitting(read);
    return {
      after,
      lastSeq: after + notices.length,
      notices,
      ended: false,
      isCut: notices.length < read.length || read.length === batchBounds.limit,
    };
  }
}

function fitting(notices: readonly Notice[]): readonly Notice[] {
  let bytes = 0;
  const end = notices.findIndex(({ body }, index) => {
    bytes += Buffer.byteLength(body);
    return index > 0 && bytes > batchBounds.maxBytes;
  });
  return end === -1 ? notices : notices.slice(0, end);
}
