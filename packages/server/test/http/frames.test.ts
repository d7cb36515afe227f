import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Frames } from '../../src/http/streams/frames.ts';

const texts = ['one', 'zwei: äöü €', 'x'.repeat(100_000), 'four'];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const server = createServer((request, response) => answer(request, response));
let port: number;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

/** Writes every text, with a chunk of the response's own between any two. */
function writeAll(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.write('<');
  for (const text of texts) {
    new Frames(text).writeTo(response);
    response.write('|');
  }
  response.end('>');
}

/** Sends requests on one connection and returns all that comes back. */
async function answerTo(requests: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.write(requests);
  await once(socket, 'close');
  return Buffer.concat(parts).toString();
}

describe('frames that readers share', () => {
  const body = `<${texts.map((text) => `${text}|`).join('')}>`;

  test('come in order with what the response writes on its own, as whole chunks', async () => {
    answer = (_, response) => writeAll(response);
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(await response.text()).toBe(body);
  });

  test('are written past the response, in one piece', async () => {
    const written: number[] = [];
    answer = (_, response) => {
      response.writeHead(200);
      response.write('<');
      const { socket } = response;
      if (socket === null) throw new Error('the response has no socket');
      const write = socket.write.bind(socket);
      socket.write = (bytes: string | Uint8Array) => {
        written.push(bytes.length);
        return write(bytes);
      };
      new Frames('one').writeTo(response);
      socket.write = write;
      response.end();
    };
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(await response.text()).toBe('<one');
    expect(written).toEqual(['3\r\none\r\n'.length]);
  });

  test('do not end the body when they are empty', async () => {
    answer = (_, response) => {
      response.writeHead(200);
      response.write('<');
      for (const text of ['', 'one', '']) new Frames(text).writeTo(response);
      response.end('>');
    };
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(await response.text()).toBe('<one>');
  });

  test('have no chunk lines for a reader with HTTP/1.0, and no bytes for HEAD', async () => {
    answer = (_, response) => writeAll(response);
    const old = await answerTo('GET / HTTP/1.0\r\nhost: x\r\n\r\n');
    expect(old.slice(old.indexOf('\r\n\r\n') + 4)).toBe(body);
    const head = await answerTo('HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(head.slice(head.indexOf('\r\n\r\n') + 4)).toBe('');
  });

  test('wait for the responses before them on the same connection', async () => {
    const first = Promise.withResolvers<ServerResponse>();
    answer = (request, response) => {
      if (request.url === '/first') return first.resolve(response);
      writeAll(response);
      void first.promise.then((earlier) => earlier.end('first'));
    };
    const both = await answerTo(
      'GET /first HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    );
    expect(both.split('HTTP/1.1 200 OK')).toHaveLength(3);
    expect(both.indexOf('first')).toBeLessThan(both.indexOf('four'));
  });
});
