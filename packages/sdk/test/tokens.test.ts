import { afterEach, describe, expect, test, vi } from 'vitest';
import { Convoke, type ConvokeOptions, type TokenProvider } from '../src/index.ts';
import { type Answer, type Seen, answering, clientAt, json, refusal } from './answering.ts';

const credentials = { clientId: 'oac_1', clientSecret: 'cvk_secret' };
const tokenPath = '/v1/oauth/token';

afterEach(() => vi.useRealTimers());

describe('an automation client', () => {
  test('gets its token by client credentials (D-50) and sends it with the selectors (spec §4.1)', async () => {
    await using server = await answering(issuing());
    await clientOf(server, { scopes: ['runs:read', 'agents:read'] }).whoami();
    const [token, call] = server.seen;
    expect(Object.fromEntries(new URLSearchParams(token?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'oac_1',
      client_secret: 'cvk_secret',
      scope: 'runs:read agents:read',
    });
    expect(token?.headers['authorization']).toBeUndefined();
    expect(call?.headers).toMatchObject({
      authorization: 'Bearer token-1',
      'x-organization-id': 'org_1',
      'x-workspace-tenant-id': 'ten_1',
    });
  });

  test('renews the token in the background before it expires', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let isSlow = false;
    const answer = issuing();
    await using server = await answering((seen, response) =>
      isSlow && seen.path === tokenPath ? undefined : answer(seen, response),
    );
    const convoke = clientOf(server);
    await convoke.whoami();
    vi.advanceTimersByTime(479_000);
    await convoke.whoami();
    expect(tokensAsked(server.seen)).toBe(1);

    vi.advanceTimersByTime(2_000);
    isSlow = true;
    await convoke.whoami();
    await convoke.whoami();
    expect(server.seen.at(-1)?.headers['authorization']).toBe('Bearer token-1');
    await expect.poll(() => tokensAsked(server.seen)).toBe(2);
  });

  test('uses its token while the token endpoint fails', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const answer = issuing();
    let isDown = false;
    await using server = await answering((seen, response) =>
      isDown && seen.path === tokenPath
        ? refusal(503, 'storage_unavailable')(seen, response)
        : answer(seen, response),
    );
    const convoke = clientOf(server);
    await convoke.whoami();
    vi.advanceTimersByTime(590_000);
    isDown = true;
    await expect(convoke.whoami()).resolves.toBeDefined();
    vi.advanceTimersByTime(11_000);
    await expect(convoke.whoami()).rejects.toMatchObject({ code: 'storage_unavailable' });
  });
});

describe('401', () => {
  test('calls the token provider once more, with the rejected token', async () => {
    await using server = await answering(issuing({ accepts: 'Bearer fresh' }));
    const token = vi.fn<TokenProvider>(({ rejected }) =>
      rejected === undefined ? 'stale' : Promise.resolve('fresh'),
    );
    await expect(clientAt(server, { token }).whoami()).resolves.toBeDefined();
    expect(token.mock.calls).toEqual([[{ rejected: undefined }], [{ rejected: 'stale' }]]);
  });
});

test('an aborted call does not cancel the token request of others', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const answer = issuing();
  await using server = await answering(async (seen, response) => {
    if (seen.path === tokenPath) await held;
    return answer(seen, response);
  });
  const convoke = clientOf(server);
  const controller = new AbortController();
  const leaves = convoke.whoami({ signal: controller.signal });
  const stays = convoke.whoami();
  controller.abort(new Error('bye'));
  await expect(leaves).rejects.toThrow('bye');
  release();
  await expect(stays).resolves.toBeDefined();
  expect(tokensAsked(server.seen)).toBe(1);
});

/** Issues token-1, token-2, … for ten minutes, and answers every other call that shows an accepted one. */
function issuing({ accepts }: { readonly accepts?: string } = {}): Answer {
  let count = 0;
  return (seen, response) => {
    if (seen.path === tokenPath) {
      count += 1;
      const token = {
        access_token: `token-${count}`,
        token_type: 'Bearer',
        expires_in: 600,
        scope: '',
      };
      return json(200, token)(seen, response);
    }
    const isAccepted = accepts === undefined || seen.headers['authorization'] === accepts;
    return (isAccepted ? json(200, { ok: true }) : refusal(401, 'unauthorized'))(seen, response);
  };
}

function clientOf(
  server: { readonly baseUrl: string },
  options: Partial<ConvokeOptions> = {},
): Convoke {
  return new Convoke({
    baseUrl: server.baseUrl,
    ...credentials,
    workspace: { organizationId: 'org_1', tenantId: 'ten_1' },
    retry: { baseMs: 1, maxMs: 2 },
    ...options,
  });
}

function tokensAsked(seen: readonly Seen[]): number {
  return seen.filter(({ path }) => path === tokenPath).length;
}
