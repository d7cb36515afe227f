import type { ErrorCode, Operation } from '@convoke/contract';
import { Refusal } from '../app/refusal.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { Log } from '../ports/log.ts';
import { hasCode } from '../runtime/error-code.ts';

export interface ErrorReply {
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface FailedRequest {
  readonly requestId: string;
  readonly operation?: Operation;
}

/** Seconds after which a client that met storage trouble may try again. */
const storageRetryAfterSeconds = '2';

/** D-70. A refusal is told; a fault is logged with its cause and answered without detail. */
export function errorReply(error: unknown, request: FailedRequest, log: Log): ErrorReply {
  const refusal = refusalOf(error, request, log);
  const body = {
    error: refusal.code,
    ...(refusal.codeOnly ? {} : { message: refusal.message }),
    ...refusal.details,
    request_id: request.requestId,
  };
  const { status, code, headers } = refusal;
  return { status, code, headers, body: JSON.stringify(body) };
}

function refusalOf(error: unknown, request: FailedRequest, log: Log): Refusal {
  if (error instanceof Refusal) return error;
  const fields = { request_id: request.requestId, operation: request.operation?.id };
  if (error instanceof StorageUnavailable || isOutOfSpace(error)) {
    log.error('storage unavailable', error, fields);
    return new Refusal('storage_unavailable', {
      headers: { 'retry-after': storageRetryAfterSeconds },
    });
  }
  log.error('request failed', error, fields);
  return new Refusal('internal');
}

/** Files are written outside the database; a full disk is the same trouble there. */
function isOutOfSpace(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT');
}
