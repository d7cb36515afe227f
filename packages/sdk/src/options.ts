import { type RetryPolicy, usualRetry } from './transport/retry.ts';
import { type ClientCredentials, ClientTokens, type TokenProvider } from './transport/tokens.ts';
import { type Fetch, Transport, type TransportOptions } from './transport/transport.ts';

export interface ConnectionOptions {
  /** Where the service is, without `/v1`: `https://convoke.example`. */
  readonly baseUrl: string;
  /** How long a request may take, each attempt by itself. Streams and file contents are not bound by it. */
  readonly timeoutMs?: number | undefined;
  /** `false` sends every request once. */
  readonly retry?: Partial<RetryPolicy> | false | undefined;
  /** Instead of the global `fetch`, to trace requests or to go through a proxy. */
  readonly fetch?: Fetch | undefined;
}

export interface TokenOptions {
  /** A token, or what gives one. */
  readonly token: string | TokenProvider;
}

const usualTimeoutMs = 30_000;

export function transportOptions(options: ConnectionOptions): TransportOptions {
  const { retry = {}, timeoutMs = usualTimeoutMs } = options;
  return {
    baseUrl: originOf(options.baseUrl),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs,
    retry: retry === false ? { ...usualRetry, attempts: 1 } : { ...usualRetry, ...retry },
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

/** The paths carry `/v1` themselves (spec §1), and a base address with it is a common slip. */
function originOf(baseUrl: string): string {
  const trimmed = String(baseUrl).replace(/\/+$/, '');
  if (/^https?:\/\/[^?#]+$/.test(trimmed) && !trimmed.endsWith('/v1')) return trimmed;
  throw new TypeError(
    `baseUrl must be an http(s) address without /v1, such as https://convoke.example; got "${baseUrl}"`,
  );
}
