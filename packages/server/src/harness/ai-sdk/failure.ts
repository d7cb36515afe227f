import { APICallError, RetryError } from 'ai';
import type { LegEnd } from '../../ports/harness.ts';
import { errorCode } from '../../runtime/error-code.ts';
import type { AiSdkSettings } from './settings.ts';

const causesMax = 5;

type Failure = Extract<LegEnd, { outcome: 'error' }>;

export function failure(code: Failure['code'], message: string): Failure {
  return { type: 'end', outcome: 'error', code, message };
}

/** The reason a request to the model failed, worded for the caller who started the run. */
export function modelFailure(
  error: unknown,
  { provider, modelId }: Pick<AiSdkSettings, 'provider' | 'modelId'>,
): Failure {
  const cause = causeOf(error);
  if (!APICallError.isInstance(cause)) return failure('model_error', brokenOff(cause, provider));
  const { statusCode } = cause;
  // The response began with success: reading the rest of it failed.
  if (statusCode !== undefined && statusCode < 300)
    return failure('model_error', brokenOff(cause, provider));
  if (statusCode === undefined) return failure('model_error', unreachable(cause, provider));
  const said = cause.message.slice(0, 500);
  switch (statusCode) {
    case 401:
    case 403:
      return failure(
        'model_error',
        `${provider} refused the key of this agent (${statusCode}): check what env.API_KEY refers to.`,
      );
    case 404:
      return failure(
        'model_error',
        `${provider} has no model ${modelId} for this key (404): ${said}`,
      );
    case 429:
      return failure(
        'model_error',
        `${provider} allows no more requests at the moment (429): ${said}`,
      );
    default:
      return failure(
        'model_error',
        statusCode >= 500
          ? `${provider} failed (${statusCode}): ${said}`
          : `${provider} refused the request (${statusCode}): ${said}`,
      );
  }
}

/** The provider rejected the request itself: sending the same messages again would fail again. */
export function isRefusedRequest(error: unknown): boolean {
  const cause = causeOf(error);
  const status = APICallError.isInstance(cause) ? cause.statusCode : undefined;
  return status === 400 || status === 413 || status === 422;
}

/** The conversation exceeds the model's context. Providers have no common code for this, so the message is matched. */
export function isTooLong(error: unknown): boolean {
  const cause = causeOf(error);
  if (!isRefusedRequest(cause) || !(cause instanceof Error)) return false;
  return /context|too long|too large|token(s)? (limit|exceed)|maximum.{0,40}token/i.test(
    cause.message,
  );
}

/** The provider sent nothing for too long. Whether the SDK or the connection timed out depends on the provider. */
export function isSilence(error: unknown): boolean {
  return causes(error).some(
    (cause) =>
      cause.name === 'TimeoutError' ||
      cause.name === 'AbortError' ||
      /^UND_ERR_(BODY|HEADERS)_TIMEOUT$/.test(errorCode(cause) ?? ''),
  );
}

/** After its retries the SDK wraps the last error. */
function causeOf(error: unknown): unknown {
  return RetryError.isInstance(error) ? error.lastError : error;
}

function unreachable(error: APICallError, provider: string): string {
  const host = URL.canParse(error.url) ? new URL(error.url).host : 'its address';
  const code = codeIn(error);
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return brokenOff(error, provider);
  return `${provider} could not be reached at ${host}${code === undefined ? '' : ` (${code})`}.`;
}

function brokenOff(error: unknown, provider: string): string {
  const code = codeIn(error);
  const detail = code === undefined ? '' : ` (${code})`;
  return `The connection to ${provider} broke off before the answer was complete${detail}.`;
}

/** The system's error code, from any of the nested causes; their messages may contain addresses and more. */
function codeIn(error: unknown): string | undefined {
  return causes(error)
    .map(errorCode)
    .find((code) => code !== undefined);
}

function causes(error: unknown): readonly Error[] {
  const found: Error[] = [];
  for (let at = causeOf(error); at instanceof Error && found.length < causesMax; at = at.cause) {
    found.push(at);
  }
  return found;
}

/** How a message ended that was not whole; undefined if it was. */
export function finishOf(reason: string, provider: string): LegEnd | undefined {
  if (reason === 'content-filter') {
    return failure('model_error', `${provider} withheld the answer (content filter).`);
  }
  if (reason === 'error')
    return failure('model_error', `${provider} ended the answer with an error.`);
  return undefined;
}
