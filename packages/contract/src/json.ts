import { z } from 'zod';

/** A value that JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object whose members nobody declared here: an agent's input, a tool's input, an event's payload. */
export type JsonObject = { readonly [member: string]: Json | undefined };

/**
 * Accepts every value, because what reaches it came out of a JSON parser already: walking a large
 * tool input once more to prove that it is JSON would cost time and find nothing.
 */
export const jsonValue = z.custom<Json>(() => true);

export const jsonObject = z.custom<JsonObject>(isPlainObject, { error: 'must be an object' }).meta({
  type: 'object',
});

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
