import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

/**
 * Calls a server as `fetch` does. Requests for JSON go through Node's own HTTP client instead: to load the client
 * behind `fetch`, with its parser, takes longer than all else that a short command does.
 */
export async function lightFetch(url: string, init: RequestInit): Promise<Response> {
  const plain = plainRequest(url, init);
  if (plain === undefined) return fetch(url, init);
  try {
    const message = await send(plain);
    return new ReadResponse(message, await buffer(message));
  } catch (cause) {
    // Nothing was sent, so `fetch` may try, and name the problem.
    if (!plain.signal?.aborted && isUnconnected(cause)) return fetch(url, init);
    throw new TypeError('fetch failed', { cause });
  }
}

interface PlainRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The SDK accepts JSON where it reads all of the answer. Files and streams of events are left to `fetch`. */
function plainRequest(address: string, init: RequestInit): PlainRequest | undefined {
  const { method = 'GET', body, signal } = init;
  const headers = Object.fromEntries(Object.entries(init.headers ?? {})) as Record<string, string>;
  if (headers['accept'] !== 'application/json') return undefined;
  const request = { url: new URL(address), method, signal: signal ?? undefined };
  if (body instanceof URLSearchParams) {
    const type = 'application/x-www-form-urlencoded;charset=UTF-8';
    return { ...request, headers: { ...headers, 'content-type': type }, body: body.toString() };
  }
  if (body === undefined || typeof body === 'string') return { ...request, headers, body };
  return undefined;
}

function send({ url, method, headers, body, signal }: PlainRequest): Promise<IncomingMessage> {
  // Imports of these modules would load what this one avoids.
  const { request } = process.getBuiltinModule(
    url.protocol === 'https:' ? 'node:https' : 'node:http',
  );
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, ...(signal && { signal }) }, resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

function isUnconnected(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isUnconnected);
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}

/** The answer to a request, read to its end. All that a short command does not ask for comes from a real `Response`. */
class ReadResponse implements Response {
  readonly status: number;
  readonly ok: boolean;
  readonly #message: IncomingMessage;
  readonly #bytes: Buffer;
  #made: Response | undefined;

  constructor(message: IncomingMessage, bytes: Buffer) {
    this.status = message.statusCode ?? 0;
    this.ok = this.status >= 200 && this.status < 300;
    this.#message = message;
    this.#bytes = bytes;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(this.#bytes);
  }

  get #real(): Response {
    const { statusText, status } = this;
    const headers = Object.entries(this.#message.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    const body = this.#bytes.length === 0 ? null : new Uint8Array(this.#bytes);
    this.#made ??= new Response(body, { status, statusText, headers });
    return this.#made;
  }

  get headers(): Headers {
    return this.#real.headers;
  }

  get statusText(): string {
    return this.#message.statusMessage ?? '';
  }

  get redirected(): boolean {
    return false;
  }

  get type(): Response['type'] {
    return this.#real.type;
  }

  get url(): string {
    return this.#message.url ?? '';
  }

  get body(): Response['body'] {
    return this.#real.body;
  }

  get bodyUsed(): boolean {
    return this.#made?.bodyUsed ?? false;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#real.arrayBuffer();
  }

  blob(): ReturnType<Response['blob']> {
    return this.#real.blob();
  }

  bytes(): ReturnType<Response['bytes']> {
    return this.#real.bytes();
  }

  clone(): Response {
    return this.#real.clone();
  }

  async formData(): Promise<never> {
    throw new TypeError('the service answers with no form');
  }

  json(): Promise<unknown> {
    return this.#real.json();
  }
}
