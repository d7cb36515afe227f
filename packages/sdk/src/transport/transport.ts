import { ConnectionError, ConvokeError, ServerError, errorFrom } from '../errors.ts';
import { type Repeatable, type RetryPolicy, delayBeforeRetry } from './retry.ts';
import { forwardAbort, pause, reasonOf } from './waiting.ts';

/** What every method of the SDK takes last. */
export interface CallOptions {
  /** Ends the request, its retries and its pauses; the method rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Whatever fetch takes. */
export type Body = NonNullable<RequestInit['body']>;

export interface Call extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: object;
  /** Sent as it is; made anew for every attempt. */
  readonly content?: () => Body;
  /** Unless said: `refused` for POST and PATCH, `always` for the rest. */
  readonly repeatable?: Repeatable;
  /** Unless said: as the client is set up. */
  readonly attempts?: number;
  /** Unless said: as the client is set up. Zero is no limit. */
  readonly timeoutMs?: number;
}

export interface AuthorityRequest {
  readonly signal?: AbortSignal | undefined;
  /** Headers it gave before, which were answered with 401. */
  readonly rejected?: Readonly<Record<string, string>> | undefined;
}

/** Says who is calling. */
export interface Authority {
  headers(request: AuthorityRequest): Promise<Readonly<Record<string, string>>>;
  /** Whether asking again can give other headers. */
  readonly canRenew: boolean;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
}

/** Reads what it needs of a good answer. What it throws counts as a failed attempt. */
type Read<T> = (response: Response) => Promise<T> | T;

const nobody: Authority = { headers: async () => ({}), canRenew: false };

/** Sends requests: who is calling, for how long, how often, and what a bad answer means. */
export class Transport {
  readonly options: TransportOptions;
  readonly #authority: Authority;

  constructor(options: TransportOptions, authority: Authority = nobody) {
    this.options = options;
    this.#authority = authority;
  }

  /** The body as JSON; undefined where there is none. */
  json<T>(call: Call): Promise<T> {
    return this.#send(call, jsonOf<T>);
  }

  /** The answer with its body unread. The signal also ends the reading. */
  open(call: Call): Promise<Response> {
    return this.#send(call, (response) => response);
  }

  /**
   * A deletion: undefined when it is done, the record while the service still cleans up. When an earlier
   * attempt may have been carried out, finding nothing left is what was wanted.
   */
  async remove<T>(call: Omit<Call, 'method'>): Promise<T | undefined> {
    try {
      return await this.json<T | undefined>({ ...call, method: 'DELETE' });
    } catch (error) {
      if (error instanceof ConvokeError && error.unsure && error.code === 'not_found') {
        return undefined;
      }
      throw error;
    }
  }

  async #send<T>(call: Call, read: Read<T>): Promise<T> {
    const repeatable = call.repeatable ?? usuallyRepeatable(call.method);
    const policy = {
      ...this.options.retry,
      attempts: call.attempts ?? this.options.retry.attempts,
    };
    const { signal } = call;
    let rejected: Readonly<Record<string, string>> | undefined;
    let unsure = false;
    for (let attempt = 1; ; attempt += 1) {
      // Outside the try: a token that cannot be had was retried by itself already.
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

  /** A call asks for other headers once, and only if it can be sent again. */
  #mayRenew(rejected: object | undefined, repeatable: Repeatable): boolean {
    return rejected === undefined && repeatable !== 'never' && this.#authority.canRenew;
  }

  async #attempt<T>(
    call: Call,
    authorization: Readonly<Record<string, string>>,
    read: Read<T>,
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
      // A body that is still to be read stays tied to the signal.
      if (result !== response) untie();
      return result;
    } catch (error) {
      untie();
      if (controller.signal.aborted) throw reasonOf(controller.signal);
      if (error instanceof ConvokeError) throw error;
      throw new ConnectionError(`${what} got no answer: ${explained(error)}`, {
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
  // Nothing of the API redirects; to follow would be to show the token to someone else.
  const init = { method: call.method, redirect: 'manual' as const };
  if (call.json !== undefined) {
    const body = JSON.stringify(call.json);
    return { ...init, headers: { ...headers, 'content-type': 'application/json' }, body };
  }
  if (call.content === undefined) return { ...init, headers };
  const body = call.content();
  // `duplex` is what fetch demands of a body that is still being made.
  const streamed = body instanceof ReadableStream ? { duplex: 'half' as const } : {};
  return { ...init, headers, body, ...streamed };
}

function queryOf(query: object = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

async function jsonOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  // 204 has no body; the caller's type says where that may be.
  if (text === '') return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new ServerError('The answer is not JSON. Does the base address lead to Convoke?', {
      code: 'invalid_response',
      status: response.status,
      requestId: response.headers.get('x-request-id') ?? undefined,
      cause,
    });
  }
}

function timedOut(what: string, timeoutMs: number): ConnectionError {
  return new ConnectionError(`${what} was not answered within ${timeoutMs} ms.`, {
    code: 'timeout',
  });
}

/** Where fetch only says that it failed, its cause says why. */
function explained(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
