import type { Authority, TransportOptions } from './transport.ts';

/** A function that takes the place of `fetch`. */
export type AuthorizedFetch = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>;

/**
 * Returns `fetch` that identifies the caller, for addresses below the base address only: a token must not reach another
 * server (D-202). It needs no `this`.
 */
export function authorizedFetch(
  { baseUrl, fetch }: Pick<TransportOptions, 'baseUrl' | 'fetch'>,
  authority: Authority,
): AuthorizedFetch {
  return async (input, init) => {
    const isRequest = input instanceof Request;
    const url = addressBelow(baseUrl, isRequest ? input.url : input);
    const sent = isRequest ? await initOf(new Request(input, init)) : (init ?? {});
    const signal = sent.signal ?? undefined;
    const send = (identity: Readonly<Record<string, string>>) => {
      const headers = new Headers(sent.headers);
      for (const [name, value] of Object.entries(identity)) headers.set(name, value);
      // The API never redirects; following a redirect could send the token to another server.
      return fetch(url, { ...sent, headers, redirect: 'error' });
    };
    const identity = await authority.headers({ signal });
    const response = await send(identity);
    const canRepeat = !(sent.body instanceof ReadableStream);
    if (response.status !== 401 || !authority.canRenew || !canRepeat) return response;
    await response.body?.cancel();
    return send(await authority.headers({ signal, rejected: identity }));
  };
}

function addressBelow(baseUrl: string, input: string | URL): string {
  // Parsed, so that neither `..` nor a user name in front of the host leads elsewhere.
  const [base, url] = [new URL(`${baseUrl}/`), new URL(input)];
  if (url.origin === base.origin && url.pathname.startsWith(base.pathname)) return url.href;
  throw new TypeError(`convoke.fetch sends the token to ${baseUrl} only, not to ${url.href}`);
}

/** The parts of a request, whose body can be sent twice. */
async function initOf(request: Request): Promise<RequestInit> {
  const { method, headers, signal } = request;
  const body = request.body === null ? null : await request.arrayBuffer();
  return { method, headers, signal, body };
}
