import { userId } from '@convoke/contract';
import {
  SignJWT,
  UnsecuredJWT,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
} from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { issuePersonToken } from '../../src/auth/tokens/person-tokens.ts';
import { TokenCache } from '../../src/auth/tokens/token-cache.ts';
import type { Client } from '../../src/domain/client.ts';
import {
  type IdentityFixture,
  baseUrl,
  by,
  createIdentityFixture,
} from '../support/identity-fixture.ts';

let world: IdentityFixture;
let client: Client;
beforeAll(async () => {
  world = await createIdentityFixture('sqlite');
  client = (await world.seed.client(await world.seed.organization())).record;
});

const person = userId('usr_1');

test('an automation token carries the claims of RFC 9068 (D-50)', async () => {
  const { token, expiresInSeconds } = await world.tokens.issueForClient(client, ['runs:read']);
  expect(decodeProtectedHeader(token)).toEqual({
    alg: 'EdDSA',
    typ: 'at+jwt',
    kid: (await world.keys.signer()).kid,
  });
  const now = world.clock.now() / 1000;
  expect(decodeJwt(token)).toEqual({
    iss: baseUrl,
    sub: client.oauthClientId,
    aud: baseUrl,
    iat: now,
    iat_ms: now * 1000,
    exp: now + 600,
    jti: expect.any(String),
    client_id: client.oauthClientId,
    scope: 'runs:read',
    org: client.organizationId,
  });
  expect(expiresInSeconds).toBe(600);
});

test('a token of a person has another audience (D-55)', async () => {
  const { token } = await world.tokens.issueForPerson(person);
  expect(decodeJwt(token).aud).not.toBe(baseUrl);
  expect(await world.tokens.verify(token)).toMatchObject({ kind: 'human', userId: person });
});

test('a token is valid to its last millisecond and not beyond, cached or not', async () => {
  const { tokens, clock } = world;
  const known = (await tokens.issueForClient(client, [])).token;
  const unknown = (await tokens.issueForClient(client, [])).token;
  expect(await tokens.verify(known)).toBeDefined();
  clock.advance(599_999);
  expect(await tokens.verify(known)).toBeDefined();
  clock.advance(1);
  expect(await tokens.verify(known)).toBeUndefined();
  expect(await tokens.verify(unknown)).toBeUndefined();
});

test('a token from a replica up to a minute ahead is accepted, from further ahead refused', async () => {
  const { tokens, clock } = world;
  clock.advance(60_000);
  const minute = (await tokens.issueForClient(client, [])).token;
  clock.advance(60_000);
  const twoMinutes = (await tokens.issueForClient(client, [])).token;
  clock.advance(-120_000);
  expect(await tokens.verify(minute)).toBeDefined();
  expect(await tokens.verify(twoMinutes)).toBeUndefined();
});

