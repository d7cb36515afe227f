import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  type Answer,
  answering,
  inTurn,
  json,
  noAnswer,
  refusal,
} from '../../sdk/test/answering.ts';
import { type Asked, askPython, modes, programPath } from './python.ts';
import { startTlsServer } from './tls-servers.ts';

const tokenPath = '/v1/oauth/token';

/** Issues token-1, token-2, … and answers everything else. */
function issuing(answer: Answer, expires_in = 600): Answer {
  let issued = 0;
  return (seen, response) => {
    if (seen.path !== tokenPath) return answer(seen, response);
    issued += 1;
    return json(200, { access_token: `token-${issued}`, expires_in })(seen, response);
  };
}

describe.each(modes)('a request, %s', (mode) => {
  let caller: Asked;
  beforeAll(() => {
    caller = askPython([programPath('caller.py'), mode]);
  });
  afterAll(() => caller[Symbol.asyncDispose]());

  async function calling(call: string, answer: Answer, more: object = {}) {
    await using server = await answering(answer);
    const told = await caller.ask<Record<string, unknown>>({
      base_url: server.baseUrl,
      call,
      times: 1,
      token: true,
      ...more,
    });
    return { told, seen: server.seen };
  }

  test('with a key is repeated with the same key and body after a lost response, 503 and 429', async () => {
    const limited = refusal(429, 'rate_limited', { 'retry-after': '0' });
    const answers = inTurn(
      noAnswer,
      refusal(503, 'storage_unavailable'),
      limited,
      json(201, { id: 1 }),
    );
    const { told, seen } = await calling('schedule', answers);
    expect(told).toEqual({ result: { id: 1 } });
    expect(seen).toHaveLength(4);
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ idempotency_key: expect.any(String) });
  });

  test('is given up after four attempts, and says how often it was sent', async () => {
    const { told, seen } = await calling('resume', refusal(503, 'storage_unavailable'));
    expect(told).toMatchObject({
      error: 'ServerError',
      code: 'storage_unavailable',
      attempts: 4,
      unsure: true,
    });
    expect(seen).toHaveLength(4);
  });

  test('without a key is repeated only if nothing was done', async () => {
    const lost = await calling('rotate', noAnswer);
    expect(lost.told).toMatchObject({ error: 'ConnectionFailedError', attempts: 1 });
    expect(lost.seen).toHaveLength(1);
    const limited = inTurn(refusal(429, 'rate_limited', { 'retry-after': '0' }), json(200, {}));
    expect((await calling('rotate', limited)).told).toEqual({ result: {} });
  });

  test('that has to wait longer than a minute is not repeated', async () => {
    const { told, seen } = await calling(
      'whoami',
      refusal(429, 'rate_limited', { 'retry-after': '61' }),
    );
    expect(told).toMatchObject({ error: 'RateLimitError', retry_after: 61 });
    expect(seen).toHaveLength(1);
  });

  test('is not sent to the address of a redirect', async () => {
    const redirect: Answer = (_seen, response) =>
      void response.writeHead(302, { location: '/elsewhere' }).end();
    const { told, seen } = await calling('whoami', redirect);
    expect(told).toMatchObject({ code: 'unexpected_redirect' });
    expect(seen).toHaveLength(1);
  });

  test('that gets no answer in time fails', async () => {
    const silent: Answer = () => {};
    const { told } = await calling('rotate', silent, { timeout: 0.1 });
    expect(told).toMatchObject({ error: 'ConnectionFailedError', code: 'timeout' });
  });

  test('shares one token with all others, and gets another one after a 401', async () => {
    const { seen } = await calling('whoami', issuing(json(200, {})), { token: false, times: 20 });
    expect(seen.filter(({ path }) => path === tokenPath)).toHaveLength(1);
    const rejecting: Answer = (request, response) =>
      request.headers.authorization === 'Bearer token-1'
        ? refusal(401, 'unauthorized')(request, response)
        : json(200, { ok: true })(request, response);
    const renewed = await calling('whoami', issuing(rejecting), { token: false });
    expect(renewed.told).toEqual({ result: { ok: true } });
    const always = await calling('whoami', issuing(refusal(401, 'unauthorized')), { token: false });
    expect(always.told).toMatchObject({ error: 'AuthenticationError', code: 'unauthorized' });
    expect(always.seen.filter(({ path }) => path === tokenPath)).toHaveLength(2);
  });

  test('asks for a token each time when tokens live for no time', async () => {
    const { told, seen } = await calling('whoami', issuing(json(200, {}), 0), {
      token: false,
      times: 3,
    });
    expect(told).toEqual({ result: {} });
    expect(seen.filter(({ path }) => path === tokenPath)).toHaveLength(3);
  });

  test('uses a connection again, but not one that the server has closed (D-371)', async () => {
    const reused = await calling('whoami', json(200, {}), { times: 1 });
    expect(reused.seen[0]?.headers.connection).toBeUndefined();
    // The server says nothing, and closes the connection that it kept open.
    const closing: Answer = (seen, response) => {
      response.once('finish', () => response.socket?.destroy());
      return seen.path === tokenPath
        ? json(200, { access_token: 'a', expires_in: 600 })(seen, response)
        : json(200, { ok: true })(seen, response);
    };
    expect((await calling('rotate', closing, { token: false })).told).toEqual({
      result: { ok: true },
    });
    expect((await calling('whoami', closing, { token: false })).told).toEqual({
      result: { ok: true },
    });
  });
});

test.each(modes)(
  'TLS is verified, and HTTPS_PROXY is asked for a tunnel, %s (D-222)',
  async (mode) => {
    const { cert, port } = await startTlsServer((_request, response) =>
      response.end('{"ok":true}'),
    );
    const tunnels: string[] = [];
    const proxy = await startTunnels(tunnels);
    onTestFinished(() => void proxy.close());
    const question = {
      base_url: `https://localhost:${port}`,
      call: 'whoami',
      times: 1,
      token: true,
    };
    const proxyUrl = `http://user:pass@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const answers = [];
    for (const env of [
      {},
      { SSL_CERT_FILE: cert },
      { SSL_CERT_FILE: cert, HTTPS_PROXY: proxyUrl },
    ]) {
      await using caller = askPython([programPath('caller.py'), mode], env);
      answers.push(await caller.ask(question));
    }
    expect(answers).toEqual([
      expect.objectContaining({ error: 'ConnectionFailedError' }),
      { result: { ok: true } },
      { result: { ok: true } },
    ]);
    expect(tunnels).toEqual([`CONNECT localhost:${port} Basic ${btoa('user:pass')}`]);
  },
);

async function startTunnels(seen: string[]) {
  const proxy = createServer((near: Socket) => {
    near.on('error', () => {});
    near.once('data', (head) => {
      const [, target = '', login = ''] =
        /^CONNECT (\S+) [^]*proxy-authorization: (.+)\r\n/.exec(head.toString()) ?? [];
      seen.push(`CONNECT ${target} ${login}`);
      const far = connect(Number(target.split(':')[1]), 'localhost', () => {
        near.write('HTTP/1.1 200 Connection established\r\n\r\n');
        near.pipe(far).pipe(near);
      });
      far.on('error', () => near.destroy());
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}
