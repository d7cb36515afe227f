import { createHmac, timingSafeEqual } from 'node:crypto';
import { refuse } from '../app/refusal.ts';
import type { PageRequest } from '../ports/page.ts';

/**
 * Reads pages of lists (D-71). A cursor holds its own position and a MAC over the list it belongs to, so one that was
 * edited, or issued for another list, tenant or filter, is refused.
 */
export interface Cursors {
  /** `list` names the list with its tenant and filter: cursors are valid for that list only. */
  page<Item>(list: string, query: PageQuery, source: PageSource<Item>): Promise<Page<Item>>;
}

export interface PageQuery {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly cursor?: string | undefined;
}

export interface PageSource<Item> {
  readonly read: (page: PageRequest) => Promise<Rows<Item>> | Rows<Item>;
  readonly idOf: (item: Item) => string;
}

type Rows<Item> =
  | readonly Item[]
  | {
      readonly items: readonly Item[];
      /** There may be more rows, even if these are fewer than asked for: a bound on bytes or on work ended the page. */
      readonly isCut: boolean;
      /** Id of the last row that was looked at, if not the last item. */
      readonly lookedTo?: string | undefined;
    };

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: { readonly next_cursor?: string };
}

const macBytes = 16;

export function createCursors(key: Uint8Array): Cursors {
  const macOf = (list: string, order: string, after: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([list, order, after]))
      .digest()
      .subarray(0, macBytes);

  function open(list: string, { order, cursor }: PageQuery): string | undefined {
    if (cursor === undefined) return undefined;
    const [position = '', mac = ''] = cursor.split('.');
    const after = Buffer.from(position, 'base64url').toString();
    const given = Buffer.from(mac, 'base64url');
    const expected = macOf(list, order, after);
    const isOurs = given.length === macBytes && timingSafeEqual(given, expected);
    return isOurs ? after : refuse('invalid_cursor');
  }

  function seal(list: string, { order }: PageQuery, after: string): string {
    const position = Buffer.from(after).toString('base64url');
    return `${position}.${macOf(list, order, after).toString('base64url')}`;
  }

  return {
    async page(list, query, { read, idOf }) {
      const { limit, order } = query;
      // One row more than asked for shows whether another page follows.
      const rows = await read({ limit: limit + 1, order, after: open(list, query) });
      const { items, isCut, lookedTo } = 'isCut' in rows ? rows : { items: rows, isCut: false };
      const kept = items.slice(0, limit);
      const last = kept.at(-1);
      const isFull = items.length > limit;
      const after = isFull || lookedTo === undefined ? last && idOf(last) : lookedTo;
      if (after === undefined || (!isFull && !isCut)) return { items: kept, next: {} };
      return { items: kept, next: { next_cursor: seal(list, query, after) } };
    },
  };
}
