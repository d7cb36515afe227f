import { type OperationId, operations } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { openSession } from '../support/api-steps.ts';
import { pathOf } from '../support/checked-calls.ts';
import { type TestServer, bearer, startServer } from '../support/server.ts';

/** Which pages may read answers (D-201). `cross-origin.browser.test.ts` asks a browser. */

const app = 'https://app.example';
const dev = 'http://localhost:5173';

const ofCors = ({ headers }: { readonly headers: Headers }) =>
  [...headers].filter(([name]) => name.startsWith('access-control-'));

/** An operation whose path names no session. `whoami` is the one that pages may call. */
const isClosed = (id: OperationId) =>
  id !== 'whoami' && !operations[id].path.startsWith('/v1/sessions/{session_id}');

describe('with origins', () => {
  let server: TestServer;
  let session: string;
  let token: string;
  beforeAll(async () => {
    server = await startServer({ env: { CONVOKE_CORS_ORIGINS: `${app}, ${dev}` } });
    session = (await openSession(server, 'echo')).id;
    const params = { session_id: session };
    token = (await server.send('create_session_token', { params })).body.token;
  });

  const read = (origin: string, as = bearer(token), path = `/v1/sessions/${session}`) =>
    server.call('GET', path, { as, headers: { origin } });
  const preflight = (origin: string, path: string, method = 'POST') =>
    fetch(server.baseUrl + path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': method },
    });

  test.each([app, dev])('%s reads answers and refusals', async (origin) => {
    const answers = [
      await read(origin),
      await read(origin, {}),
      await read(origin, bearer(token), '/v1/sessions/sess_never'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404]);
    for (const { headers } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('vary')).toBe('Origin');
      expect(headers.get('access-control-expose-headers')).toContain('x-request-id');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('asks before, and learns methods and headers', async () => {
    const answer = await preflight(app, `/v1/sessions/${session}/runs`);
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(ofCors(answer))).toEqual({
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers':
        'authorization, content-type, last-event-id, idempotency-key, prefer, x-request-id',
      'access-control-max-age': '7200',
    });
    expect(answer.headers.get('vary')).toBe('Origin');
  });

  const strangers = ['https://evil.example', 'https://app.example.evil', `${app}:444`, 'null', '*'];
  test.each(strangers)('%s gets no header that lets it read', async (origin) => {
    const answer = await read(origin);
    expect([answer.status, ofCors(answer)]).toEqual([200, []]);
    expect(answer.headers.get('vary')).toBe('Origin');
    const asked = await preflight(origin, `/v1/sessions/${session}/runs`);
    expect([asked.status, ofCors(asked)]).toEqual([405, []]);
  });

  test.each((Object.keys(operations) as OperationId[]).filter(isClosed))(
    '%s is not for pages',
    async (id) => {
      const names = operations[id].path.matchAll(/\{(\w+)\}/g);
      const params = Object.fromEntries(Array.from(names, ([, name = '']) => [name, 'x']));
      const path = pathOf(id, { params });
      const { method } = operations[id];
      const headers = { origin: app };
      const answer = await fetch(server.baseUrl + path, { method, headers });
      await answer.body?.cancel();
      expect(ofCors(answer)).toEqual([]);
      const asked = await preflight(app, path, method);
      expect([[404, 405].includes(asked.status), ofCors(asked)]).toEqual([true, []]);
    },
  );

  test.each(['/console/', '/sign-in', '/metrics', '/nowhere'])(
    '%s is not for pages',
    async (path) => {
      const answer = await fetch(server.baseUrl + path, { headers: { origin: app } });
      await answer.body?.cancel();
      expect(ofCors(answer)).toEqual([]);
      expect(ofCors(await preflight(app, path, 'GET'))).toEqual([]);
    },
  );

  test('OPTIONS that no browser sends before a request is refused as ever (D-70)', async () => {
    const path = `${server.baseUrl}/v1/sessions/${session}`;
    const answer = await fetch(path, { method: 'OPTIONS', headers: { origin: app } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, PATCH']);
  });
});

test('without origins no page of another origin reads anything', async () => {
  const server = await startServer();
  const headers = { origin: app };
  const answer = await server.call('GET', '/v1/whoami', { headers });
  expect([answer.status, ofCors(answer), answer.headers.get('vary')]).toEqual([200, [], null]);
});

test.each([
  '*',
  'null',
  'app.example',
  'https://app.example/',
  'https://*.app.example',
  'ftp://a.b',
])('the origin %s is refused at the start', (entry) => {
  const read = () => readConfig({ CONVOKE_CORS_ORIGINS: `${app},${entry}` });
  expect(read).toThrow(`"${entry}" is not an origin such as https://app.example`);
});
