import { asFailure, ensure, excerpt } from './failure.ts';
import { type Frame, framesOf } from './frames.ts';
import { RateWaits } from './rate-waits.ts';

const requestMs = 30_000;
const bodyMaxBytes = 32 * 1024 * 1024;

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly bytes?: string | Uint8Array<ArrayBuffer>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly body: unknown;
  /** For messages: `POST /v1/sessions`. */
  readonly asked: string;
}

export interface StreamReply {
  readonly reply: Reply;
  readonly frames: AsyncGenerator<Frame>;
}

/** Requests to the service under test, with nothing but `fetch`. */
export class Server {
  readonly #base: string;
  /** Ends every request that is still open when the kit is over. */
  readonly #over: AbortSignal;
  readonly waits: RateWaits;

  constructor(baseUrl: string, over: AbortSignal) {
    this.#base = baseUrl.replace(/\/+$/, '');
    this.#over = over;
    this.waits = new RateWaits(over);
  }

  /** Repeats the request where the rate is exceeded, because a refused one has done nothing. */
  async send(request: Request): Promise<Reply> {
    return await this.waits.answered(
      () => this.sendOnce(request),
      (reply) => reply,
    );
  }

  /** One request, whatever the answer. */
  async sendOnce(request: Request): Promise<Reply> {
    const asked = `${request.method} ${request.path}`;
    const signal = AbortSignal.any([this.#over, AbortSignal.timeout(requestMs)]);
    try {
      const response = await this.#fetch(request, signal);
      const bytes = await readAll(response);
      const text = new TextDecoder().decode(bytes);
      const { status, headers } = response;
      return { status, headers, bytes, text, body: parsed(text), asked };
    } catch (cause) {
      throw asFailure(cause, asked);
    }
  }

  /** Opens a stream of events; `frames` ends with the stream, and leaving the loop closes the connection. */
  async stream(request: Request): Promise<StreamReply> {
    return await this.waits.answered(
      () => this.#streamOnce(request),
      ({ reply }) => reply,
    );
  }

  async #streamOnce(request: Request): Promise<StreamReply> {
    const asked = `${request.method} ${request.path}`;
    const closing = new AbortController();
    const signal = AbortSignal.any([this.#over, closing.signal]);
    const late = setTimeout(() => closing.abort(new Error('no answer in time')), requestMs);
    try {
      const headers = { accept: 'text/event-stream', ...request.headers };
      const response = await this.#fetch({ ...request, headers }, signal);
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
      const bytes = isStream ? new Uint8Array() : await readAll(response);
      const text = new TextDecoder().decode(bytes);
      const { status } = response;
      const reply = { status, headers: response.headers, bytes, text, body: parsed(text), asked };
      const source = isStream ? response.body : null;
      return { reply, frames: framesOf(source, { asked, closing }) };
    } catch (cause) {
      throw asFailure(cause, asked);
    } finally {
      clearTimeout(late);
    }
  }

  async #fetch(request: Request, signal: AbortSignal): Promise<Response> {
    const { method, path, headers, json, bytes } = request;
    const isJson = json !== undefined;
    const body = isJson ? JSON.stringify(json) : bytes;
    return await fetch(this.#base + path, {
      method,
      headers: { ...(isJson && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal,
    });
  }
}

export function hasStatus(reply: Reply, ...statuses: readonly number[]): Reply {
  ensure(
    statuses.includes(reply.status),
    `${reply.asked}: expected ${statuses.join(' or ')}, got ${reply.status} ${excerpt(reply.text)}`,
  );
  return reply;
}

async function readAll(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  if (response.body === null) return new Uint8Array();
  for await (const part of response.body as ReadableStream<Uint8Array>) {
    size += part.length;
    ensure(size <= bodyMaxBytes, `a response has more than ${bodyMaxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
