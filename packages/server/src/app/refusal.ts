import { type ErrorCode, type JsonObject, errors } from '@convoke/contract';
import type { Ruling } from '../domain/refusal.ts';
import type { Issue } from '../domain/run/value-schema.ts';

export interface RefusalOptions {
  /** For a person: what was wrong and what to do about it. Default: the text of the code. */
  readonly message?: string | undefined;
  /** When the client may try again. */
  readonly retryAfterSeconds?: number | undefined;
  /** Members beside `error` and `message`. */
  readonly details?: JsonObject;
  /** The gate reveals no more than the code (spec §5.4). */
  readonly codeOnly?: boolean;
}

/**
 * The only error whose code and text reach a client. Anything else thrown is a fault: logged, and answered without
 * detail.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly details: JsonObject;
  readonly codeOnly: boolean;

  constructor(code: ErrorCode, options: RefusalOptions = {}) {
    super(options.message ?? errors[code].message);
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.details = options.details ?? {};
    this.codeOnly = options.codeOnly ?? false;
  }
}

export function refuse(code: ErrorCode, options?: RefusalOptions): never {
  throw new Refusal(code, options);
}

function asJson({ pointer, message }: Issue): JsonObject {
  return { pointer, message };
}

/** Returns the value of a ruling, or throws its refusal. */
export function orRefuse<T>(ruling: Ruling<T>): T {
  if (ruling.ok) return ruling.value;
  const { code, message, issues } = ruling;
  return refuse(code, { message, ...(issues && { details: { issues: issues.map(asJson) } }) });
}
