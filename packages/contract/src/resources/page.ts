import { z } from 'zod';
import { limits } from '../limits.ts';

/** D-03: RFC 3339 UTC with milliseconds and `Z`. */
export const timestamp = z
  .string()
  .meta({ format: 'date-time', examples: ['2026-01-15T09:30:00.000Z'] });

/** A moment in a query. */
export const moment = z.iso
  .datetime({ offset: true, error: 'must be a time as in 2026-01-15T00:00:00Z' })
  .meta({ format: 'date-time', examples: ['2026-01-15T00:00:00Z'] });

export const orders = ['asc', 'desc'] as const;
export type Order = (typeof orders)[number];

/** D-71: the parameters of every list. */
export const pageQuery = {
  limit: limitDefaulting(limits.pageDefault),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_.~-]+$/)
    .max(limits.cursorMaxCharacters)
    .meta({ description: '`next_cursor` of the previous page; opaque.' })
    .optional(),
  order: orderDefaulting('desc'),
};

/** A filter that is on or absent: `true` in the address, and for clients the boolean. */
export function onlyTrue(description: string) {
  return z.literal('true').meta({ type: 'boolean', const: true, description }).optional();
}

/** For lists of which callers expect all: by default as many as an organization has tenants. */
export const fullPageQuery = { ...pageQuery, limit: limitDefaulting(limits.pageMax) };

/** For lists that are sorted by name, ascending by default. */
export const namedPageQuery = { ...pageQuery, order: orderDefaulting('asc') };

/** A time in a query, as milliseconds. */
export const timeQuery = z.iso
  .datetime({ offset: true })
  .transform((time) => Date.parse(time))
  .meta({ type: 'string', format: 'date-time', examples: ['2026-01-15T09:30:00Z'] });

/** A query parameter that may be sent several times. */
export function repeatable<Item extends z.ZodType>(item: Item, max: number) {
  return z.array(item).min(1).max(max).optional();
}

/** Whether a query parameter may be sent several times. */
export function isRepeatable(query: z.ZodObject, name: string): boolean {
  const schema: unknown = query.shape[name];
  return schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodArray;
}

/** A field of every list page. */
export const nextCursor = z
  .string()
  .meta({ description: 'Present if there is another page.' })
  .optional();

function orderDefaulting(order: Order) {
  return z.enum(orders).meta({ description: 'Sort direction.' }).default(order);
}

/** How many items a page has, at most. */
export function limitDefaulting(size: number, max: number = limits.pageMax) {
  return z
    .string()
    .refine((text) => isPageSize(text) && Number(text) <= max, {
      error: `must be a whole number from ${limits.pageMin} to ${max}`,
    })
    .transform(Number)
    .meta({
      type: 'integer',
      minimum: limits.pageMin,
      maximum: max,
      description:
        'Maximum number of items in a page. A page of large items ends earlier, at 8 MiB.',
    })
    .default(size);
}

function isPageSize(value: string): boolean {
  if (!/^[0-9]{1,4}$/.test(value)) return false;
  const size = Number(value);
  return size >= limits.pageMin && size <= limits.pageMax;
}
