import { z } from 'zod';
import { limits } from '../limits.ts';

/** D-03: RFC 3339 UTC with milliseconds and `Z`. */
export const timestamp = z
  .string()
  .meta({ format: 'date-time', examples: ['2026-01-15T09:30:00.000Z'] });

export const orders = ['asc', 'desc'] as const;
export type Order = (typeof orders)[number];

/** D-71: the parameters of every list. */
export const pageQuery = {
  limit: z
    .string()
    .refine(isPageSize, {
      error: `must be a whole number from ${limits.pageMin} to ${limits.pageMax}`,
    })
    .transform(Number)
    .meta({
      type: 'integer',
      minimum: limits.pageMin,
      maximum: limits.pageMax,
      description: 'Maximum number of items in a page.',
    })
    .default(limits.pageDefault),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_.~-]+$/)
    .max(limits.cursorMaxCharacters)
    .meta({ description: '`next_cursor` of the previous page; opaque.' })
    .optional(),
  order: orderDefaulting('desc'),
};

/** For lists that are sorted by name, ascending by default. */
export const namedPageQuery = { ...pageQuery, order: orderDefaulting('asc') };

/** A field of every list page. */
export const nextCursor = z
  .string()
  .meta({ description: 'Present if there is another page.' })
  .optional();

function orderDefaulting(order: Order) {
  return z.enum(orders).meta({ description: 'Sort direction.' }).default(order);
}

function isPageSize(value: string): boolean {
  if (!/^[0-9]{1,4}$/.test(value)) return false;
  const size = Number(value);
  return size >= limits.pageMin && size <= limits.pageMax;
}
