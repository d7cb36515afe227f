import type { Json } from '../../domain/json.ts';

/** Types a member of a parsed JSON message that the protocol leaves untyped. */
export function jsonOf(value: unknown): Json {
  return value === undefined ? null : (value as Json);
}
