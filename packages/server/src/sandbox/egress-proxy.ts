import { chmod, mkdir, open, rm } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Duplex, pipeline } from 'node:stream';
import { type Egress, readEgress } from '../domain/egress.ts';
import { findTarget } from '../egress/target.ts';
import { hostOf } from '../egress/url-host.ts';

/** Proxy of one program: serves HTTP and CONNECT to the hosts of its agent's allow-list, over a socket file. */
export interface EgressProxy {
  readonly socket: string;
  close(): Promise<void>;
}

const connectionsMax = 64;
const idleMs = 120_000;
const headersMaxBytes = 16 * 1024;
const hopByHop = ['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te'];

export async function openEgressProxy(
  folder: string,
  network: readonly string[],
): Promise<EgressProxy> {
  const entries = network.flatMap((entry) => readEgress(entry) ?? []);
  const sockets = new Set<Duplex>();
  const keep = (socket: Duplex) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  };
  const server = createServer({ maxHeaderSize: headersMaxBytes, requestTimeout: idleMs });
  server.maxConnections = connectionsMax;
  server.on('connection', (socket) => keep(socket.setTimeout(idleMs, () => socket.destroy())));
  server.on('request', (incoming, outgoing) => void forward(entries, { incoming, outgoing }));
  server.on('connect', (incoming, client, head) => {
    void tunnel(entries, incoming, { client, head, keep });
  });

  await mkdir(folder, { mode: 0o700 });
  const handle = await open(folder);
  try {
    // The path of a socket may have about a hundred characters: through /proc it is short for any folder.
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(`/proc/self/fd/${handle.fd}/proxy.sock`, resolve);
    });
  } finally {
    await handle.close();
  }
  const socket = join(folder, 'proxy.sock');
  // No other user can enter the folder; the program's user sees only this file, by a bind mount.
  await chmod(socket, 0o666);
  return {
    socket,
    async close() {
      server.close();
      for (const each of sockets) each.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function forward(
  entries: readonly Egress[],
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
): Promise<void> {
  const url = URL.parse(incoming.url ?? '');
  if (url === null || url.protocol !== 'http:') {
    outgoing.writeHead(400).end('convoke: this is a proxy for HTTP\n');
    return;
  }
  const port = Number(url.port || 80);
  const host = hostOf(url);
  const target = await findTarget(entries, host, port);
  if (!target.ok) {
    outgoing.writeHead(403).end(`convoke: ${target.reason}\n`);
    return;
  }
  const headers = { ...incoming.headers };
  for (const name of hopByHop) delete headers[name];
  const { lookup } = target;
  const { method } = incoming;
  const path = `${url.pathname}${url.search}`;
  const onward = request({ agent: false, host, port, method, path, headers, lookup });
  onward.setTimeout(idleMs, () => onward.destroy());
  onward.once('response', (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    pipeline(response, outgoing, () => undefined);
  });
  onward.once('error', () => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end(`convoke: ${url.host} does not answer\n`);
  });
  pipeline(incoming, onward, () => undefined);
}

interface Tunnel {
  readonly client: Duplex;
  /** Bytes that the client sent before the response to CONNECT. */
  readonly head: Buffer;
  readonly keep: (socket: Duplex) => void;
}

async function tunnel(
  entries: readonly Egress[],
  incoming: IncomingMessage,
  { client, head, keep }: Tunnel,
): Promise<void> {
  keep(client);
  const url = URL.parse(`tcp://${incoming.url}`);
  const host = url === null ? '' : hostOf(url);
  const port = Number(url?.port ?? 0);
  const target = await findTarget(entries, host, port);
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
    pipeline(client, remote, () => undefined);
    pipeline(remote, client, () => undefined);
  });
}

function refuse(client: Duplex, status: string, reason: string): void {
  if (client.destroyed) return;
  const body = `convoke: ${reason}\n`;
  client.end(
    `HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
