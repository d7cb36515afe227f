import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TokenResponse } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '../../src/app/refusal.ts';
import { Challenge } from '../../src/auth/tokens/challenge.ts';
import { serverMetadata } from '../../src/auth/metadata.ts';
import { type TokenEndpoint, createTokenEndpoint } from '../../src/auth/tokens/token-endpoint.ts';
import type { Client } from '../../src/domain/client.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import type { Store } from '../../src/ports/store.ts';
import { createRateLimit, tokenFailureRate } from '../../src/runtime/rate-limit.ts';
import { databaseKinds } from '../support/databases.ts';
import {
  type IdentityFixture,
  baseUrl,
  createIdentityFixture,
} from '../support/identity-fixture.ts';

const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;
const grant = 'grant_type=client_credentials';

describe.each(databaseKinds)('the token endpoint on %s (D-50)', (kind) => {
  let world: IdentityFixture;
  let endpoint: TokenEndpoint;
  let client: Client;
  let secret: string;
  let logged: string[];

  const endpointOver = (store: Store) =>
    createTokenEndpoint({
      ...world,
      store,
      log: { info() {}, warn() {}, error: (message) => void logged.push(message) },
      failures: createRateLimit(world.clock, tokenFailureRate),
    });

  beforeAll(async () => {
    logged = [];
    world = await createIdentityFixture(kind);
    ({ record: client, secret } = await world.seed.client(await world.seed.organization()));
    endpoint = endpointOver(world.store);
  });

  let addresses = 0;
  const exchange = (form: string, authorization?: string) =>
    endpoint.exchange({
      form: Object.fromEntries(new URLSearchParams(form)),
      authorization,
      address: `10.0.0.${(addresses += 1)}`,
      requestId: 'req-1',
    });
  const post = (id: string, text: string, more = '') =>
    exchange(`${grant}&client_id=${id}&client_secret=${text}${more}`);

  async function refusal(attempt: Promise<TokenResponse>): Promise<Refusal> {
    const error: unknown = await attempt.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Refusal);
    return error as Refusal;
  }

  test('issues a token for the secret, sent with Basic or in the form', async () => {
    for (const attempt of [
      exchange(grant, basic(client.oauthClientId, secret)),
      exchange(`${grant}&client_id=${client.oauthClientId}`, basic(client.oauthClientId, secret)),
      post(client.oauthClientId, secret),
    ]) {
      const answer = await attempt;
      expect(answer).toEqual({
        access_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: 600,
        scope: client.scopes.join(' '),
      });
      expect(await world.tokens.verify(answer.access_token)).toMatchObject({
        kind: 'automation',
        oauthClientId: client.oauthClientId,
      });
    }
  });

  test('narrows the scope on request, and never widens it', async () => {
    const narrowed = await post(client.oauthClientId, secret, '&scope=runs:write+runs:read');
    expect(narrowed.scope).toBe('runs:read runs:write');
    for (const scope of ['agents:deploy', 'runs:read+agents:deploy', 'nonsense', '+']) {
      const refused = await refusal(post(client.oauthClientId, secret, `&scope=${scope}`));
      expect(refused).toMatchObject({ code: 'invalid_scope' });
    }
  });

  const both = () =>
    exchange(`${grant}&client_secret=${secret}`, basic(client.oauthClientId, secret));
  const malformed: Record<string, [string, () => Promise<TokenResponse>]> = {
    'no grant type': ['invalid_request', () => exchange('', basic(client.oauthClientId, secret))],
    'another grant type': ['unsupported_grant_type', () => exchange('grant_type=password')],
    'Basic and form at once': ['invalid_request', both],
    'two client ids': [
      'invalid_request',
      () => exchange(`${grant}&client_id=other`, basic(client.oauthClientId, secret)),
    ],
    'no client': ['invalid_client', () => exchange(grant)],
    'no secret': ['invalid_client', () => exchange(`${grant}&client_id=${client.oauthClientId}`)],
    'another scheme': ['invalid_client', () => exchange(grant, 'Bearer x')],
    'Basic without a colon': ['invalid_client', () => exchange(grant, 'Basic eA==')],
    'Basic that does not decode': ['invalid_client', () => exchange(grant, 'Basic JTo=')],
  };
  test.each(Object.keys(malformed))('refuses %s', async (name) => {
    const [code, attempt] = malformed[name] ?? ['', both];
    const refused = await refusal(attempt());
    expect(refused.code).toBe(code);
    expect(refused.details).toEqual({ error_description: refused.message });
    expect(refused instanceof Challenge).toBe(code === 'invalid_client');
  });

  test('answers alike for an unknown, wrong, expired, revoked, disabled or deleted client', async () => {
    const organization = client.organizationId;
    const expired = await world.seed.client(organization);
    const revoked = await world.seed.client(organization);
    const disabled = await world.seed.client(organization);
    const deleted = await world.seed.client(organization);
    await world.store.transaction(async (tx) => {
      await tx.credentials.revoke(revoked.credentialId, world.clock.now());
      await tx.clients.save({ ...disabled.record, status: 'disabled' }, disabled.record);
      await tx.clients.save({ ...deleted.record, deletedAt: 1 }, deleted.record);
    });
    world.clock.advance(90 * 86_400_000);
    const answers = new Set<string>();
    for (const attempt of [
      () => post('oauth-unknown', secret),
      () => post('%00', secret),
      () => post(client.oauthClientId, 'wrong'),
      () => post(client.oauthClientId, revoked.secret),
      () => post(expired.record.oauthClientId, expired.secret),
      () => post(revoked.record.oauthClientId, revoked.secret),
      () => post(disabled.record.oauthClientId, disabled.secret),
      () => post(deleted.record.oauthClientId, deleted.secret),
    ]) {
      const refused = await refusal(attempt());
      const { code, message, details } = refused;
      const challenge = refused instanceof Challenge ? refused.challenge : undefined;
      answers.add(JSON.stringify({ code, message, challenge, details }));
    }
    world.clock.advance(-90 * 86_400_000);
    expect([...answers]).toEqual([
      JSON.stringify({
        code: 'invalid_client',
        message: 'Client authentication failed.',
        challenge: 'Basic realm="convoke", charset="UTF-8"',
        details: { error_description: 'Client authentication failed.' },
      }),
    ]);
  });

  test('a revoked credential cannot obtain a token, and its earlier tokens stay valid (spec §5.7)', async () => {
    const { record, secret: own, credentialId } = await world.seed.client(client.organizationId);
    const { access_token: earlier } = await post(record.oauthClientId, own);
    await world.store.transaction((tx) => tx.credentials.revoke(credentialId, world.clock.now()));
    expect((await refusal(post(record.oauthClientId, own))).code).toBe('invalid_client');
    expect(await world.tokens.verify(earlier)).toBeDefined();
  });

  test('after ten failures a network must wait before it fails again; the right secret passes', async () => {
    const { record, secret: own } = await world.seed.client(client.organizationId);
    const attempt = (text: string, address = '2001:db8:1:2::1') =>
      endpoint.exchange({
        form: {
          grant_type: 'client_credentials',
          client_id: record.oauthClientId,
          client_secret: text,
        },
        authorization: undefined,
        address,
        requestId: 'req-1',
      });
    for (let failure = 0; failure < 10; failure += 1) {
      const from = `2001:db8:1:2:${failure}::1`;
      expect((await refusal(attempt('wrong', from))).code).toBe('invalid_client');
    }
    const limited = await refusal(attempt('wrong'));
    expect(limited).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 6 });
    expect((await attempt(own)).token_type).toBe('Bearer');
    expect((await refusal(attempt('wrong', '2001:db8:1:3::1'))).code).toBe('invalid_client');
    world.clock.advance(6_000);
    expect((await refusal(attempt('wrong'))).code).toBe('invalid_client');
    expect((await refusal(attempt('wrong'))).code).toBe('rate_limited');
  });

  test('successes are not limited', async () => {
    const answers = [];
    for (let round = 0; round < 40; round += 1) {
      const authorization = basic(client.oauthClientId, secret);
      const form = { grant_type: 'client_credentials' };
      answers.push(
        await endpoint.exchange({ form, authorization, address: '192.0.2.9', requestId: 'r' }),
      );
    }
    expect(new Set(answers.map((answer) => answer.access_token)).size).toBe(40);
  });

  test('records the last use to the minute', async () => {
    const { record, secret: own, credentialId } = await world.seed.client(client.organizationId);
    const lastUsed = async () =>
      (await world.store.read.credentials.find(record.id, credentialId))?.lastUsedAt;
    const first = world.clock.now();
    await post(record.oauthClientId, own);
    await expect.poll(lastUsed).toBe(first);
    world.clock.advance(59_000);
    await post(record.oauthClientId, own);
    expect(await lastUsed()).toBe(first);
    world.clock.advance(1_000);
    await post(record.oauthClientId, own);
    await expect.poll(lastUsed).toBe(first + 60_000);
  });

  test('tokens are issued while the disk accepts no writes', async () => {
    const { record, secret: own } = await world.seed.client(client.organizationId);
    const full = endpointOver({
      ...world.store,
      transaction: () => Promise.reject(new StorageUnavailable('disk full')),
    });
    const answer = await full.exchange({
      form: { grant_type: 'client_credentials' },
      authorization: basic(record.oauthClientId, own),
      address: '192.0.2.1',
      requestId: 'req-1',
    });
    expect(answer.token_type).toBe('Bearer');
    expect(logged).toEqual(['a token was issued without its audit row']);
  });
});

test('no secret is in any file of the database (D-65)', async () => {
  const world = await createIdentityFixture('sqlite');
  const { record, secret } = await world.seed.client(await world.seed.organization());
  const folder = dirname(world.location);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  expect(files.some((bytes) => bytes.includes(record.oauthClientId))).toBe(true);
  expect(files.some((bytes) => bytes.includes(secret.slice(4, 47)))).toBe(false);
});

const offered = { baseUrl, hasConsole: true, hasSignIn: true, hasRegistration: false };

test('the metadata names the token endpoint and the keys (RFC 8414)', () => {
  expect(serverMetadata(offered)).toMatchObject({
    issuer: baseUrl,
    token_endpoint: `${baseUrl}/v1/oauth/token`,
    jwks_uri: `${baseUrl}/.well-known/jwks.json`,
  });
});
