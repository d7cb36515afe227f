import { type ErrorCode, type Operation, errors, statusOfError } from '@convoke/contract';
import { Refusal } from '../app/refusal.ts';
import { Challenge } from '../auth/challenge.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { Log } from '../ports/log.ts';
import { hasCode } from '../runtime/error-code.ts';
import { HttpRefusal } from './http-refusal.ts';

export interface ErrorReply {
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface FailedRequest {
  readonly requestId: string;
  /** Absent where the request is not one of an operation: an unknown path, the pages of the sign-in. */
  readonly operation?: Operation;
}

/** Seconds after which a client that met storage trouble may try again. */
const storageRetryAfterSeconds = 2;

/** D-70. A refusal is shown to the client; a fault is logged with its cause and answered without detail. */
export function errorReply(error: unknown, request: FailedRequest, log: Log): ErrorReply {
  const refusal = refusalOf(error, request, log);
  const body = {
    error: refusal.code,
    ...(refusal.codeOnly ? {} : { message: refusal.message }),
    ...refusal.details,
    request_id: request.requestId,
  };
  const { code } = refusal;
  return {
    status: statusOf(code, request.operation),
    code,
    headers: headersOf(refusal),
    body: JSON.stringify(body),
  };
}

/** The status that the operation declares for the code; outside operations, the one of the code. */
function statusOf(code: ErrorCode, operation: Operation | undefined): number {
  return operation === undefined ? errors[code].status : statusOfError(operation, code);
}

function headersOf(refusal: Refusal): Record<string, string> {
  const { retryAfterSeconds } = refusal;
  return {
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(refusal instanceof Challenge ? { 'www-authenticate': refusal.challenge } : {}),
    ...(refusal instanceof HttpRefusal ? refusal.headers : {}),
  };
}

function refusalOf(error: unknown, request: FailedRequest, log: Log): Refusal {
  if (error instanceof Refusal) return error;
  const fields = { request_id: request.requestId, operation: request.operation?.id };
  if (error instanceof StorageUnavailable || isOutOfSpace(error)) {
    log.error('storage unavailable', error, fields);
    return new Refusal('storage_unavailable', { retryAfterSeconds: storageRetryAfterSeconds });
  }
  log.error('request failed', error, fields);
  return new Refusal('internal');
}

/** Files are written outside the database; a full disk is the same trouble there. */
function isOutOfSpace(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT');
}
