import { createHmac, timingSafeEqual } from 'node:crypto';
import { refuse } from '../app/refusal.ts';
import type { PageRequest } from '../ports/page.ts';

/**
 * D-71: cursors hold their own state and are sealed with a MAC over the list they belong to, so one from
 * another list, tenant or filter, or one that was edited, is refused.
 */
export interface Cursors {
  read(place: string, query: PageQuery): PageRequest;
  /** Cuts the one item too many that `read` asked for, and says where to go on. */
  cut<Item>(place: string, page: PageRequest, rows: ListedRows<Item>): CutPage<Item>;
}

export interface PageQuery {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly cursor?: string | undefined;
}

export interface ListedRows<Item> {
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  /** There is more than these, however few they are: they were cut by their size. */
  readonly isCut?: boolean;
}

export interface CutPage<Item> {
  readonly items: readonly Item[];
  readonly next: { readonly next_cursor?: string };
}

const macBytes = 16;

export function createCursors(key: Uint8Array): Cursors {
  const seal = (place: string, order: string, after: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([place, order, after]))
      .digest()
      .subarray(0, macBytes);

  function open(place: string, order: string, cursor: string): string {
    const [position = '', mac = ''] = cursor.split('.');
    const after = Buffer.from(position, 'base64url').toString();
    const given = Buffer.from(mac, 'base64url');
    const expected = seal(place, order, after);
    const isOurs = given.length === macBytes && timingSafeEqual(given, expected);
    return isOurs ? after : refuse('invalid_cursor');
  }

  return {
    read(place, { limit, order, cursor }) {
      const after = cursor === undefined ? undefined : open(place, order, cursor);
      return { limit: limit + 1, order, after };
    },

    cut(place, { limit, order }, { items, idOf, isCut = false }) {
      const kept = items.slice(0, limit - 1);
      const last = kept.at(-1);
      if (last === undefined || (items.length < limit && !isCut)) return { items, next: {} };
      const after = idOf(last);
      const position = Buffer.from(after).toString('base64url');
      const mac = seal(place, order, after).toString('base64url');
      return { items: kept, next: { next_cursor: `${position}.${mac}` } };
    },
  };
}
