/** A value that JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object with undeclared members: input of a tool, payload of an event. */
export type JsonObject = { readonly [member: string]: Json | undefined };

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
