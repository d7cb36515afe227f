import type { ServerResponse } from 'node:http';

export interface JsonAnswer {
  readonly status: number;
  /** Undefined for an empty body. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Writes a whole response, of an error or another small body. */
export function writeJson(
  response: ServerResponse,
  answer: JsonAnswer,
  base: Readonly<Record<string, string>>,
): void {
  const { status, headers, payload } = renderJson(answer, base);
  response.writeHead(status, headers).end(payload);
}

/** Renders a response. The answer's own headers win over `headers`. */
export function renderJson(answer: JsonAnswer, headers: Readonly<Record<string, string>>) {
  const hasBody = answer.body !== undefined;
  const payload = hasBody ? JSON.stringify(answer.body) : '';
  const sent: Record<string, string> = { ...headers };
  if (hasBody) sent['content-type'] = 'application/json; charset=utf-8';
  // RFC 9110 section 8.6: a 204 has no length, and that of a 304 would be of the content it does not send.
  if (answer.status !== 204 && answer.status !== 304)
    sent['content-length'] = String(Buffer.byteLength(payload));
  return { status: answer.status, headers: Object.assign(sent, answer.headers), payload };
}
