import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Answer, answering, json } from '../../sdk/test/answering.ts';
import {
  type Outcome,
  clientRules,
  expectedRequests,
  observeRequests,
  titled,
} from '../../sdk/test/client-rules.ts';
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
    const usual = { call, times: 1, attempts: 4, token: true, timeout_ms: 60_000 };
    const told = await caller.ask<Outcome>({ base_url: server.baseUrl, ...usual, ...more });
    return { told, seen: server.seen };
  }

  test.each(titled(clientRules.requests))('%s', async (_rule, rule) => {
    const observed = await observeRequests(rule, (question) => caller.ask(question));
    expect(observed).toMatchObject(expectedRequests(rule));
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
    expect((await calling('rotate_secret', closing, { token: false })).told).toEqual({
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
      attempts: 4,
      token: true,
      timeout_ms: 60_000,
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
      { error: expect.objectContaining({ name: 'ConnectionError' }) },
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
