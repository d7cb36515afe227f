import { type ErrorCode, errors } from '@convoke/contract';
import { refuse } from '../app/refusal.ts';

/** Nothing that the token endpoint says may be kept by anyone on the way (RFC 6749 section 5.1). */
export const tokenHeaders = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;

const basicChallenge = { 'www-authenticate': 'Basic realm="convoke", charset="UTF-8"' } as const;

type TokenErrorCode = Extract<
  ErrorCode,
  'invalid_request' | 'invalid_client' | 'unsupported_grant_type' | 'invalid_scope' | 'rate_limited'
>;

/** An error in the words of RFC 6749 section 5.2, beside those of every other error (D-70). */
export function refuseToken(
  code: TokenErrorCode,
  message: string = errors[code].message,
  headers: Readonly<Record<string, string>> = {},
): never {
  const challenge = code === 'invalid_client' ? basicChallenge : {};
  return refuse(code, {
    message,
    headers: { ...tokenHeaders, ...challenge, ...headers },
    details: { error_description: message },
  });
}
