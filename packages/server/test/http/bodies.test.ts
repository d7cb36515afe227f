import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type OperationId, limits, operations } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSession } from '../support/api-steps.ts';
import { type Identity, pathOf } from '../support/checked-calls.ts';
import { FakeClock } from '../support/clocks.ts';
import { eventually } from '../support/eventually.ts';
import { addBystander } from '../support/identities.ts';
import { openSocket, readAnswer } from '../support/raw-requests.ts';
import { type TestServer, startServer } from '../support/server.ts';

const kibibyte = 1024;

const clock = new FakeClock();
let server: TestServer;
let bystander: Identity;
beforeAll(async () => {
  // The clock is moved further than a token usually lasts.
  server = await startServer({ clock, clientTokenSeconds: 36_000 });
  bystander = await addBystander(server);
});

interface Head {
  readonly method: string;
  readonly path: string;
  readonly headers?: Identity;
  readonly length?: number;
}

/** Sends the head of a request, without its body. Returns both ends of the connection. */
async function begin({ method, path, headers = {}, length = 1000 }: Head) {
  const mine = await openSocket(server);
  const arrived = once(server.convoke.app.server, 'request');
  const { host, port } = server.config;
  const lines = Object.entries({
    host: `${host}:${port}`,
    'content-length': String(length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  mine.write([`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  const [request] = (await arrived) as [IncomingMessage];
  const theirs = request.socket;
  /** Sends some of the body, waits until the server has read it, and lets time pass. */
  const drip = async (bytes: number, ms: number) => {
    const before = theirs.bytesRead;
    mine.write(Buffer.alloc(bytes, 'x'));
    await eventually(() => theirs.bytesRead - before === bytes && request.readableLength === 0);
    clock.advance(ms);
    return theirs.destroyed;
  };
  return { mine, theirs, drip };
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };
const requestOf = (id: OperationId) => ({ method: operations[id].method, path: pathOf(id) });

/** Requests whose body is read, refused, or for no operation at all. */
const requests: Readonly<Record<string, () => Head>> = {
  'an anonymous form': () => ({ ...requestOf('issue_token'), headers: form }),
  'a JSON body of an admitted caller': () => ({
    ...requestOf('create_session'),
    headers: { ...json, ...server.client },
  }),
  'a body behind a refusal': () => ({ ...requestOf('create_session'), headers: json }),
  'a body of an operation that takes none': () => ({
    ...requestOf('list_sessions'),
    headers: server.client,
  }),
  'a body for a path that does not exist': () => ({ method: 'POST', path: '/v1/nothing' }),
};

describe.each(Object.entries(requests))('%s', (_, head) => {
  test('is cut after a minute, however steadily it arrives', async () => {
    const { mine, drip } = await begin(head());
    expect(await drip(1, 20_000)).toBe(false);
    expect(await drip(1, 20_000)).toBe(false);
    expect((await server.send('whoami', { as: bystander })).status).toBe(200);
    expect(await drip(1, 19_999)).toBe(false);
    expect(await drip(1, 5_001)).toBe(true);
    mine.destroy();
  });

  test('is cut when it is silent for 30 s', async () => {
    const { mine, theirs, drip } = await begin(head());
    expect(await drip(1, 29_999)).toBe(false);
    clock.advance(5_001);
    expect(theirs.destroyed).toBe(true);
    mine.destroy();
  });
});

test('a page sends at most 2 MiB, where its backend may send 4 MiB (D-461)', async () => {
  const { id: session_id } = await openSession(server, 'echo');
  const params = { session_id };
  const { body: made } = await server.send('create_session_token', { params, body: {} });
  const page = { ...server.client, authorization: `Bearer ${made.token}` };
  const long = (bytes: number) => ({ messages: [], note: 'x'.repeat(bytes) });
  const send = (as: Identity, bytes: number) =>
    server.refused('send_ui_message', { as, params, body: long(bytes) });
  const most = limits.sessionBodyMaxBytes;
  expect(await send(page, most)).toMatchObject({ status: 413, error: 'body_too_large' });
  // Read, and refused for what it says.
  expect(await send(page, most - 100)).toMatchObject({ status: 400, error: 'invalid_body' });
  expect(await send(server.client, most)).toMatchObject({ status: 400, error: 'invalid_body' });
});

describe('an upload', () => {
  async function beginUpload(length: number) {
    const { id: session_id } = await openSession(server, 'echo');
    const { body: file } = await server.send('prepare_file', {
      params: { session_id },
      body: { name: 'slow.bin' },
    });
    const path = pathOf('upload_file', { params: { session_id, file_id: file.id } });
    const headers = { ...server.client, connection: 'close' };
    const { method } = operations.upload_file;
    return { path, method, ...(await begin({ method, path, headers, length })) };
  }

  test('takes as long as it needs above the lowest rate', async () => {
    const [part, parts] = [400 * kibibyte, 12];
    const { mine, theirs, drip } = await beginUpload(part * parts);
    for (let sent = 1; sent < parts; sent += 1) expect(await drip(part, 29_000)).toBe(false);
    expect(theirs.bytesRead).toBeGreaterThan(limits.uploadMinBytesPerMinute);
    mine.write(Buffer.alloc(part, 'x'));
    expect((await readAnswer(mine)).status).toBe(200);
  });

  test('is cut below the lowest rate, and other callers are answered', async () => {
    const { mine, drip } = await beginUpload(100 * kibibyte * kibibyte);
    expect(await drip(kibibyte, 25_000)).toBe(false);
    expect((await server.send('whoami', { as: bystander })).status).toBe(200);
    expect(await drip(kibibyte, 25_000)).toBe(false);
    expect(await drip(kibibyte, 25_000)).toBe(true);
    mine.destroy();
  });

  test('that is not permitted has the time of any other body', async () => {
    const { mine, path, method } = await beginUpload(1);
    mine.end('x');
    const refused = await begin({ method, path, length: 100 * kibibyte * kibibyte });
    const part = limits.uploadMinBytesPerMinute;
    expect(await refused.drip(part, 25_000)).toBe(false);
    expect(await refused.drip(part, 25_000)).toBe(false);
    expect(await refused.drip(part, 15_000)).toBe(true);
    refused.mine.destroy();
  });
});
