import { type Notice, type NoticeType, formatNoticeId } from '@convoke/contract';
import {
  type FeedFollower,
  type NoticeBatch,
  type NoticeFilter,
  feedPosition,
  readFeed,
} from '../../app/feed/feed.ts';
import type { Services } from '../../app/services.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { Cursors, PageQuery } from '../cursors.ts';
import type { EventStreams, StreamReader } from '../streams/event-streams.ts';
import { type NoticeForm, renderNotices } from '../streams/feed-frames.ts';
import type { Handlers } from '../handler.ts';
import { chooseMedia } from '../media.ts';

export interface FeedRouteParts {
  readonly cursors: Cursors;
  readonly feedFollower: FeedFollower;
  readonly streams: EventStreams;
}

export function feedRoutes(
  services: Pick<Services, 'store'>,
  { cursors, feedFollower, streams }: FeedRouteParts,
): Handlers<'follow_tenant_events'> {
  return {
    async follow_tenant_events({ caller, query, headers, request }) {
      const { scope } = caller;
      const media = chooseMedia(request.raw.headers.accept, [
        'text/event-stream',
        'application/json',
      ]);
      const start = { lastEventId: headers['last-event-id'], from: query.from };
      const after = await feedPosition(services, scope, start);
      if (media === 'application/json') {
        const body = await readNoticePage(services, scope, { cursors, query, after });
        return { status: 200, body };
      }
      // A reader that starts at the newest learns its cursor at once.
      const isOpening = query.from === 'newest' && (headers['last-event-id'] ?? '') === '';
      const form = { types: query.types, names: query.event_names };
      return {
        write: (response, base) =>
          streams.send(response, {
            caller,
            headers: base,
            follow: (reader) => followFeed(feedFollower, scope, { after, form, isOpening, reader }),
          }),
      };
    },
  };
}

interface FollowFeed {
  readonly after: number;
  readonly form: NoticeForm;
  /** Whether the reader gets its cursor first. */
  readonly isOpening: boolean;
  readonly reader: StreamReader;
}

async function followFeed(
  follower: FeedFollower,
  scope: TenantScope,
  { after, form, isOpening, reader }: FollowFeed,
): Promise<void> {
  const take = (batch: NoticeBatch) =>
    reader.take({ ...batch, rendered: renderNotices(batch, form) });
  const here = { after, lastSeq: after, notices: [], ended: false, isCut: false };
  const busy = isOpening ? take(here) : undefined;
  if (busy !== undefined && !(await busy)) return;
  await follower.follow(scope, { after, take, signal: reader.signal });
}

interface NoticePageRequest {
  readonly cursors: Cursors;
  readonly after: number;
  readonly query: Omit<PageQuery, 'order'> & { readonly types?: readonly NoticeType[] | undefined };
}

/** Reads notices as JSON, from the cursor of the query or after the given number. */
async function readNoticePage(
  services: Pick<Services, 'store'>,
  scope: TenantScope,
  { cursors, query, after }: NoticePageRequest,
): Promise<{ events: Notice[]; last_event_id?: string; next_cursor?: string }> {
  const { types } = query;
  const isWanted: NoticeFilter = ({ type }) => types === undefined || types.includes(type);
  const list = `notices:${scope.tenantId}:${types?.toSorted().join() ?? ''}`;
  let reached = after;
  const { items, next } = await cursors.page(
    list,
    { ...query, order: 'asc' },
    {
      async read(page) {
        const from = page.after === undefined ? after : Number(page.after);
        const range = { after: from, limit: page.limit, isWanted };
        const { notices, lookedTo, isCut } = await readFeed(services, scope, range);
        reached = lookedTo;
        return { items: notices, isCut, lookedTo: String(lookedTo) };
      },
      idOf: (notice) => String(notice.seq),
    },
  );
  // With another page to come, the cursor ends with the last item of this one.
  const last = next.next_cursor === undefined ? reached : (items.at(-1)?.seq ?? reached);
  return {
    events: items.map(({ body }) => JSON.parse(body) as Notice),
    ...(last === 0 ? {} : { last_event_id: formatNoticeId(last) }),
    ...next,
  };
}
