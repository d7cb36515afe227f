import { describe, expect, test } from 'vitest';
import { ConnectionError, type TokenProvider, openSession } from '../src/index.ts';
import {
  answering,
  clientAt,
  inTurn,
  json,
  refusal,
  runRecord,
  sessionRecord,
} from './answering.ts';

describe('openSession (D-202)', () => {
  test('sends the token alone: no selectors, and nothing is looked up', async () => {
    await using server = await answering(json(200, sessionRecord));
    await openSession({ ...server, sessionId: 'sess_1', token: 'page-token' }).read();
    expect(server.seen.map(({ path }) => path)).toEqual(['/v1/sessions/sess_1']);
    const headers = server.seen[0]?.headers ?? {};
    expect(headers['authorization']).toBe('Bearer page-token');
    expect(Object.keys(headers).filter((name) => name.startsWith('x-'))).toEqual([]);
  });

  test('asks for a token once, and again after the service rejected it', async () => {
    const asked: (string | undefined)[] = [];
    const token: TokenProvider = async ({ rejected }) => {
      asked.push(rejected);
      return `token-${asked.length}`;
    };
    let expired = '';
    await using server = await answering((seen, response) => {
      const isExpired = seen.headers['authorization'] === `Bearer ${expired}`;
      const answer = isExpired ? refusal(401, 'unauthorized') : json(200, sessionRecord);
      return answer(seen, response);
    });
    const session = openSession({ ...server, sessionId: 'sess_1', token });
    await Promise.all([session.read(), session.read(), session.read()]);
    expect(asked).toEqual([undefined]);
    expired = 'token-1';
    await Promise.all([session.read(), session.read()]);
    await session.read();
    expect(asked).toEqual([undefined, 'token-1']);
    expect(server.seen.at(-1)?.headers['authorization']).toBe('Bearer token-2');
  });

  test('reports a lost network as one, and asks again later', async () => {
    await using server = await answering(json(200, sessionRecord));
    let isOffline = true;
    const token = async () => {
      if (isOffline) throw new TypeError('Failed to fetch');
      return 'page-token';
    };
    const session = openSession({ ...server, sessionId: 'sess_1', token });
    await expect(session.read()).rejects.toThrow(ConnectionError);
    isOffline = false;
    await expect(session.read()).resolves.toMatchObject({ id: 'sess_1' });
  });

  test('passes on what the function itself throws', async () => {
    await using server = await answering(json(200, sessionRecord));
    const signedOut = new Error('signed out');
    const token = () => Promise.reject(signedOut);
    const session = openSession({ ...server, sessionId: 'sess_1', token });
    await expect(session.read()).rejects.toBe(signedOut);
    expect(server.seen).toEqual([]);
  });
});

describe('convoke.fetch (D-202)', () => {
  test('is fetch with token and workspace, without a client before the dot', async () => {
    await using server = await answering(json(200, runRecord, { 'x-run-id': 'run_1' }));
    const { fetch } = clientAt(server);
    const url = new URL('/v1/any?a=b', server.baseUrl);
    const headers = { 'content-type': 'application/json', authorization: 'Basic nonsense' };
    const answer = await fetch(url, { method: 'POST', headers, body: '{"a":1}' });
    expect(answer.headers.get('x-run-id')).toBe('run_1');
    expect(await answer.json()).toMatchObject({ id: 'run_1' });
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: 'POST', path: '/v1/any', body: '{"a":1}' });
    expect(seen?.headers).toMatchObject({
      authorization: 'Bearer a-token',
      'x-organization-id': 'org_1',
      'x-workspace-tenant-id': 'ten_1',
      'content-type': 'application/json',
    });
  });

  test('sends a request again with a new token after a 401, its body as well', async () => {
    const tokens = ['old', 'new'];
    const token: TokenProvider = ({ rejected }) => (rejected === undefined ? 'old' : 'new');
    await using server = await answering(
      inTurn(
        refusal(401, 'unauthorized'),
        json(200, {}),
        refusal(401, 'unauthorized'),
        json(200, {}),
      ),
    );
    const { fetch } = clientAt(server, { token });
    const url = `${server.baseUrl}/v1/any`;
    const ways = [
      () => fetch(url, { method: 'POST', body: 'twice' }),
      () => fetch(new Request(url, { method: 'POST', body: 'twice' })),
    ];
    for (const send of ways) expect((await send()).status).toBe(200);
    expect(server.seen.map(({ body }) => body)).toEqual(['twice', 'twice', 'twice', 'twice']);
    const sent = server.seen.map(({ headers }) => headers['authorization']);
    expect(sent).toEqual([...tokens, ...tokens].map((one) => `Bearer ${one}`));
  });

  test('shows the 401 that a new token does not change, and does not repeat a stream', async () => {
    await using server = await answering(refusal(401, 'unauthorized'));
    const { fetch } = clientAt(server, { token: () => 'any' });
    const url = `${server.baseUrl}/v1/any`;
    expect((await fetch(url)).status).toBe(401);
    expect(server.seen).toHaveLength(2);
    const body = new Blob(['once']).stream();
    const streamed = { method: 'POST', body, duplex: 'half' } as const;
    expect((await fetch(url, streamed)).status).toBe(401);
    expect(server.seen).toHaveLength(3);
  });

  test.each([
    'https://evil.example/v1/any',
    'http://127.0.0.1:1/v1/any',
    '{base}@evil.example/v1/any',
    '{base}/../v1/any',
    '{base}-too/v1/any',
    '{base}/%2e%2e/v1/any',
  ])('sends nothing to %s', async (template) => {
    let sent = 0;
    const fetch = async () => {
      sent += 1;
      return new Response();
    };
    const baseUrl = 'https://convoke.example/below';
    const convoke = clientAt({ baseUrl }, { fetch });
    const url = template.replace('{base}', baseUrl);
    await expect(convoke.fetch(url)).rejects.toThrow(TypeError);
    expect(sent).toBe(0);
    await convoke.fetch(`${baseUrl}/v1/any`);
    expect(sent).toBe(1);
  });
});
