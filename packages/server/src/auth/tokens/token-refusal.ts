import { type ErrorCode, errors } from '@convoke/contract';
import { refuse } from '../../app/refusal.ts';
import { Challenge } from './challenge.ts';

const basicChallenge = 'Basic realm="convoke", charset="UTF-8"';

type TokenErrorCode = Extract<
  ErrorCode,
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'rate_limited'
>;

/** Refuses a token request with the members of RFC 6749 section 5.2 beside those of every other error (D-70). */
export function refuseToken(
  code: TokenErrorCode,
  message: string = errors[code].message,
  retryAfterSeconds?: number,
): never {
  const options = { message, retryAfterSeconds, details: { error_description: message } };
  if (code !== 'invalid_client') return refuse(code, options);
  throw new Challenge(code, { ...options, challenge: basicChallenge });
}
