import { Challenge } from './challenge.ts';
import { timesSent } from '../repeated-headers.ts';

/** The part of a request that the gate reads. Header names are in lower case. */
export interface GateRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Alternating names and values, as sent: only here is a repeated header visible. */
  readonly rawHeaders: readonly string[];
}

const headerName = 'authorization';
const bearerPattern = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Returns the token of `Authorization: Bearer`, or throws a 401 challenge. No other place may carry a token. */
export function bearerToken(request: GateRequest): string {
  const header = request.headers[headerName];
  if (header === undefined || header === '') return unauthorized('absent');
  if (timesSent(request.rawHeaders, headerName) > 1) return unauthorized('invalid');
  const token = typeof header === 'string' ? bearerPattern.exec(header)?.[1] : undefined;
  return token ?? unauthorized('invalid');
}

/** RFC 6750 section 3.1: the challenge names an error only when a token was sent. */
export function unauthorized(token: 'absent' | 'invalid'): never {
  const challenge =
    token === 'absent' ? 'Bearer realm="convoke"' : 'Bearer realm="convoke", error="invalid_token"';
  throw new Challenge('unauthorized', { codeOnly: true, challenge });
}
