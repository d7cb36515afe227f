import type { ServerResponse } from 'node:http';

export interface JsonAnswer {
  readonly status: number;
  /** Undefined for an empty body. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Writes a whole response. The answer's own headers win over `headers`. */
export function writeJson(
  response: ServerResponse,
  answer: JsonAnswer,
  headers: Readonly<Record<string, string>>,
): void {
  const hasBody = answer.body !== undefined;
  const payload = hasBody ? JSON.stringify(answer.body) : '';
  response.writeHead(answer.status, {
    ...headers,
    ...(hasBody ? { 'content-type': 'application/json; charset=utf-8' } : {}),
    // RFC 9110 section 8.6: a 204 has no length.
    ...(answer.status === 204 ? {} : { 'content-length': String(Buffer.byteLength(payload)) }),
    ...answer.headers,
  });
  response.end(payload);
}
