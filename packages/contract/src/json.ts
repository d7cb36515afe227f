import { z } from 'zod';

/** A value that JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object with undeclared members: input of an agent or a tool, payload of an event. */
export type JsonObject = { readonly [member: string]: Json | undefined };

/**
 * Accepts every value: the values come from a JSON parser, so checking a large tool input again would
 * cost time and find nothing.
 */
export const jsonValue = z.custom<Json>(() => true);

export const jsonObject = z.custom<JsonObject>(isPlainObject, { error: 'must be an object' }).meta({
  type: 'object',
  additionalProperties: true,
});

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
