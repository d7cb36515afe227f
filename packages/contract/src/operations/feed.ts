import { z } from 'zod';
import { eventNames } from '../events/envelope.ts';
import { notice, noticeList, noticeTypeNames } from '../events/notice.ts';
import { defineOperation } from '../operation.ts';
import { pageQuery, repeatable } from '../resources/page.ts';

/** Where a reader starts that sends no Last-Event-ID. */
const feedStarts = ['oldest', 'newest'] as const;

export const followTenantEvents = defineOperation({
  id: 'follow_tenant_events',
  method: 'GET',
  path: '/v1/events',
  tag: 'Feed',
  summary: 'Follow everything that happens in the tenant',
  description:
    'An endless stream of server-sent events: one notice for each change of a run or a session, numbered without ' +
    'gaps. It closes from time to time: reconnect with `Last-Event-ID`. `types` selects notices; those left out move ' +
    'the cursor by a comment frame with an `id:`. With `Accept: application/json` the response is one page.',
  caller: 'automation',
  scope: ['runs:read', 'interactions:read'],
  query: z.strictObject({
    types: repeatable(z.enum(noticeTypeNames), noticeTypeNames.length).meta({
      description: 'Notices of these types (default: all). Repeat the parameter for several.',
    }),
    from: z
      .enum(feedStarts)
      .meta({
        description:
          'Where to start without Last-Event-ID: at the oldest notice available, or after the newest. ' +
          'The id of the newest comes first, in a comment frame or as `last_event_id`.',
      })
      .default('oldest'),
    limit: pageQuery.limit,
    cursor: pageQuery.cursor,
    event_names: eventNames,
  }),
  headers: {
    'last-event-id': z
      .string()
      .meta({ description: 'Start after this notice. An empty value is the same as no header.' })
      .optional(),
  },
  responses: {
    200: {
      description: 'Notices in the order of their numbers.',
      schema: noticeList,
      stream: notice,
      headers: { 'Cache-Control': '`no-cache, no-transform` on a stream.' },
    },
  },
  errors: ['invalid_last_event_id', 'cursor_expired', 'not_acceptable', 'not_ready'],
});
