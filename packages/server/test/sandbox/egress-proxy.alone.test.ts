import { once } from 'node:events';
import { mkdir, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import {
  type AddressInfo,
  type Server,
  type Socket,
  connect,
  createServer as createTcp,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NameLookup } from '../../src/egress/name-lookup.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type EgressProxy, openEgressProxy } from '../../src/sandbox/egress-proxy.ts';
import { eventually } from '../support/eventually.ts';

const closers: (() => unknown)[] = [];
/** Exceptions that reached the process: each of them would have ended a server. */
const uncaught: unknown[] = [];
const onUncaught = (error: unknown) => void uncaught.push(error);
let root: string;

beforeAll(() => {
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', onUncaught);
});
afterAll(() => {
  process.off('uncaughtException', onUncaught);
  process.off('unhandledRejection', onUncaught);
});
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'egress-proxy-'));
  uncaught.length = 0;
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await rm(root, { recursive: true, force: true });
  if (uncaught.length > 0) throw new AggregateError(uncaught, 'this would have ended a server');
});

describe('a plain request whose program hangs up', () => {
  test('before it sent a byte', async () => {
    const { proxy } = await proxied(() => undefined);
    const program = await dial(proxy);
    program.destroy();
    expect(await serves(proxy)).toBe(true);
  });

  test('after half of its header', async () => {
    const { proxy, url } = await proxied(() => undefined);
    const program = await dial(proxy);
    program.write(`GET ${url} HTTP/1.1\r\nhos`);
    program.destroy();
    expect(await serves(proxy)).toBe(true);
  });

  test('while the proxy resolves the name', async () => {
    const { proxy, url } = await proxied((_, response) => response.end('late'));
    const program = await dial(proxy);
    program.write(`GET ${url} HTTP/1.1\r\nhost: x\r\n\r\n`);
    program.destroy();
    expect(await serves(proxy)).toBe(true);
  });

  test('after the remote got the request and before it answers', async () => {
    const arrived = Promise.withResolvers<ServerResponse>();
    const { proxy, url } = await proxied((_, response) => arrived.resolve(response));
    const program = await dial(proxy);
    program.write(`GET ${url} HTTP/1.1\r\nhost: x\r\n\r\n`);
    const response = await arrived.promise;
    program.destroy();
    // The proxy has seen the hang-up once it has served another request.
    await serves(proxy);
    response.end('a late answer');
    expect(await serves(proxy)).toBe(true);
  });

  test('in the middle of the request body', async () => {
    const arrived = Promise.withResolvers<IncomingMessage>();
    const { proxy, url } = await proxied((incoming) => arrived.resolve(incoming));
    const program = await dial(proxy);
    program.write(`POST ${url} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf`);
    const incoming = await arrived.promise;
    const closed = Promise.withResolvers<void>();
    incoming.on('error', () => undefined).resume();
    incoming.once('close', () => closed.resolve());
    program.destroy();
    await closed.promise;
    expect(await serves(proxy)).toBe(true);
  });

  test('in the middle of the response body', async () => {
    const { proxy, url } = await proxied((_, response) => {
      response.on('error', () => undefined).write('the first part');
    });
    const program = await dial(proxy);
    program.write(`GET ${url} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(program, 'data');
    program.destroy();
    expect(await serves(proxy)).toBe(true);
  });
});

/** Node refuses to send such a header: a trailer needs chunks. */
const badTrailer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntrailer: x\r\n';

test.each([
  'trailer: x',
  'trailer: x\r\ncontent-length: 2',
  'expect: 100-continue\r\ntrailer: x',
  'upgrade: websocket\r\nconnection: upgrade',
])('a request with headers that cannot be passed on does no harm: %j', async (headers) => {
  const { proxy, url } = await proxied((_, response) => response.end('answer'));
  const program = await dial(proxy);
  program.on('data', () => undefined);
  program.end(`GET ${url} HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`);
  if (!program.closed) await once(program, 'close');
  expect(await serves(proxy)).toBe(true);
});

describe('a remote that hangs up on a plain request', () => {
  test.each([
    ['before it answers', ''],
    ['in the middle of its header', 'HTTP/1.1 200 OK\r\ncont'],
    ['in the middle of its body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
    ['after headers that contradict each other', `${badTrailer}\r\nok`],
    ['after an impossible status', 'HTTP/1.1 000 Nothing\r\ncontent-length: 0\r\n\r\n'],
    ['after bytes that are not HTTP', 'what is this\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const port = await remote((socket) => {
      socket.once('data', () => socket.end(bytes));
    });
    const proxy = await openProxy([`127.0.0.1:${port}`]);
    const program = await dial(proxy);
    program.on('data', () => undefined);
    program.write(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    await once(program, 'close');
    expect(await serves(proxy)).toBe(true);
  });
});

describe('a tunnel', () => {
  test('carries bytes both ways', async () => {
    const port = await remote((socket) => void socket.pipe(socket));
    const proxy = await openProxy([`127.0.0.1:${port}`]);
    const program = await dial(proxy);
    program.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n\r\nhello`);
    expect(await textOf(program, /hello$/)).toBe(
      'HTTP/1.1 200 Connection established\r\n\r\nhello',
    );
  });

  test('whose program hangs up while the proxy resolves the name or connects', async () => {
    const port = await remote((socket) => void socket.resume());
    const proxy = await openProxy([`127.0.0.1:${port}`]);
    for (let times = 0; times < 20; times += 1) {
      const program = await dial(proxy);
      program.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n\r\n`, () => {
        program.destroy();
      });
      await once(program, 'close');
    }
    expect(await serves(proxy)).toBe(true);
  });

  test('whose program hangs up right after it is open', async () => {
    const closed = Promise.withResolvers<void>();
    const port = await remote((socket) => {
      socket.resume().once('close', () => closed.resolve());
    });
    const proxy = await openProxy([`127.0.0.1:${port}`]);
    const program = await dial(proxy);
    program.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(program, 'data');
    program.destroy();
    await closed.promise;
    expect(await serves(proxy)).toBe(true);
  });

  test('whose remote resets the connection while bytes go both ways', async () => {
    const port = await remote((socket) => {
      socket.once('data', () => {
        socket.write('x'.repeat(100_000));
        socket.resetAndDestroy();
      });
    });
    const proxy = await openProxy([`127.0.0.1:${port}`]);
    const program = await dial(proxy);
    program.on('data', () => undefined);
    program.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n\r\n${'y'.repeat(100_000)}`);
    await once(program, 'close');
    expect(await serves(proxy)).toBe(true);
  });

  test('to a port on which nothing listens is answered 502', async () => {
    const port = await freePort();
    const proxy = await openProxy([`127.0.0.1:${port}`]);
    const program = await dial(proxy);
    program.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(await textOf(program, /answer\n$/)).toContain('502 Bad Gateway');
    expect(await serves(proxy)).toBe(true);
  });
});

