import { type ErrorCode, type JsonObject, errors } from '@convoke/contract';
import type { Ruling } from '../domain/refusal.ts';

export interface RefusalOptions {
  /** What was wrong and what to do, for a person. The code's own text when absent. */
  readonly message?: string | undefined;
  /** Where an operation declares another status for the code, as create-session does for `session_terminal`. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members beside `error` and `message`. */
  readonly details?: JsonObject;
  /** The gate tells no more than the code (spec §5.4). */
  readonly codeOnly?: boolean;
}

/** The one error a client may see. Anything else thrown is a fault: logged, and answered 500 without detail. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: JsonObject;
  readonly codeOnly: boolean;

  constructor(code: ErrorCode, options: RefusalOptions = {}) {
    super(options.message ?? errors[code].message);
    this.code = code;
    this.status = options.status ?? errors[code].status;
    this.headers = options.headers ?? {};
    this.details = options.details ?? {};
    this.codeOnly = options.codeOnly ?? false;
  }
}

export function refuse(code: ErrorCode, options?: RefusalOptions): never {
  throw new Refusal(code, options);
}

/** Turns a rule's answer into its value, or into the refusal a client sees. */
export function orRefuse<T>(ruling: Ruling<T>): T {
  if (ruling.ok) return ruling.value;
  return refuse(ruling.code, { message: ruling.message });
}
