import type { RunRecord } from './generated/records.ts';
import type { ErrorCode, JsonObject } from './generated/values.ts';

/** Error codes of the SDK, for failures without a code from the service. */
export type ClientCode =
  | 'connection_failed'
  | 'timeout'
  | 'stream_broken'
  | 'invalid_response'
  | 'unexpected_redirect'
  | 'no_workspace'
  | 'ambiguous_workspace'
  | 'run_cancelled'
  | 'run_failed';

export interface ErrorFacts {
  readonly code: ErrorCode | ClientCode | (string & {});
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly body?: JsonObject | undefined;
  readonly cause?: unknown;
}

/**
 * Base class of all errors of the SDK. The subclass is the category, `code` the exact reason.
 *
 * @example
 * try {
 *   await session.run('Continue');
 * } catch (error) {
 *   if (error instanceof ConvokeError && error.code === 'session_stopped') await session.resume();
 *   else throw error;
 * }
 */
export class ConvokeError extends Error {
  override readonly name: string = 'ConvokeError';
  readonly code: ErrorFacts['code'];
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** Identifies the request in the log of the service; include it in a report to the operator. */
  readonly requestId: string | undefined;
  /** Seconds to wait before another attempt, from the service. */
  readonly retryAfter: number | undefined;
  /** The complete response body, for codes with more fields (`secret_already_issued`). */
  readonly body: JsonObject | undefined;
  /** Number of times that the request was sent. */
  attempts = 1;
  /** An earlier attempt got no response and may have taken effect. */
  unsure = false;

  constructor(message: string, facts: ErrorFacts) {
    super(message, { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.body = facts.body;
  }
}

/** 401: the credentials are wrong, expired or revoked. A new token was already tried. */
export class AuthenticationError extends ConvokeError {
  override readonly name: string = 'AuthenticationError';
}

/** 403: no access to this organization, tenant or operation. */
export class PermissionError extends ConvokeError {
  override readonly name: string = 'PermissionError';
}

/** 404: the resource does not exist in the selected tenant, or a capability is disabled. */
export class NotFoundError extends ConvokeError {
  override readonly name: string = 'NotFoundError';
}

/** 409 and 412: the request conflicts with the state of the resource. Read it before you retry. */
export class ConflictError extends ConvokeError {
  override readonly name: string = 'ConflictError';
}

/** 400 and other 4xx: the request is invalid; do not retry it unchanged. */
export class InvalidRequestError extends ConvokeError {
  override readonly name: string = 'InvalidRequestError';
}

/** 429, after the retries: see `retryAfter`. */
export class RateLimitError extends ConvokeError {
  override readonly name: string = 'RateLimitError';
}

/** 5xx, after the retries; also a response that does not match the API. */
export class ServerError extends ConvokeError {
  override readonly name: string = 'ServerError';
}

/** No response: the service could not be reached, or the connection broke. */
export class ConnectionError extends ConvokeError {
  override readonly name: string = 'ConnectionError';
}

/** Thrown by `run.text()` and `run.output()` if the run failed or was cancelled. */
export class RunError extends ConvokeError {
  override readonly name: string = 'RunError';
  readonly run: RunRecord;

  constructor(run: RunRecord) {
    const isCancelled = run.status === 'cancelled';
    super(run.error_message ?? `The run ${run.id} was ${run.status}.`, {
      code: run.error_code ?? (isCancelled ? 'run_cancelled' : 'run_failed'),
    });
    this.run = run;
  }
}

/** Thrown by `run.output()` if the run completed and returned nothing. */
export class NoOutput extends ConvokeError {
  override readonly name: string = 'NoOutput';
  readonly run: RunRecord;

  constructor(run: RunRecord) {
    super(`The run ${run.id} has completed without an output.`, { code: 'no_output' });
    this.run = run;
  }
}

/** Whether a retry may succeed: rate limit, server error or no response. */
export function isTemporary(error: unknown): error is ConvokeError {
  return (
    error instanceof RateLimitError ||
    error instanceof ServerError ||
    error instanceof ConnectionError
  );
}

/** Creates the error of a response; accepts any body. */
export async function errorFrom(response: Response, what: string): Promise<ConvokeError> {
  const { status, headers } = response;
  const body = objectIn(await response.text());
  const code = body?.['error'];
  const message = body?.['message'] ?? body?.['error_description'];
  const requestId = body?.['request_id'] ?? headers.get('x-request-id');
  const said = typeof message === 'string' ? message : `${what} returned ${status}.`;
  return new (familyOf(status))(said, {
    code: typeof code === 'string' ? code : codeOf(status),
    status,
    requestId: typeof requestId === 'string' ? requestId : undefined,
    retryAfter: retryAfterSeconds(headers.get('retry-after')),
    body,
  });
}

const families: Readonly<Record<number, typeof ConvokeError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  429: RateLimitError,
};

function familyOf(status: number): typeof ConvokeError {
  if (status >= 500) return ServerError;
  return families[status] ?? InvalidRequestError;
}

/** For responses that do not come from the service, but from a proxy in front of it. */
function codeOf(status: number): string {
  return status < 400 ? 'unexpected_redirect' : `http_${status}`;
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses Retry-After (RFC 9110): seconds or a date. */
function retryAfterSeconds(value: string | null): number | undefined {
  if (value === null || value === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}
