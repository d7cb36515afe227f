import { type RetryPolicy, defaultRetry } from './transport/retry.ts';
import { type ClientCredentials, ClientTokens, type TokenProvider } from './transport/tokens.ts';
import { type Fetch, Transport, type TransportOptions } from './transport/transport.ts';

export interface ConnectionOptions {
  /** Address of the service, without `/v1`: `https://convoke.example`. */
  readonly baseUrl: string;
  /** Timeout of each attempt. Does not apply to streams and file contents. */
  readonly timeoutMs?: number | undefined;
  /** `false` disables retries. */
  readonly retry?: Partial<RetryPolicy> | false | undefined;
  /** Replaces the global `fetch`, for example to trace requests or to use a proxy. */
  readonly fetch?: Fetch | undefined;
}

export interface TokenOptions {
  /** A token, or a function that returns one. */
  readonly token: string | TokenProvider;
}

const usualTimeoutMs = 30_000;

export function transportOptions(options: ConnectionOptions): TransportOptions {
  const { retry = {}, timeoutMs = usualTimeoutMs } = options;
  return {
    baseUrl: originOf(options.baseUrl),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs,
    retry: retry === false ? { ...defaultRetry, attempts: 1 } : { ...defaultRetry, ...retry },
  };
}

export function tokenOf(
  options: ClientCredentials | TokenOptions,
  transport: TransportOptions,
): string | TokenProvider {
  if ('token' in options) return options.token;
  const tokens = new ClientTokens(new Transport(transport), options);
  return (request) => tokens.get(request);
}

/** Checks the base address. The paths include `/v1` (spec §1), and adding it here is a common mistake. */
function originOf(baseUrl: string): string {
  const trimmed = String(baseUrl).replace(/\/+$/, '');
  if (/^https?:\/\/[^?#]+$/.test(trimmed) && !trimmed.endsWith('/v1')) return trimmed;
  throw new TypeError(
    `baseUrl must be an http(s) address without /v1, such as https://convoke.example; got "${baseUrl}"`,
  );
}
