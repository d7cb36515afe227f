import { describe, expect, test } from 'vitest';
import {
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from '../src/index.ts';
import {
  answering,
  clientAt,
  inTurn,
  json,
  noAnswer,
  refusal,
  runRecord,
  sessionRecord,
} from './answering.ts';

const created = json(201, sessionRecord);

describe('spec §7: creates and starts are retried only with the same key and body', () => {
  test.each([
    ['trouble in the service', refusal(503, 'storage_unavailable')],
    ['too many requests', refusal(429, 'rate_limited', { 'retry-after': '0' })],
    ['no answer', noAnswer],
    [
      'an answer that is not JSON',
      (_seen: unknown, response: { end(text: string): void }) => response.end('<html>'),
    ],
  ])('a session is created once after %s', async (_what, trouble) => {
    await using server = await answering(inTurn(trouble, trouble, created));
    const session = await clientAt(server).sessions.create('demo');
    expect(session.id).toBe('sess_1');
    expect(server.seen).toHaveLength(3);
    expect(new Set(server.seen.map(({ body }) => body)).size).toBe(1);
    expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({
      agent_name: 'demo',
      idempotency_key: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });

  test('a run is started with the key of the caller, so that another process can repeat the call', async () => {
    await using server = await answering(inTurn(noAnswer, json(201, runRecord)));
    await clientAt(server).sessions.at('sess_1').run('Hello', { idempotencyKey: 'order-7' });
    const bodies = server.seen.map(({ body }) => JSON.parse(body));
    const expected = { input: { prompt: 'Hello' }, idempotency_key: 'order-7' };
    expect(bodies).toEqual([expected, expected]);
  });

  test('a file is prepared with one key, whatever happens to the first answers', async () => {
    const trouble = refusal(503, 'storage_unavailable');
    await using server = await answering(inTurn(noAnswer, trouble, json(201, { id: 'file_1' })));
    const { files } = clientAt(server).sessions.at('sess_1');
    expect(await files.prepare({ name: 'a.txt' })).toEqual({ id: 'file_1' });
    const bodies = server.seen.map(({ body }) => JSON.parse(body));
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies.map(({ idempotency_key: key }) => key)).size).toBe(1);
  });

  test('two calls have two keys', async () => {
    await using server = await answering(created);
    const convoke = clientAt(server);
    await Promise.all([convoke.sessions.create('demo'), convoke.sessions.create('demo')]);
    const [first, second] = server.seen.map(({ body }) => JSON.parse(body).idempotency_key);
    expect(first).not.toBe(second);
  });
});

describe('an error that a retry cannot fix is thrown immediately', () => {
  test.each([
    [400, 'invalid_body', InvalidRequestError],
    [403, 'forbidden', PermissionError],
    [404, 'not_found', NotFoundError],
    [409, 'session_terminal', ConflictError],
    [412, 'session_terminal', ConflictError],
    [413, 'body_too_large', InvalidRequestError],
  ])('%i %s', async (status, code, family) => {
    await using server = await answering(refusal(status, code));
    const error = await clientAt(server)
      .sessions.create('demo')
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(family);
    expect(error).toMatchObject({ code, status, requestId: 'req_1', message: `It says ${code}.` });
    expect(server.seen).toHaveLength(1);
  });

  test('a body with only a code, as the gate returns, is a regular error (spec §7)', async () => {
    await using server = await answering(
      json(403, { error: 'forbidden' }, { 'x-request-id': 'req_9' }),
    );
    await expect(clientAt(server).whoami()).rejects.toMatchObject({
      name: 'PermissionError',
      code: 'forbidden',
      requestId: 'req_9',
      message: 'GET /v1/whoami returned 403.',
    });
  });

  test('a response of a proxy becomes an error with its status', async () => {
    await using server = await answering((_seen, response) => {
      response.writeHead(418).end('<html>teapot</html>');
    });
    await expect(clientAt(server).whoami()).rejects.toMatchObject({
      code: 'http_418',
      status: 418,
    });
  });

  test('a redirect is not followed, because it would forward the token', async () => {
    await using elsewhere = await answering(json(200, {}));
    await using server = await answering((_seen, response) => {
      response.writeHead(307, { location: `${elsewhere.baseUrl}/v1/whoami` }).end();
    });
    await expect(clientAt(server).whoami()).rejects.toMatchObject({ code: 'unexpected_redirect' });
    expect(elsewhere.seen).toHaveLength(0);
  });
});

describe('retries are bounded', () => {
  test('four attempts, and the error says so', async () => {
    await using server = await answering(refusal(500, 'internal'));
    await expect(clientAt(server).whoami()).rejects.toMatchObject({
      name: 'ServerError',
      code: 'internal',
      attempts: 4,
    });
    expect(server.seen).toHaveLength(4);
  });

  test('the application can set the number of attempts', async () => {
    await using server = await answering(refusal(429, 'rate_limited'));
    await expect(clientAt(server, { retry: false }).whoami()).rejects.toBeInstanceOf(
      RateLimitError,
    );
    expect(server.seen).toHaveLength(1);
  });

  test('a Retry-After of minutes is thrown instead of awaited', async () => {
    await using server = await answering(refusal(429, 'rate_limited', { 'retry-after': '300' }));
    await expect(clientAt(server).whoami()).rejects.toMatchObject({
      name: 'RateLimitError',
      retryAfter: 300,
    });
    expect(server.seen).toHaveLength(1);
  });

  test('Retry-After is honoured', async () => {
    const times: number[] = [];
    const note = inTurn(refusal(429, 'rate_limited', { 'retry-after': '1' }), json(200, {}));
    await using server = await answering((seen, response) => {
      times.push(performance.now());
      return note(seen, response);
    });
    await clientAt(server).whoami();
    const [first = 0, second = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(990);
  });

  test('Retry-After may be a date', async () => {
    const inFiveMinutes = new Date(Date.now() + 300_000).toUTCString();
    await using server = await answering(
      refusal(503, 'not_ready', { 'retry-after': inFiveMinutes }),
    );
    const error = await clientAt(server)
      .whoami()
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ServerError);
    expect((error as ServerError).retryAfter).toBeGreaterThan(100);
  });

  test('an unreachable server is a ConnectionError with the reason', async () => {
    const gone = await answering(json(200, {}));
    await gone[Symbol.asyncDispose]();
    await expect(clientAt(gone).whoami()).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'connection_failed',
      status: undefined,
      attempts: 4,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('a server that never responds is a ConnectionError after the timeout', async () => {
    await using server = await answering(() => {});
    const convoke = clientAt(server, { timeoutMs: 20 });
    const error = await convoke.whoami().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'timeout', attempts: 4 });
  });
});

describe('retries can be aborted', () => {
  test('during a pause', async () => {
    const controller = new AbortController();
    await using server = await answering((seen, response) => {
      response.once('close', () => controller.abort(new Error('enough')));
      return refusal(429, 'rate_limited', { 'retry-after': '30' })(seen, response);
    });
    const call = clientAt(server).whoami({ signal: controller.signal });
    await expect(call).rejects.toThrow('enough');
    expect(server.seen).toHaveLength(1);
  });

  test('during a request', async () => {
    const controller = new AbortController();
    await using server = await answering(() => controller.abort(new Error('enough')));
    await expect(clientAt(server).whoami({ signal: controller.signal })).rejects.toThrow('enough');
    expect(server.seen).toHaveLength(1);
  });

  test('before anything is sent', async () => {
    await using server = await answering(json(200, {}));
    const call = clientAt(server).whoami({ signal: AbortSignal.abort(new Error('never')) });
    await expect(call).rejects.toThrow('never');
    expect(server.seen).toHaveLength(0);
  });
});

describe('a request without a key is retried only if it certainly had no effect', () => {
  test('rotating a secret: not after a server error', async () => {
    await using server = await answering(refusal(503, 'storage_unavailable'));
    const { webhooks } = clientAt(server);
    await expect(webhooks.rotate('wh_1')).rejects.toBeInstanceOf(ServerError);
    expect(server.seen).toHaveLength(1);
  });

  test('rotating a secret: after 429, which is returned before anything is done', async () => {
    await using server = await answering(
      inTurn(refusal(429, 'rate_limited'), json(200, { secret: 'whsec_1' })),
    );
    expect(await clientAt(server).webhooks.rotate('wh_1')).toEqual({ secret: 'whsec_1' });
  });
});

describe('an idempotent request is retried', () => {
  test.each([
    ['cancel (D-24)', (at: ReturnType<typeof handles>) => at.run.cancel()],
    ['stop (D-13)', (at: ReturnType<typeof handles>) => at.session.stop()],
    ['resume (D-14)', (at: ReturnType<typeof handles>) => at.session.resume()],
    [
      'answer (D-38)',
      (at: ReturnType<typeof handles>) =>
        at.session.interactions.answer('int_1', { decision: 'allow' }),
    ],
  ])('%s', async (_what, call) => {
    await using server = await answering(inTurn(noAnswer, json(200, { ok: true })));
    expect(await call(handles(server))).toEqual({ ok: true });
    expect(server.seen[0]?.body).toBe(server.seen[1]?.body);
  });

  // D-13, D-275: the service itself succeeds the second time, so what it refuses is refused.
  test('a session that has failed cannot be terminated, also after a lost response', async () => {
    await using server = await answering(inTurn(noAnswer, refusal(409, 'session_terminal')));
    const stop = handles(server).session.stop({ mode: 'terminate' });
    await expect(stop).rejects.toBeInstanceOf(ConflictError);
  });

  test('a file of a session that does not exist is a NotFoundError, also after a lost response', async () => {
    await using server = await answering(inTurn(noAnswer, refusal(404, 'not_found')));
    const deletion = handles(server).session.files.delete('file_1');
    await expect(deletion).rejects.toBeInstanceOf(NotFoundError);
  });

  function handles(server: { readonly baseUrl: string }) {
    const session = clientAt(server).sessions.at('sess_1');
    return { session, run: session.runs.at('run_1') };
  }
});

test('an id that would address another resource is rejected before a request is sent', async () => {
  await using server = await answering(json(200, sessionRecord));
  const convoke = clientAt(server);
  for (const id of ['', '.', '..']) expect(() => convoke.sessions.at(id)).toThrow(TypeError);
  await convoke.sessions.get('a/b?c#d');
  expect(server.seen[0]?.path).toBe('/v1/sessions/a%2Fb%3Fc%23d');
});

test('a base address with /v1 is rejected with a hint', () => {
  expect(() => clientAt({ baseUrl: 'https://convoke.example/v1/' })).toThrow(/without \/v1/);
  expect(() => clientAt({ baseUrl: 'convoke.example' })).toThrow(TypeError);
});
