import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { type IncomingMessage, type RequestOptions, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type LookupFunction, isIP } from 'node:net';
import { Readable, Transform } from 'node:stream';
import type { Clock } from '../ports/clock.ts';
import { errorCode } from '../runtime/error-code.ts';
import { type AllowList, hostOf, portOf, reachProblem, urlProblem } from './allow-list.ts';
import { tokenName } from '../harness/a2a/settings.ts';

const connectMs = 5000;
/** Nothing came for this long: the connection counts as dead. */
const idleMs = 60_000;
/** Of an answer that is not a stream; a stream's frames are bounded by whoever parses them. */
const bodyBytesMax = 10 * 1024 * 1024;

/** What can be told of an address that may not or cannot be called. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

export interface FetchParts {
  /** The address an administrator registered: nothing else is ever called on the agent's behalf. */
  readonly registered: URL;
  readonly allow: AllowList;
  readonly clock: Clock;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends every call. */
  readonly signal: AbortSignal;
  /** Every address of a host. */
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>;
}

/**
 * `fetch` for one remote agent. Its host is looked up once per call, each of its addresses is checked, and only a
 * checked one is connected to. No redirect is followed, no proxy of the environment is used, and what the agent
 * says about its own address counts only within the registered origin.
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
      lookup: pinned(addresses),
      signal: AbortSignal.any([request.signal, parts.signal]),
      body,
      clock: parts.clock,
    });
    return responseOf(answer, url);
  };
}

async function checkedAddresses(url: URL, parts: FetchParts): Promise<readonly LookupAddress[]> {
  const { allow, resolve = lookUp } = parts;
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

async function lookUp(host: string): Promise<readonly LookupAddress[]> {
  return lookup(host, { all: true }).catch(() => []);
}

function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

interface Sending extends RequestOptions {
  readonly body: Buffer;
  readonly clock: Clock;
}

function send(url: URL, { body, clock, ...options }: Sending): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  // An agent of its own for each call: nothing is shared, and no setting of the process steers it.
  const call = start(url, { ...options, agent: false });
  const where = `${hostOf(url)}:${portOf(url)}`;
  const forget = clock.after(connectMs, () =>
    call.destroy(new Unreachable(`${where} did not answer within ${connectMs / 1000} s`)),
  );
  call.once('socket', (socket) => {
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', forget);
  });
  call.setTimeout(idleMs, () =>
    call.destroy(new Unreachable(`${where} said nothing for ${idleMs / 1000} s`)),
  );
  call.once('response', resolve);
  call.once('error', (error) => {
    forget();
    reject(error instanceof Unreachable ? error : unreachable(where, error));
  });
  call.end(body);
  return promise;
}

/** The system's code is enough; its messages hold addresses that a name leads to. */
function unreachable(where: string, error: Error): Unreachable {
  const code = errorCode(error) ?? error.name;
  return new Unreachable(`${where} could not be reached (${code})`, { cause: error });
}

function responseOf(answer: IncomingMessage, url: URL): Response {
  const { statusCode = 500 } = answer;
  if (statusCode >= 300 && statusCode < 400) {
    answer.destroy();
    throw new Unreachable(`${url.origin} answered with a redirect, which is not followed`);
  }
  if (statusCode === 401 || statusCode === 403) {
    answer.destroy();
    throw new Unreachable(`${url.origin} refused the caller (${statusCode}): check ${tokenName}`);
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
