import { ConnectionError, ConvokeError, ServerError, errorFrom } from '../errors.ts';
import { type Repeatable, type RetryPolicy, delayBeforeRetry } from './retry.ts';
import { forwardAbort, pause, reasonOf } from './waiting.ts';

/** Options of every method of the SDK. */
export interface CallOptions {
  /** Aborts the request, its retries and pauses; the method rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Any body that fetch accepts. */
export type Body = NonNullable<RequestInit['body']>;

export interface Call extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: object;
  /** Sent unchanged; created again for every attempt. */
  readonly content?: () => Body;
  /** Default: `refused` for POST and PATCH, `always` for other methods. */
  readonly repeatable?: Repeatable;
  /** Default: the setting of the client. */
  readonly attempts?: number;
  /** Default: the setting of the client. Zero means no limit. */
  readonly timeoutMs?: number;
}

export interface AuthorityRequest {
  readonly signal?: AbortSignal | undefined;
  /** Earlier headers that the service rejected with 401. */
  readonly rejected?: Readonly<Record<string, string>> | undefined;
}

/** Adds the headers that identify the caller. */
export interface Authority {
  headers(request: AuthorityRequest): Promise<Readonly<Record<string, string>>>;
  /** Whether a second call can return other headers. */
  readonly canRenew: boolean;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
}

/** Reads a successful response. An error that it throws counts as a failed attempt. */
type ReadResponse<T> = (response: Response) => Promise<T> | T;

const anonymous: Authority = { headers: async () => ({}), canRenew: false };

/** Sends requests: adds credentials, applies timeouts and retries, and turns error responses into errors. */
export class Transport {
  readonly options: TransportOptions;
  readonly #authority: Authority;

  constructor(options: TransportOptions, authority: Authority = anonymous) {
    this.options = options;
    this.#authority = authority;
  }

  /** Returns the body as JSON; undefined if it is empty. */
  json<T>(call: Call): Promise<T> {
    return this.#send(call, jsonOf<T>);
  }

  /** Returns the response with an unread body. The signal also aborts reading it. */
  open(call: Call): Promise<Response> {
    return this.#send(call, (response) => response);
  }

  /** Sends a deletion. Returns undefined when it is done, the record while cleanup continues. */
  remove<T>(call: Omit<Call, 'method'>): Promise<T | undefined> {
    return this.json<T | undefined>({ ...call, method: 'DELETE' });
  }

  async #send<T>(call: Call, read: ReadResponse<T>): Promise<T> {
    const repeatable = call.repeatable ?? usuallyRepeatable(call.method);
    const policy = {
      ...this.options.retry,
      attempts: call.attempts ?? this.options.retry.attempts,
    };
    const { signal } = call;
    let rejected: Readonly<Record<string, string>> | undefined;
    let unsure = false;
    for (let attempt = 1; ; attempt += 1) {
      // Outside the try: the token request has its own retries.
      const headers = await this.#authority.headers({ signal, rejected });
      try {
        return await this.#attempt(call, headers, read);
      } catch (error) {
        if (!(error instanceof ConvokeError) || signal?.aborted === true) throw error;
        error.attempts = attempt;
        error.unsure = unsure;
        if (error.status === 401 && this.#mayRenew(rejected, repeatable)) {
          rejected = headers;
          attempt -= 1;
          continue;
        }
        const delay = delayBeforeRetry(error, { repeatable, policy, attempt });
        if (delay === undefined) throw error;
        unsure ||= error.status !== 429;
        await pause(delay, signal);
      }
    }
  }

  /** Requests other headers once, and only if the call can be sent again. */
  #mayRenew(rejected: object | undefined, repeatable: Repeatable): boolean {
    return rejected === undefined && repeatable !== 'never' && this.#authority.canRenew;
  }

  async #attempt<T>(
    call: Call,
    authorization: Readonly<Record<string, string>>,
    read: ReadResponse<T>,
  ): Promise<T> {
    const { fetch, baseUrl, timeoutMs: usualMs } = this.options;
    const what = `${call.method} ${call.path}`;
    const controller = new AbortController();
    const untie = forwardAbort(call.signal, controller);
    const timeoutMs = call.timeoutMs ?? usualMs;
    const late = () => controller.abort(timedOut(what, timeoutMs));
    const timer = timeoutMs > 0 ? setTimeout(late, timeoutMs) : undefined;
    try {
      const init = { ...requestOf(call, authorization), signal: controller.signal };
      const response = await fetch(baseUrl + call.path + queryOf(call.query), init);
      if (!response.ok) throw await errorFrom(response, what);
      const result = await read(response);
      // An unread body stays bound to the signal.
      if (result !== response) untie();
      return result;
    } catch (error) {
      untie();
      if (controller.signal.aborted) throw reasonOf(controller.signal);
      if (error instanceof ConvokeError) throw error;
      throw new ConnectionError(`${what} got no response: ${explained(error)}`, {
        code: 'connection_failed',
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

function usuallyRepeatable(method: Call['method']): Repeatable {
  return method === 'POST' || method === 'PATCH' ? 'refused' : 'always';
}

function requestOf(call: Call, authorization: Readonly<Record<string, string>>): RequestInit {
  const headers = { accept: 'application/json', ...authorization, ...call.headers };
  // The API never redirects; following a redirect could send the token to another server.
  const init = { method: call.method, redirect: 'manual' as const };
  if (call.json !== undefined) {
    const body = JSON.stringify(call.json);
    return { ...init, headers: { ...headers, 'content-type': 'application/json' }, body };
  }
  if (call.content === undefined) return { ...init, headers };
  const body = call.content();
  // fetch requires `duplex` for a streamed body.
  const streamed = body instanceof ReadableStream ? { duplex: 'half' as const } : {};
  return { ...init, headers, body, ...streamed };
}

function queryOf(query: object = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    // A list is sent as one parameter for each of its items.
    const values = Array.isArray(value) ? value : [value];
    for (const item of values) if (item !== undefined) parameters.append(name, String(item));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

async function jsonOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  // 204 has no body; the type of the caller allows for it.
  if (text === '') return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new ServerError('The response is not JSON. Is baseUrl the address of Convoke?', {
      code: 'invalid_response',
      status: response.status,
      requestId: response.headers.get('x-request-id') ?? undefined,
      cause,
    });
  }
}

function timedOut(what: string, timeoutMs: number): ConnectionError {
  return new ConnectionError(`${what} timed out after ${timeoutMs} ms.`, {
    code: 'timeout',
  });
}

/** Returns the message of the cause, because fetch only says that it failed. */
function explained(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const reason = error.cause instanceof Error ? error.cause.message : '';
  // How fetch calls the ports that it never connects to, such as those of mail.
  if (reason === 'bad port') return 'fetch does not connect to this port';
  return reason || error.message;
}
