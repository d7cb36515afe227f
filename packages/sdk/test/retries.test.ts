import { describe, expect, test } from 'vitest';
import { answering, clientAt, json, refusal, sessionRecord } from './answering.ts';

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
