import { chmod, mkdir, open, rm } from 'node:fs/promises';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  createServer,
  request,
} from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Duplex, type Readable, type Writable, pipeline } from 'node:stream';
import { readEgress } from '../domain/egress.ts';
import type { Resolve } from '../egress/name-lookup.ts';
import { type Reach, findTarget } from '../egress/target.ts';
import { hostOf } from '../egress/url-host.ts';

/** Proxy of one program: serves HTTP and CONNECT to the hosts of its agent's allow-list, over a socket file. */
export interface EgressProxy {
  readonly socket: string;
  close(): Promise<void>;
}

const connectionsMax = 64;
const idleMs = 120_000;
const headersMaxBytes = 16 * 1024;
/** Headers for the next hop only. Node throws for a `trailer` that the encoding of the message does not allow. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
];

export async function openEgressProxy(
  folder: string,
  { network, resolve }: { readonly network: readonly string[]; readonly resolve: Resolve },
): Promise<EgressProxy> {
  const entries = network.flatMap((entry) => readEgress(entry) ?? []);
  const reach = { entries, resolve };
  const sockets = new Set<Duplex>();
  const keep = (socket: Duplex) => {
    sockets.add(ignoreErrors(socket));
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer({ maxHeaderSize: headersMaxBytes, requestTimeout: idleMs });
  server.maxConnections = connectionsMax;
  server.on('connection', (socket) => keep(socket.setTimeout(idleMs, () => socket.destroy())));
  server.on('request', (incoming, outgoing) => {
    forward(reach, { incoming, outgoing }).catch(() => outgoing.destroy());
  });
  server.on('connect', (incoming, client, head) => {
    tunnel(reach, incoming, { client, head, keep }).catch(() => client.destroy());
  });

  await mkdir(folder, { mode: 0o700 });
  // Stays open as long as the server listens: closing the server unlinks the socket by the path it listened on, and
  // that path names this descriptor. A descriptor closed earlier may by then belong to the folder of another proxy.
  const handle = await open(folder);
  const close = async () => {
    for (const each of sockets) each.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
    await handle.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    // The path of a socket may have about a hundred characters: through /proc it is short for any folder.
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject);
      server.listen(`/proc/self/fd/${handle.fd}/proxy.sock`, resolve);
    });
    const socket = join(folder, 'proxy.sock');
    // No other user can enter the folder; the program's user sees only this file, by a bind mount.
    await chmod(socket, 0o666);
    return { socket, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function forward(
  reach: Reach,
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
): Promise<void> {
  const url = URL.parse(incoming.url ?? '');
  if (url === null || url.protocol !== 'http:') {
    outgoing.writeHead(400).end('convoke: this is a proxy for HTTP\n');
    return;
  }
  const port = Number(url.port || 80);
  const host = hostOf(url);
  const target = await findTarget(reach, host, port);
  if (!target.ok) {
    outgoing.writeHead(403).end(`convoke: ${target.reason}\n`);
    return;
  }
  // RFC 9112 §3.2.2: the host of the URL replaces the program's, which could name a neighbour on the same server.
  const headers = { ...endToEnd(incoming.headers), host: url.host };
  const { lookup } = target;
  const { method } = incoming;
  const path = `${url.pathname}${url.search}`;
  const onward = request({ agent: false, host, port, method, path, headers, lookup });
  onward.setTimeout(idleMs, () => onward.destroy());
  onward.once('response', (response) => {
    const status = response.statusCode ?? 0;
    // The parser accepts any three digits, `writeHead` only a valid status.
    if (status < 200 || status > 999) {
      onward.destroy();
      answerBadGateway(outgoing, `${url.host} sent the status ${status}`);
      return;
    }
    try {
      outgoing.writeHead(status, endToEnd(response.headers));
    } catch {
      // The remote sent headers that Node does not send.
      onward.destroy();
      outgoing.destroy();
      return;
    }
    connectStreams(response, outgoing);
  });
  onward.on('error', () => answerBadGateway(outgoing, `${url.host} does not answer`));
  // Headers that cannot be sent throw here, where the caller catches it, and not in the pipe.
  onward.flushHeaders();
  connectStreams(incoming, onward);
}

function endToEnd(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !hopByHop.includes(name));
  return Object.fromEntries(kept);
}

function answerBadGateway(outgoing: ServerResponse, reason: string): void {
  if (outgoing.headersSent) outgoing.destroy();
  else outgoing.writeHead(502).end(`convoke: ${reason}\n`);
}

interface Tunnel {
  readonly client: Duplex;
  /** Bytes that the client sent before the response to CONNECT. */
  readonly head: Buffer;
  readonly keep: (socket: Duplex) => void;
}

async function tunnel(
  reach: Reach,
  incoming: IncomingMessage,
  { client, head, keep }: Tunnel,
): Promise<void> {
  keep(client);
  const url = URL.parse(`tcp://${incoming.url}`);
  const host = url === null ? '' : hostOf(url);
  const port = Number(url?.port ?? 0);
  const target = await findTarget(reach, host, port);
  if (!target.ok) {
    refuse(client, '403 Forbidden', target.reason);
    return;
  }
  const remote = connect({ host, port, lookup: target.lookup });
  keep(remote.setTimeout(idleMs, () => remote.destroy()));
  const onFailure = () => refuse(client, '502 Bad Gateway', `${host}:${port} does not answer`);
  remote.once('error', onFailure);
  remote.once('connect', () => {
    remote.off('error', onFailure);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    remote.write(head);
    connectStreams(client, remote);
    connectStreams(remote, client);
  });
}

function refuse(client: Duplex, status: string, reason: string): void {
  if (client.destroyed) return;
  const body = `convoke: ${reason}\n`;
  client.end(
    `HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/**
 * Pipes one stream into another; when either fails or closes, both are destroyed. Either side may be gone already: the
 * program was killed, its run was cancelled, the remote hung up. `pipeline` then throws, and an exception in an event
 * handler would end the server.
 */
function connectStreams(source: Readable, target: Writable): void {
  ignoreErrors(source);
  ignoreErrors(target);
  try {
    pipeline(source, target, () => undefined);
  } catch {
    source.destroy();
    target.destroy();
  }
}

/**
 * An `error` event without a listener ends the process. A failed socket of a program needs no more than its `close`.
 */
function ignoreErrors<Stream extends Readable | Writable>(stream: Stream): Stream {
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
  return stream;
}

const ignore = () => undefined;
