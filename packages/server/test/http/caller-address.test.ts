import { organizationId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../src/app/audit.ts';
import { readConfig } from '../../src/config/config.ts';
import { callerAddressBehind } from '../../src/http/caller-address.ts';
import { FakeClock } from '../support/clocks.ts';
import { addClient } from '../support/identities.ts';
import { type TestServer, startServer } from '../support/server.ts';

const trusting = (proxies: string) =>
  callerAddressBehind(readConfig({ CONVOKE_TRUSTED_PROXIES: proxies }).trustedProxies);
const asked = (remoteAddress: string | undefined, forwarded?: string) => ({
  socket: { remoteAddress },
  headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
});

describe("a caller's address", () => {
  const through = trusting('10.0.0.1, 10.1.0.0/16,fd00::/8');

  test('is the peer, whatever it claims, when no proxy is trusted', () => {
    const address = trusting('');
    expect(address(asked('203.0.113.9', '198.51.100.1'))).toBe('203.0.113.9');
    expect(address(asked('127.0.0.1', '198.51.100.1'))).toBe('127.0.0.1');
    expect(address(asked(undefined))).toBe('');
  });

  test('is the peer when the peer is not a trusted proxy', () => {
    expect(through(asked('203.0.113.9', '198.51.100.1'))).toBe('203.0.113.9');
    expect(through(asked('10.0.0.2', '198.51.100.1'))).toBe('10.0.0.2');
    expect(through(asked('10.0.0.1'))).toBe('10.0.0.1');
  });

  test('is the address the proxy saw, not one the caller claimed', () => {
    expect(through(asked('10.0.0.1', '198.51.100.1'))).toBe('198.51.100.1');
    expect(through(asked('10.0.0.1', '192.0.2.66, 198.51.100.1'))).toBe('198.51.100.1');
    // Neither the address of a trusted proxy nor malformed text changes that.
    expect(through(asked('10.0.0.1', '192.0.2.66, 10.1.0.7, 198.51.100.1'))).toBe('198.51.100.1');
    expect(through(asked('10.0.0.1', 'nonsense, 198.51.100.1'))).toBe('198.51.100.1');
  });

  test('is found through several proxies, as far as they are trusted', () => {
    expect(through(asked('10.0.0.1', '192.0.2.66, 198.51.100.1, 10.1.2.3'))).toBe('198.51.100.1');
    expect(through(asked('10.0.0.1', '198.51.100.1, 10.2.0.1, 10.1.2.3'))).toBe('10.2.0.1');
    expect(through(asked('10.0.0.1', '10.1.9.9, 10.1.2.3'))).toBe('10.1.9.9');
  });

  test('has one spelling', () => {
    expect(through(asked('::ffff:10.0.0.1', '::ffff:198.51.100.1'))).toBe('198.51.100.1');
    expect(through(asked('::ffff:a00:1', '198.51.100.1:4711'))).toBe('198.51.100.1');
    expect(through(asked('fd00::1', '[2001:DB8:0:0::7]:443'))).toBe('2001:db8::7');
    expect(through(asked('::ffff:203.0.113.9'))).toBe('203.0.113.9');
  });

  test.each([
    '',
    ',',
    'unknown',
    '198.51.100.1,',
    '198.51.100.1, _hidden, 10.1.2.3',
    '1.2.3',
    '[::1',
  ])('is the proxy when it sends "%s"', (forwarded) => {
    expect(through(asked('10.0.0.1', forwarded))).toBe('10.0.0.1');
  });

  test.each(['proxy.example', '10.0.0.0/33', '10.0.0.0/', '0.0.0.0/0', '::/0', '10.0.0.1/8/8'])(
    'is not configured by "%s": the start fails',
    (entry) => {
      expect(() => readConfig({ CONVOKE_TRUSTED_PROXIES: `10.0.0.1,${entry}` })).toThrow(
        `"${entry}" is neither an address nor a network`,
      );
    },
  );
});

describe('behind a trusted proxy', () => {
  let server: TestServer;
  beforeAll(async () => {
    // Its clock stands: rates that are used up stay so, however long that takes.
    const clock = new FakeClock();
    server = await startServer({ clock, env: { CONVOKE_TRUSTED_PROXIES: '127.0.0.1' } });
  });

  const exchange = (from: string, fields: { client_id: string; client_secret: string }) =>
    server.fetch('POST', '/v1/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': from },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...fields }).toString(),
    });

  test('guessing a secret locks out no other address, and a false header gains nothing (D-68)', async () => {
    const { client_id, client_secret } = await addClient(server);
    const wrong = { client_id, client_secret: 'wrong' };
    for (let failures = 0; failures < 10; failures += 1) {
      const { status } = await exchange(`192.0.2.${failures}, 198.51.100.1`, wrong);
      expect(status).toBe(401);
    }
    expect((await exchange('192.0.2.99, 198.51.100.1', wrong)).status).toBe(429);
    const right = await exchange('198.51.100.2', { client_id, client_secret });
    expect(right.status).toBe(200);
  });

  test('the audit names the caller', async () => {
    const { organization_id, client_id, client_secret } = server.quickstart;
    await exchange('198.51.100.7', { client_id, client_secret });
    const { store } = server.convoke.services;
    const chain = organizationId(organization_id);
    const [row] = await listAudit({ store }, { chain, limit: 1 });
    expect(row).toMatchObject({ action: 'token.issue', by: { address: '198.51.100.7' } });
  });

  test('sign-in is rate limited per caller', async () => {
    const begin = (from: string) =>
      server.fetch('POST', '/oidc/device', {
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': from },
        body: '',
      });
    let answer = await begin('198.51.100.1');
    for (let tries = 0; tries < 70 && answer.status !== 429; tries += 1) {
      answer = await begin('198.51.100.1');
    }
    expect(answer.status).toBe(429);
    expect((await begin('198.51.100.2')).status).not.toBe(429);
  });
});
