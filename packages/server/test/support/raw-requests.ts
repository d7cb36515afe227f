import { type Socket, connect } from 'node:net';
import type { Answer } from './checked-calls.ts';
import type { TestServer } from './server.ts';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Sent in this order, duplicates included; only `Host` and `Connection` are added. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | Uint8Array;
}

/** A request written byte by byte, for requests that no well-behaved client sends. */
export async function sendRaw(server: TestServer, request: RawRequest): Promise<Answer> {
  const socket = await openSocket(server);
  const { method, path, headers = [], body = '' } = request;
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${server.config.host}:${server.config.port}`,
    'connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  socket.write(body);
  return readAnswer(socket);
}

/** Opens a connection to the server and sends nothing. */
export async function openSocket(server: TestServer): Promise<Socket> {
  const { host, port } = server.config;
  const socket = connect({ host, port });
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return socket;
}

/** Everything until the server closes the connection, as one answer. */
export async function readAnswer(socket: Socket): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks);
  const end = all.indexOf('\r\n\r\n');
  if (end === -1) throw new Error(`not an answer: ${all.toString()}`);
  const [statusLine = '', ...lines] = all.subarray(0, end).toString().split('\r\n');
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const body = all.subarray(end + 4);
  const bytes = headers.get('transfer-encoding') === 'chunked' ? unchunked(body) : body;
  return { status: Number(statusLine.split(' ')[1]), headers, bytes, text: bytes.toString() };
}

function unchunked(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.subarray(at, lineEnd).toString(), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
