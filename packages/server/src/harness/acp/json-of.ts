import type { Json } from '../../domain/json.ts';

/** A member of a message that was parsed from JSON, which the protocol leaves untyped. */
export function jsonOf(value: unknown): Json {
  return value === undefined ? null : (value as Json);
}
