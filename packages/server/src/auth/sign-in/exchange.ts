import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pageHeaders } from './page.ts';

/** One request of a person's browser or terminal, with the facts that the audit records. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly address: string;
}

export function sendPage(
  { response }: Pick<Exchange, 'response'>,
  html: string,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void {
  response.writeHead(status, { ...pageHeaders, ...headers }).end(html);
}

const formMaxBytes = 16 * 1024;

/** Reads a posted form. Undefined when the body is not a form, or larger than any of ours. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const text = await readText(request, 'application/x-www-form-urlencoded');
  return text === undefined ? undefined : new URLSearchParams(text);
}

/** Undefined when the body is of another type, or larger than any of ours. */
export async function readText(
  request: IncomingMessage,
  expected: string,
): Promise<string | undefined> {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== expected) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > formMaxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Whether the browser says that another site sent the request (`Sec-Fetch-Site`). */
export function isCrossSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** Compares the proof of a form in constant time. */
export function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
