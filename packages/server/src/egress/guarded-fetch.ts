import { type IncomingMessage, type RequestOptions, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable, Transform } from 'node:stream';
import type { Clock } from '../ports/clock.ts';
import { errorCode } from '../runtime/error-code.ts';
import type { AllowList } from './allow-list.ts';
import { checkedAddresses } from './checked-addresses.ts';
import type { Resolve } from './name-lookup.ts';
import { pinnedLookup } from './pinned-lookup.ts';
import { Unreachable } from './unreachable.ts';
import { hostOf, portOf } from './url-host.ts';

const connectMs = 5000;
/** A connection without any data for this long counts as dead. */
const idleMs = 60_000;
/** Limit of a response that is not an event stream; the parser limits the frames of a stream. */
const bodyBytesMax = 10 * 1024 * 1024;

export interface FetchParts {
  /** The URL that an administrator registered: no other origin is ever called. */
  readonly registered: URL;
  readonly allow: AllowList;
  readonly clock: Clock;
  readonly headers: Readonly<Record<string, string>>;
  /** Name of the credential to check when the remote side refuses the caller, for the error message. */
  readonly credentialName: string;
  /** Aborts every request. */
  readonly signal: AbortSignal;
  readonly resolve: Resolve;
}

/**
 * `fetch` for one registered URL, safe against SSRF. Resolves the host once per request, checks every address, and
 * connects only to a checked one. Follows no redirect, uses no proxy of the environment, and calls no other origin,
 * whatever the remote side says about its own URL.
 */
export function guardedFetch(parts: FetchParts): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (url.origin !== parts.registered.origin) {
      throw new Unreachable(
        `the agent refers to ${url.origin}, which is not the registered address`,
      );
    }
    const addresses = await checkedAddresses(url, parts);
    const body = Buffer.from(await request.arrayBuffer());
    const headers = { ...Object.fromEntries(request.headers), ...parts.headers };
    const answer = await send(url, {
      method: request.method,
      headers: { ...headers, 'accept-encoding': 'identity', 'content-length': body.length },
      lookup: pinnedLookup(addresses),
      signal: AbortSignal.any([request.signal, parts.signal]),
      body,
      clock: parts.clock,
    });
    return responseOf(answer, url, parts.credentialName);
  };
}

interface Sending extends RequestOptions {
  readonly body: Buffer;
  readonly clock: Clock;
}

function send(url: URL, { body, clock, ...options }: Sending): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  // No HTTP agent: requests share no connections, and no setting of the process applies.
  const call = start(url, { ...options, agent: false });
  const where = `${hostOf(url)}:${portOf(url)}`;
  const cancelTimer = clock.after(connectMs, () =>
    call.destroy(new Unreachable(`${where} did not answer within ${connectMs / 1000} s`)),
  );
  call.once('socket', (socket) => {
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', cancelTimer);
  });
  call.setTimeout(idleMs, () =>
    call.destroy(new Unreachable(`${where} sent nothing for ${idleMs / 1000} s`)),
  );
  call.once('response', resolve);
  call.on('error', (error) => {
    cancelTimer();
    reject(error instanceof Unreachable ? error : unreachable(where, error));
  });
  call.end(body);
  return promise;
}

/** Keeps only the system's error code: its messages contain the addresses that a name resolves to. */
function unreachable(where: string, error: Error): Unreachable {
  const code = errorCode(error) ?? error.name;
  return new Unreachable(`${where} could not be reached (${code})`, { cause: error });
}

function responseOf(answer: IncomingMessage, url: URL, credentialName: string): Response {
  const { statusCode = 500 } = answer;
  if (statusCode >= 300 && statusCode < 400) {
    answer.destroy();
    throw new Unreachable(`${url.origin} answered with a redirect, which is not followed`);
  }
  if (statusCode === 401 || statusCode === 403) {
    answer.destroy();
    throw new Unreachable(
      `${url.origin} refused the caller (${statusCode}): check ${credentialName}`,
    );
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const source = isStream ? answer : bounded(answer, url);
  const isEmpty = statusCode === 204 || statusCode === 205;
  if (isEmpty) answer.resume();
  const body = isEmpty ? null : Readable.toWeb(source);
  return new Response(body as ReadableStream<Uint8Array> | null, { status: statusCode, headers });
}

function bounded(answer: IncomingMessage, url: URL): Readable {
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes <= bodyBytesMax) done(null, chunk);
      else done(new Unreachable(`${url.origin} answered with more than ${bodyBytesMax} bytes`));
    },
  });
  answer.once('error', (error) => limit.destroy(error));
  limit.once('error', () => answer.destroy());
  return answer.pipe(limit);
}
