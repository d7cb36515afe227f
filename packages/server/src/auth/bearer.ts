import { Challenge } from './challenge.ts';

/** As much of a request as the gate looks at. Header names are in lower case. */
export interface GateRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Names and values in turn, as they were sent: the only place where a repeated header shows. */
  readonly rawHeaders: readonly string[];
}

const headerName = 'authorization';
const bearerPattern = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** The token of `Authorization: Bearer`, or a 401 that asks for one. Nowhere else is a token looked for. */
export function bearerToken(request: GateRequest): string {
  const header = request.headers[headerName];
  if (header === undefined || header === '') return unauthorized('absent');
  if (isSentTwice(request.rawHeaders)) return unauthorized('invalid');
  const token = typeof header === 'string' ? bearerPattern.exec(header)?.[1] : undefined;
  return token ?? unauthorized('invalid');
}

/** Node keeps the first of two; a proxy in front may have looked at the other one. */
function isSentTwice(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === headerName.length && name.toLowerCase() === headerName) count += 1;
  }
  return count > 1;
}

/** RFC 6750 section 3.1: an error is named only when a token was sent. */
export function unauthorized(token: 'absent' | 'invalid'): never {
  const challenge =
    token === 'absent' ? 'Bearer realm="convoke"' : 'Bearer realm="convoke", error="invalid_token"';
  throw new Challenge('unauthorized', { codeOnly: true, challenge });
}