test('closing a proxy ends what is under way in it', async () => {
  const arrived = Promise.withResolvers<ServerResponse>();
  const { proxy, url } = await proxied((_, response) => arrived.resolve(response));
  const program = await dial(proxy);
  program.write(`GET ${url} HTTP/1.1\r\nhost: x\r\n\r\n`);
  const response = await arrived.promise;
  await proxy.close();
  response.end('too late');
  if (!program.closed) await once(program, 'close');
  expect(await readdir(root)).toEqual([]);
});

test('closing one proxy leaves the socket of another, whatever descriptors they have', async () => {
  const proxy = await openProxy([]);
  const other = join(root, 'another-proxy');
  await mkdir(other);
  await writeFile(join(other, 'proxy.sock'), '');
  // They get every descriptor that opening the proxy has given back.
  const handles = await Promise.all(Array.from({ length: 16 }, () => open(other)));
  await proxy.close();
  await Promise.all(handles.map((handle) => handle.close()));
  expect(await readdir(other)).toEqual(['proxy.sock']);
});

test('the remote sees the host of the URL, not the Host header of the program', async () => {
  const { proxy, url, port } = await proxied((incoming, response) => {
    response.end(incoming.headers.host);
  });
  const seen = await get(proxy, url, { host: 'internal-vhost.corp' });
  expect(seen).toBe(`127.0.0.1:${port}`);
});

type Answer = (incoming: IncomingMessage, response: ServerResponse) => void;

/** A proxy whose allow-list names one remote, which answers as given. */
async function proxied(answer: Answer) {
  const server = createServer(answer);
  const port = await listening(server);
  return { proxy: await openProxy([`127.0.0.1:${port}`]), port, url: `http://127.0.0.1:${port}/` };
}

async function remote(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createTcp((socket) => onSocket(socket.on('error', () => undefined)));
  return listening(server);
}

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createTcp();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

let opened = 0;
const { resolve } = new NameLookup({ clock: systemClock });

async function openProxy(network: readonly string[]): Promise<EgressProxy> {
  opened += 1;
  const proxy = await openEgressProxy(join(root, `net-${opened}`), { network, resolve });
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await proxy.close();
  };
  closers.push(close);
  return { ...proxy, close };
}

async function dial(proxy: EgressProxy): Promise<Socket> {
  const socket = connect(proxy.socket).on('error', () => undefined);
  closers.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function serves(proxy: EgressProxy): Promise<boolean> {
  const answer = await get(proxy, 'http://not-listed.example/', {});
  return answer.includes("is not in the agent's sandbox.network");
}

function get(proxy: EgressProxy, url: string, headers: Record<string, string>): Promise<string> {
  return eventually(async () => {
    const answer = Promise.withResolvers<string>();
    const asked = request({ socketPath: proxy.socket, path: url, headers, agent: false });
    asked.on('error', answer.reject);
    asked.on('response', (response) => {
      let text = '';
      response.on('error', answer.reject);
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => answer.resolve(text));
    });
    asked.end();
    return answer.promise;
  });
}

async function textOf(socket: Socket, until: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (until.test(text)) return text;
  }
  return text;
}
