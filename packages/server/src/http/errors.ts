import {
  type ErrorCode,
  type JsonObject,
  type Operation,
  errors,
  pathParams,
  statusOfError,
} from '@convoke/contract';
import { Refusal } from '../app/refusal.ts';
import { Challenge } from '../auth/tokens/challenge.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { Log } from '../ports/log.ts';
import { hasCode } from '../runtime/error-code.ts';
import { HttpRefusal } from './http-refusal.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject & { readonly error: ErrorCode };
}

export interface FailedRequest {
  readonly requestId: string;
  /** Absent for requests outside operations: unknown paths, metrics, sign-in pages. */
  readonly operation?: Operation;
}

const storageRetryAfterSeconds = 2;

/** D-70. A refusal is shown to the client; a fault is logged with its cause and answered without detail. */
export function errorAnswer(error: unknown, request: FailedRequest, log: Log): ErrorAnswer {
  const refusal = refusalOf(error, request, log);
  return {
    status: statusOf(refusal.code, request.operation),
    headers: headersOf(refusal),
    body: {
      error: refusal.code,
      ...(refusal.codeOnly ? {} : { message: messageOf(refusal, request.operation) }),
      ...refusal.details,
      request_id: request.requestId,
    },
  };
}

/**
 * Names the kind of thing that the path asks for. The text depends on the operation only, so a missing id, a malformed
 * one and one of another tenant look alike (D-53).
 */
function messageOf({ code, message }: Refusal, operation: Operation | undefined): string {
  if (message !== errors.not_found.message || code !== 'not_found') return message;
  // The gate answers for organizations: 403.
  const names = pathParams(operation?.path ?? '').filter((name) => name !== 'organization_id');
  const things = names.map((name) => name.replace(/_(id|key|name|token)$/, '')).join(' or ');
  return things === '' ? message : `${things.charAt(0).toUpperCase()}${things.slice(1)} not found.`;
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

/** Files are written outside the database; a full disk fails them in the same way. */
function isOutOfSpace(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT');
}
