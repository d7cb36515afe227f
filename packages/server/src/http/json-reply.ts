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
  const sent: Record<string, string> = { ...headers };
  if (hasBody) sent['content-type'] = 'application/json; charset=utf-8';
  // RFC 9110 section 8.6: a 204 has no length.
  if (answer.status !== 204) sent['content-length'] = String(Buffer.byteLength(payload));
  response.writeHead(answer.status, Object.assign(sent, answer.headers));
  response.end(payload);
}
