import type { LookupAddress } from 'node:dns';
import { type IncomingMessage, type RequestOptions, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { Readable, Transform } from 'node:stream';
import type { Clock } from '../ports/clock.ts';
import { errorCode } from '../runtime/error-code.ts';
import { type AllowList, reachProblem, urlProblem } from './allow-list.ts';
import { pinnedLookup, resolveAddresses } from './pinned-lookup.ts';
import { hostOf, portOf } from './url-host.ts';

const connectMs = 5000;
/** A connection without any data for this long counts as dead. */
const idleMs = 60_000;
/** Limit of a response that is not an event stream; the parser limits the frames of a stream. */
const bodyBytesMax = 10 * 1024 * 1024;

/** A URL that may not or cannot be called. The message may be shown to the caller of the run. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

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
  /** Resolves a host to all its addresses. */
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>;
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

async function checkedAddresses(url: URL, parts: FetchParts): Promise<readonly LookupAddress[]> {
  const { allow, resolve = resolveAddresses } = parts;
  const host = hostOf(url);
  const problem = urlProblem(url, allow);
  if (problem !== undefined) throw new Unreachable(`${url.origin} ${problem}`);
  const version = isIP(host);
  const found = version === 0 ? await resolve(host) : [{ address: host, family: version }];
  if (found.length === 0) throw new Unreachable(`${host} has no address`);
  const reach = reachProblem(
    url,
    found.map(({ address }) => address),
    allow,
  );
  if (reach !== undefined) throw new Unreachable(`${url.origin} ${reach}`);
  return found;
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
