import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lightFetch } from '../src/light-fetch.ts';

const accept = 'application/json';
const server = createServer((request, response) => void answer(request, response));
let address: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

/** Says what it got, in the status that the path names. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, status = '200'] = (request.url ?? '').split('/');
  const { authorization, 'content-type': type, 'content-length': length } = request.headers;
  const body = await text(request);
  const got = JSON.stringify({ method: request.method, authorization, type, length, body, é: '✓' });
  response.setHeader('x-request-id', 'req_1');
  response.setHeader('vary', ['accept', 'origin']);
  if (status === '302') response.setHeader('location', '/200');
  if (status === '0') return void setImmediate(() => request.socket.destroy());
  response.writeHead(Number(status)).end(status === '204' ? undefined : got);
}

test.each([
  ['a request without a body', '/200', { headers: { accept, authorization: 'Bearer x' } }],
  [
    'a body of JSON',
    '/201',
    { method: 'POST', body: '{"word":"schön"}', headers: { accept, 'content-type': accept } },
  ],
  [
    'a form',
    '/200',
    { method: 'POST', body: new URLSearchParams({ a: 'b c' }), headers: { accept } },
  ],
  ['an answer without a body', '/204', { method: 'DELETE', headers: { accept } }],
  ['an error', '/429', { headers: { accept } }],
  ['a redirect, which is not followed', '/302', { redirect: 'manual', headers: { accept } }],
] satisfies [string, string, RequestInit][])(
  '%s is sent and read as fetch does',
  async (_, path, init) => {
    const [light, real] = await Promise.all([
      lightFetch(address + path, init),
      fetch(address + path, init),
    ]);
    const seen = async (response: Response) => ({
      status: response.status,
      ok: response.ok,
      id: response.headers.get('x-request-id'),
      vary: response.headers.get('vary'),
      text: await response.text(),
    });
    expect(await seen(light)).toEqual(await seen(real));
  },
);

test('the rest of a response is there for those who ask', async () => {
  const response = await lightFetch(`${address}/200`, { headers: { accept } });
  const bytes = await response.clone().arrayBuffer();
  expect(await response.json()).toEqual(JSON.parse(new TextDecoder().decode(bytes)));
});

test('a connection that breaks, and one that cannot be made, fail as with fetch', async () => {
  const failure = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    );
  const broken = await failure(lightFetch(`${address}/0`, { headers: { accept } }));
  expect(broken).toMatchObject({
    name: 'TypeError',
    message: 'fetch failed',
    cause: { code: 'ECONNRESET' },
  });
  const refused = await failure(lightFetch('http://127.0.0.1:1', { headers: { accept } }));
  expect(refused).toMatchObject({ message: 'fetch failed', cause: { message: 'bad port' } });
});

test('an abort ends the request', async () => {
  const signal = AbortSignal.abort();
  const call = lightFetch(`${address}/200`, { headers: { accept }, signal });
  await expect(call).rejects.toMatchObject({ cause: { name: 'AbortError' } });
});
