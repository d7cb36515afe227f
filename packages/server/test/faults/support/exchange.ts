import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly timeoutMs?: number | undefined;
}

const longestExchangeMs = 120_000;

/**
 * One request on a new connection, so that none is reused from a server that died. Rejects when the
 * connection fails.
 */
export function exchange({ method, url, headers = {}, body, timeoutMs }: Exchange): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sending = request(url, {
      method,
      agent: false,
      headers: { ...headers, 'content-length': body === undefined ? 0 : Buffer.byteLength(body) },
      timeout: timeoutMs ?? longestExchangeMs,
    });
    const fail = (error: Error) =>
      reject(new Error(`${method} ${url}: ${error.message}`, { cause: error }));
    sending.on('error', fail);
    sending.on('timeout', () => sending.destroy(new Error('no answer in time')));
    sending.on('response', (response) => {
      text(response).then((said) => {
        const parsed: unknown = said === '' ? undefined : JSON.parse(said);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed });
      }, fail);
    });
    sending.end(body);
  });
}
