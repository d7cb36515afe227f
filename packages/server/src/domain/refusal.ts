import type { ErrorCode } from '@convoke/contract';
import type { Issue } from './run/value-schema.ts';

/** Result of a domain rule: a value, or the error code of a refusal. Rules never throw. */
export type Ruling<T> = { readonly ok: true; readonly value: T } | Refused;
export interface Refused {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message?: string;
  /** Where an input does not fit (D-564). */
  readonly issues?: readonly Issue[];
}

export function accepted<T>(value: T): Ruling<T> {
  return { ok: true, value };
}

export function refused(code: ErrorCode, message?: string): Refused {
  return message === undefined ? { ok: false, code } : { ok: false, code, message };
}
