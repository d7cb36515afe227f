import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { limits } from '@convoke/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { openSession } from '../support/api-steps.ts';
import { FakeClock } from '../support/clocks.ts';
import { type TestServer, startServer } from '../support/server.ts';

/** The rate of the tests: so many requests at once. */
const burst = 10;

describe('above the rate (D-57, D-462)', () => {
  let server: TestServer;
  let session: string;
  const keyed = { agent_name: 'echo', idempotency_key: 'known' };
  beforeEach(async () => {
    const env = { CONVOKE_API_RATE_PER_MINUTE: String(burst * 6) };
    server = await startServer({ clock: new FakeClock(), env });
    session = (await openSession(server, 'echo')).id;
    await server.send('create_session', { body: keyed });
    while ((await server.call('GET', '/v1/whoami')).status === 200);
  });

  const post = async (path: string, body: object | string, headers = {}) => {
    const answer = await server.call('POST', path, { body, headers });
    return [answer.status, JSON.parse(answer.text).error];
  };
  const limited = [429, 'rate_limited'];
  const withKey = { 'idempotency-key': 'another-key' };

  test('a request that is no replay is refused for its rate, whatever else is wrong', async () => {
    const runs = `/v1/sessions/${session}/runs`;
    for (const headers of [{}, withKey]) {
      expect(await post('/v1/sessions', { zz: 1 }, headers)).toEqual(limited);
      expect(await post('/v1/sessions', 'not JSON', headers)).toEqual(limited);
      expect(
        await post('/v1/sessions/sess_none/runs', { input: { prompt: 'x' } }, headers),
      ).toEqual(limited);
      expect(await post(runs, { input: { prompt: 'x' } }, headers)).toEqual(limited);
    }
  });

  test('a replay and a conflict are answered, as often again as the rate allows', async () => {
    const replay = () => post('/v1/sessions', keyed);
    expect(await replay()).toEqual([200, undefined]);
    const conflict = { ...keyed, agent_name: 'asker' };
    expect(await post('/v1/sessions', conflict)).toEqual([409, 'idempotency_conflict']);
    for (let count = 2; count < burst; count += 1) expect((await replay())[0]).toBe(200);
    expect(await replay()).toEqual(limited);
    expect(await post('/v1/sessions', conflict)).toEqual(limited);
  });

  /** Sends the head of a request only: an answer shows that the body is not waited for. */
  async function statusOfHead(headers: Record<string, string>): Promise<number | undefined> {
    const sent = request(`${server.baseUrl}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...server.client, ...headers },
    });
    atFileEnd(() => void sent.destroy());
    sent.flushHeaders();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return answer.statusCode;
  }

  test('a large body is read only with its key in the header, and above twice the rate none is', async () => {
    const large = limits.replayBodyMaxBytes + 1;
    expect(await statusOfHead({ 'content-length': String(large) })).toBe(429);
    // Read, because the key of the header may be known.
    const body = { agent_name: 'echo', title: 'x'.repeat(large) };
    const first = await server.call('POST', '/v1/sessions', { body, headers: withKey });
    expect(first.status).toBe(429);
    for (let count = 2; count < burst; count += 1) await post('/v1/sessions', { zz: 1 });
    expect(await statusOfHead({ 'content-length': '2', ...withKey })).toBe(429);
  });
});
