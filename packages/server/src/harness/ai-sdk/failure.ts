import { APICallError, RetryError } from 'ai';
import type { LegEnd } from '../../ports/harness.ts';
import { errorCode } from '../../runtime/error-code.ts';
import type { AiSdkSettings } from './settings.ts';

const causesMax = 5;

type Failure = Extract<LegEnd, { outcome: 'error' }>;

export function failure(code: Failure['code'], message: string): Failure {
  return { type: 'end', outcome: 'error', code, message };
}

/** Why a request to the model failed, in words for whoever started the run. */
export function modelFailure(
  error: unknown,
  { provider, modelId }: Pick<AiSdkSettings, 'provider' | 'modelId'>,
): Failure {
  const cause = causeOf(error);
  if (!APICallError.isInstance(cause)) return failure('model_error', brokenOff(cause, provider));
  const { statusCode } = cause;
  // The answer began well: what failed is reading the rest of it.
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
      return failure('model_error', `${provider} allows no more requests for now (429): ${said}`);
    default:
      return failure(
        'model_error',
        statusCode >= 500
          ? `${provider} failed (${statusCode}): ${said}`
          : `${provider} refused the request (${statusCode}): ${said}`,
      );
  }
}

/** The request itself was not acceptable: sending the same messages again would fail again. */
export function isRefusedRequest(error: unknown): boolean {
  const cause = causeOf(error);
  const status = APICallError.isInstance(cause) ? cause.statusCode : undefined;
  return status === 400 || status === 413 || status === 422;
}

/** The conversation is longer than the model takes. Providers have no common code for it, only words. */
export function isTooLong(error: unknown): boolean {
  const cause = causeOf(error);
  if (!isRefusedRequest(cause) || !(cause instanceof Error)) return false;
  return /context|too long|too large|token(s)? (limit|exceed)|maximum.{0,40}token/i.test(
    cause.message,
  );
}

/** Nothing came for too long. Who gave up, the SDK or the connection below it, depends on the provider. */
export function isSilence(error: unknown): boolean {
  return causes(error).some(
    (cause) =>
      cause.name === 'TimeoutError' ||
      cause.name === 'AbortError' ||
      /^UND_ERR_(BODY|HEADERS)_TIMEOUT$/.test(errorCode(cause) ?? ''),
  );
}

/** After its retries the SDK wraps what the last of them met. */
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

/** The system's code, which may lie some causes down; the messages there can hold addresses and more. */
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
