import type { Operation } from '@convoke/contract';
import { z } from 'zod';

/**
 * Returns the fields of a JSON body that are arrays, with the most elements that each may have. The server compares
 * them first: a schema checks every element before it finds that there are too many.
 */
export function arrayFields({ body }: Operation): ReadonlyMap<string, number> {
  const shape = body instanceof z.ZodObject ? body.shape : {};
  return new Map(
    Object.entries(shape).flatMap(([name, field]) => {
      const array = unwrapped(field);
      return array instanceof z.ZodArray ? [[name, maxLengthOf(array)]] : [];
    }),
  );
}

function unwrapped(schema: unknown): unknown {
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  if (isWrapper || schema instanceof z.ZodDefault) return unwrapped(schema.unwrap());
  return schema;
}

function maxLengthOf({ def }: z.ZodArray): number {
  const bounds = (def.checks ?? []).map(({ _zod: { def: check } }) =>
    check.check === 'max_length' && 'maximum' in check ? Number(check.maximum) : Infinity,
  );
  return Math.min(Infinity, ...bounds);
}