describe('a forged token is refused', () => {
  const claims = () => ({ client_id: client.oauthClientId, scope: 'runs:read', org: 'org_x' });
  const draft = (content: Record<string, unknown> = claims()) =>
    new SignJWT(content)
      .setIssuer(baseUrl)
      .setSubject(client.oauthClientId)
      .setAudience(baseUrl)
      .setIssuedAt(world.clock.now() / 1000)
      .setExpirationTime(world.clock.now() / 1000 + 600);
  const header = async () => ({
    alg: 'EdDSA',
    typ: 'at+jwt',
    kid: (await world.keys.signer()).kid,
  });
  const ours = async () => (await world.keys.signer()).key;

  const forgeries: Record<string, () => Promise<string>> = {
    'alg none': async () =>
      new UnsecuredJWT(claims()).setIssuer(baseUrl).setAudience(baseUrl).encode(),
    'alg none with our kid': async () => {
      const head = Buffer.from(JSON.stringify({ ...(await header()), alg: 'none' }));
      const [, body] = (
        await draft()
          .setProtectedHeader(await header())
          .sign(await ours())
      ).split('.');
      return `${head.toString('base64url')}.${body}.`;
    },
    'HS256 with the public key as secret': async () => {
      const [published] = (await world.keys.published()).keys;
      const secret = Buffer.from(JSON.stringify(published));
      return draft()
        .setProtectedHeader({ ...(await header()), alg: 'HS256' })
        .sign(secret);
    },
    'a stranger’s key under our kid': async () => {
      const { privateKey } = await generateKeyPair('EdDSA');
      return draft()
        .setProtectedHeader(await header())
        .sign(privateKey);
    },
    'a key that the token brings along': async () => {
      const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
      const jwk = await exportJWK(publicKey);
      return draft()
        .setProtectedHeader({ ...(await header()), jwk })
        .sign(privateKey);
    },
    'our signature over a header with jku': async () =>
      draft()
        .setProtectedHeader({ ...(await header()), jku: 'https://evil.test' })
        .sign(await ours()),
    'our signature over a critical extension': async () =>
      draft()
        .setProtectedHeader({ ...(await header()), crit: ['b64'], b64: true })
        .sign(await ours()),
    'another type': async () =>
      draft()
        .setProtectedHeader({ ...(await header()), typ: 'JWT' })
        .sign(await ours()),
    'no kid': async () =>
      draft()
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt' })
        .sign(await ours()),
    'another issuer': async () =>
      draft()
        .setIssuer('https://evil.test')
        .setProtectedHeader(await header())
        .sign(await ours()),
    'another audience': async () =>
      draft()
        .setAudience('https://other.test')
        .setProtectedHeader(await header())
        .sign(await ours()),
    'two audiences': async () =>
      draft()
        .setAudience([baseUrl, 'https://other.test'])
        .setProtectedHeader(await header())
        .sign(await ours()),
    'no expiry': async () =>
      new SignJWT(claims())
        .setIssuer(baseUrl)
        .setSubject('x')
        .setAudience(baseUrl)
        .setIssuedAt(world.clock.now() / 1000)
        .setProtectedHeader(await header())
        .sign(await ours()),
    'no organization': async () =>
      draft({ client_id: 'x', scope: '' })
        .setProtectedHeader(await header())
        .sign(await ours()),
    'a changed signature': async () => {
      const { token } = await world.tokens.issueForClient(client, []);
      return `${token.slice(0, -3)}AAA`;
    },
    'a changed claim': async () => {
      const { token } = await world.tokens.issueForClient(client, []);
      const [head, body, signature] = token.split('.');
      const other = JSON.stringify({ ...decodeJwt(token), scope: 'runs:write' });
      expect(body).toBeDefined();
      return `${head}.${Buffer.from(other).toString('base64url')}.${signature}`;
    },
    'no token at all': async () => 'garbage',
    'empty parts': async () => '..',
    'a very long text': async () => 'a'.repeat(100_000),
  };

  test.each(Object.keys(forgeries))('%s', async (name) => {
    const forged = await forgeries[name]?.();
    expect(await world.tokens.verify(forged ?? '')).toBeUndefined();
  });

  test('the same token without the forgery is accepted', async () => {
    const honest = await draft()
      .setProtectedHeader(await header())
      .sign(await ours());
    expect(await world.tokens.verify(honest)).toMatchObject({ kind: 'automation' });
  });
});

test('a token whose key has retired is refused, even if it is cached', async () => {
  const { tokens, keys, clock } = world;
  const { token } = await tokens.issueForPerson(person, 30 * 86_400);
  expect(await tokens.verify(token)).toBeDefined();
  await keys.rotate({ leadMs: 5_000 });
  await world.store.transaction((tx) => tx.signingKeys.removeRetired(Number.MAX_SAFE_INTEGER));
  clock.advance(60_000);
  await keys.signer();
  expect(await tokens.verify(token)).toBeUndefined();
});

test('a lifetime above thirty days is refused, not shortened', async () => {
  const request = { userId: person, by };
  const month = 30 * 86_400;
  await expect(issuePersonToken(world, { ...request, lifetimeSeconds: month + 1 })).rejects.toThrow(
    'A token is valid for at most 30 days; 2592001 seconds were requested.',
  );
  const { expiresInSeconds } = await issuePersonToken(world, {
    ...request,
    lifetimeSeconds: month,
  });
  expect(expiresInSeconds).toBe(month);
});

test('the cache holds 10,000 verified tokens and evicts the least recently used', async () => {
  const kept = new TokenCache(world.clock);
  const expiresAt = world.clock.now() + 600_000;
  const token = {
    kind: 'human',
    userId: person,
    program: 'p',
    kid: 'k',
    expiresAt,
    issuedAt: 0,
  } as const;
  for (let index = 0; index < 10_000; index += 1) kept.keep(`t${index}`, token);
  expect(kept.find('t0')).toBe(token);
  kept.keep('one more', token);
  expect(kept.find('t0')).toBe(token);
  expect(kept.find('t1')).toBeUndefined();
  expect(kept.find('one more')).toBe(token);
});
