import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { operationList } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { methodsOf } from '../../src/http/declared-paths.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { anonymous } from '../support/checked-calls.ts';
import { FailingStore } from '../support/failing-store.ts';
import { openSocket, sendRaw, readAnswer } from '../support/raw-requests.ts';
import { type TestServer, startServer } from '../support/server.ts';

const failing = new FailingStore();
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ wrapStore: failing.wrap, expectsFaults: true });
});

describe('health and readiness', () => {
  test('a running server is healthy, for any caller', async () => {
    expect((await server.send('get_health')).body).toEqual({ status: 'ok' });
    expect((await server.send('get_readiness')).body).toEqual({ status: 'ready' });
  });

  test('it is alive but not ready while its storage is unavailable, and ready again afterwards', async () => {
    failing.fault = new StorageUnavailable('away');
    const refused = await server.refused('get_readiness');
    expect(refused).toMatchObject({ status: 503, error: 'not_ready' });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await server.send('get_health')).status).toBe(200);
    failing.fault = undefined;
    expect((await server.send('get_readiness')).status).toBe(200);
  });
});

describe('the description of the API', () => {
  test('is served as it is checked in, with the address of this server', async () => {
    const { text } = await server.send('get_openapi');
    const checkedIn = await readFile(
      new URL('../../../../docs/reference/openapi.json', import.meta.url),
      'utf8',
    );
    const served = JSON.parse(text);
    const written = JSON.parse(checkedIn);
    expect(served.openapi).toMatch(/^3\.1\./);
    expect(served.paths).toEqual(written.paths);
    expect(served.components.schemas).toEqual(written.components.schemas);
    expect(JSON.stringify(served.servers)).toContain(server.baseUrl);
  });

  test.each([
    ['/docs', 'Everything by name'],
    ['/docs/reference/sessions', '/v1/sessions'],
    ['/docs/guides/concepts', 'Session, run, event'],
  ])(
    'is a page at %s that loads nothing, under a policy that names its script',
    async (path, words) => {
      const { status, headers, text } = await server.call('GET', path);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toMatch(/script-src 'sha256-[^']+';/);
      expect(text).not.toMatch(/ src=/);
      expect(text).toContain(words);
    },
  );

  test('a guide that does not exist is not found', async () => {
    for (const guide_name of ['nothing', '..%2fdecisions', 'CONCEPTS']) {
      const refused = await server.refused('get_guide', { params: { guide_name } });
      expect(refused).toMatchObject({ status: 404, error: 'not_found' });
    }
  });

  test('a page of the reference that does not exist is not found', async () => {
    const refused = await server.refused('get_reference_page', {
      params: { page_name: 'nothing' },
    });
    expect(refused).toMatchObject({ status: 404, error: 'not_found' });
  });

  test('the index of the search is JSON, and leads to pages that there are', async () => {
    const { headers, text } = await server.call('GET', '/docs/search');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    const { entries } = JSON.parse(text) as { entries: string[][] };
    const [, , , , href = ''] = entries.at(-1) ?? [];
    expect((await server.call('GET', `/${href.split('#')[0]}`)).status).toBe(200);
  });

  test.each([
    ['/docs.md', 'text/markdown', '# From zero to a run in your own code'],
    ['/docs/guides/concepts.md', 'text/markdown', '# Concepts'],
    ['/docs/reference/runs.md', 'text/markdown', '`POST /v1/sessions/{session_id}/runs`'],
    ['/llms.txt', 'text/plain', '(docs/guides/concepts.md)'],
    ['/llms-full.txt', 'text/plain', '# Concepts'],
  ])('%s is %s for coding agents', async (path, type, words) => {
    const answer = await sendRaw(server, { method: 'GET', path });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.text).toContain(words);
    const head = await sendRaw(server, { method: 'HEAD', path });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  test.each(['/docs/guides/nothing.md', '/docs/reference/..%2f.md', '/docs/guides/.md'])(
    '%s is not found',
    async (path) => {
      const answer = await sendRaw(server, { method: 'GET', path });
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([404, { error: 'not_found' }]);
    },
  );

  test('people who type a slash after the address get to the page', async () => {
    const answer = await sendRaw(server, { method: 'GET', path: '/docs/' });
    expect([answer.status, answer.headers.get('location')]).toEqual([308, '../docs']);
    expect(answer.headers.get('x-request-id')).toBeTruthy();
  });
});

describe('unrouted requests are denied', () => {
  test.each([
    ['GET', '/v2/sessions', 404, 'not_found'],
    ['POST', '/', 405, 'method_not_allowed'],
    ['GET', '/v1//sessions', 404, 'not_found'],
    ['GET', '/V1/sessions', 404, 'not_found'],
    ['GET', '/v1/sessions/%zz', 404, 'not_found'],
    ['PATCH', '/v1/sessions', 405, 'method_not_allowed'],
    ['POST', '/healthz', 405, 'method_not_allowed'],
    ['PUT', '/v1/sessions/sess_x', 405, 'method_not_allowed'],
    ['DELETE', '/v1/sessions/sess_x/runs/run_x/events?x=1', 405, 'method_not_allowed'],
    ['GET', '/v1/organizations/org_x/m2m/cli_x/credentials/cred_x', 405, 'method_not_allowed'],
    ['GET', '/v1/sessions/sess_x/nothing', 404, 'not_found'],
    ['OPTIONS', '/v1/whoami', 405, 'method_not_allowed'],
    ['QUERY', '/healthz', 405, 'method_not_allowed'],
    ['QUERY', '/nothing', 404, 'not_found'],
    ['PUT', '/v1/organizations/org_x/tenants/ten_x:explode', 404, 'not_found'],
    ['POST', '/v1/organizations/org_x/tenants/ten_x:explode', 404, 'not_found'],
    ['POST', '/v1/organizations/org_x/tenants/ten_x:Retry', 404, 'not_found'],
    ['PUT', '/v1/sessions/not%20an%20id', 404, 'not_found'],
    ['POST', '/console/', 405, 'method_not_allowed'],
  ] as const)('%s %s → %s %s', async (...row) => {
    const [method, path, status, error] = row;
    const answer = await sendRaw(server, { method, path });
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ error });
    expect(answer.headers.get('x-request-id')).toBeTruthy();
  });

  const methods: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
  // One that Node does not know is treated as any other (D-274).
  const others = ['OPTIONS', 'QUERY', 'TRACE', 'PROPFIND', 'UNKNOWN-TO-NODE'];
  const paths = new Set(operationList.map(({ path }) => path));
  test.each([...paths])(
    '%s names its methods in Allow when asked with another (RFC 9110 section 15.5.6)',
    async (declared) => {
      const callback = `run_x.paid.${'x'.repeat(16)}.${'x'.repeat(32)}`;
      const path = declared.replace('{callback_token}', callback).replaceAll(/\{\w+\}/g, 'x');
      const allowed: string[] = operationList
        .filter((one) => one.path === declared)
        .flatMap((one) => methodsOf(one))
        .toSorted((a, b) => methods.indexOf(a) - methods.indexOf(b));
      for (const method of [...methods, ...others].filter((one) => !allowed.includes(one))) {
        const answer = await sendRaw(server, { method, path });
        expect([method, answer.status]).toEqual([method, 405]);
        expect(answer.headers.get('allow')).toBe(allowed.join(', '));
      }
    },
  );

  test('a tenant id does not include the verb after it', async () => {
    const { organization_id, tenant_id } = server.quickstart;
    const path = `/v1/organizations/${organization_id}/tenants/${tenant_id}`;
    const retry = await server.call('POST', `${path}:retry`, { as: server.owner });
    expect([retry.status, JSON.parse(retry.text).error]).toEqual([409, 'tenant_not_retryable']);
  });

  test.each(['/healthz', '/nothing', '/v1/sessions', '/v1/whoami'])(
    'a body that is not HTTP gets one answer at %s, whatever is there',
    async (path) => {
      const socket = await openSocket(server);
      socket.write(`PUT ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: nonsense\r\n\r\n`);
      const said = await text(socket);
      expect(said.match(/HTTP\/1\.1 /g)).toHaveLength(1);
      expect(said).toMatch(/^HTTP\/1\.1 400 /);
    },
  );

  test('an unrouted request in a pipeline is answered in its turn', async () => {
    const socket = await openSocket(server);
    const next = 'GET /nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    socket.write(`GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n${next}`);
    const said = await text(socket);
    expect(said.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404']);
  });

  test.each([
    ['two Host headers (RFC 9112 section 3.2)', 'GET /healthz HTTP/1.1\r\nhost: x\r\nHost: y\r\n'],
    ['no Host header', 'GET /healthz HTTP/1.1\r\n'],
    ['HTTP/0.9', 'GET /healthz HTTP/0.9\r\nhost: x\r\n'],
    ['HTTP/2.0', 'GET /healthz HTTP/2.0\r\nhost: x\r\n'],
  ])('%s is refused', async (_what, head) => {
    const socket = await openSocket(server);
    socket.write(`${head}connection: close\r\n\r\n`);
    const answer = await readAnswer(socket);
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, 'invalid_request']);
    expectComplete(answer);
  });

  test('HTTP/1.0 needs no Host header', async () => {
    const socket = await openSocket(server);
    socket.write('GET /healthz HTTP/1.0\r\n\r\n');
    expect((await readAnswer(socket)).status).toBe(200);
  });

  test('an empty id is not found', async () => {
    const headers = Object.entries(server.client);
    const answer = await sendRaw(server, { method: 'GET', path: '/v1/sessions/', headers });
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([404, 'not_found']);
  });

  test.each([
    ['GARBAGE\r\n\r\n', 400],
    ['GET /healthz HTTP/1.1\r\nhost: x\r\nno colon\r\n\r\n', 400],
    ['FOO /v1/organizations/org_x/m2m HTTP/1.1\r\nhost: x\r\n\r\n', 405],
    ['get /nothing HTTP/1.1\r\nhost: x\r\n\r\n', 404],
    [`GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ])('bytes that Node does not take get a complete answer, too', async (bytes, status) => {
    const socket = await openSocket(server);
    socket.write(bytes);
    const answer = await readAnswer(socket);
    expect(answer.status).toBe(status);
    expect(typeof JSON.parse(answer.text).error).toBe('string');
    expectComplete(answer);
  });
});

describe('the order of refusals (D-52)', () => {
  test('an answer that fits no interaction is reported before a missing one', async () => {
    const { body: session } = await server.send('create_session', { body: { agent_name: 'echo' } });
    const path = `/v1/sessions/${session.id}/interactions/int_none/answer`;
    const ask = async (body: object) =>
      (await server.call('POST', path, { as: server.client, body })).status;
    expect(await ask({ zz: 1 })).toBe(400);
    expect(await ask({ decision: 'allow' })).toBe(404);
    expect(await ask({ answer: 'blue' })).toBe(404);
  });

  test.each([
    ['GET', '/v1/me?zz=1'],
    ['POST', '/v1/invitations/accept'],
  ] as const)('%s %s by a machine is refused before it is read', async (method, path) => {
    const body = method === 'POST' ? { zz: 1 } : undefined;
    const answer = await server.call(method, path, { as: server.client, body });
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([403, 'forbidden']);
  });
});

/** Spec §1 convention 6 and D-70: not to be stored, and with one request id in its header and in its body. */
function expectComplete({ headers, text: body }: Awaited<ReturnType<typeof readAnswer>>): void {
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-request-id')).toMatch(/^req_/);
  expect(JSON.parse(body).request_id).toBe(headers.get('x-request-id'));
}

describe('every answer', () => {
  test('carries the request id: the client’s if valid, else a new one (D-70)', async () => {
    const { headers } = await server.send('whoami', { headers: { 'x-request-id': 'trace-123' } });
    expect(headers.get('x-request-id')).toBe('trace-123');
    for (const sent of ['has space', 'x'.repeat(65), '<script>']) {
      const answer = await server.send('whoami', { headers: { 'x-request-id': sent } });
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    }
    const refused = await server.refused('whoami', {
      as: anonymous,
      headers: { 'x-request-id': 'trace-456' },
    });
    expect(JSON.parse(refused.text).request_id).toBe('trace-456');
  });

  test('to a caller with a token is not cacheable, and none lets a browser act on it', async () => {
    const { headers } = await server.send('whoami');
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
    for (const name of ['server', 'x-powered-by', 'access-control-allow-origin', 'set-cookie']) {
      expect(headers.has(name)).toBe(false);
    }
  });
});
