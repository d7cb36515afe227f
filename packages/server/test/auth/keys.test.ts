import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../src/app/audit.ts';
import { revokeKey } from '../../src/auth/key-rotation.ts';
import { jwksMaxAgeMs, newKeyPair, openSigningKeys } from '../../src/auth/keys.ts';
import { createSealing } from '../../src/auth/sealing.ts';
import { createTokens } from '../../src/auth/tokens/tokens.ts';
import { deploymentChain } from '../../src/domain/audit.ts';
import { rotateSigningKeys } from '../../src/workers/rotate-signing-keys.ts';
import { databaseKinds } from '../support/databases.ts';
import {
  type IdentityFixture,
  baseUrl,
  by,
  createIdentityFixture,
} from '../support/identity-fixture.ts';

describe.each(databaseKinds)('signing keys on %s (D-50)', (kind) => {
  let world: IdentityFixture;
  beforeAll(async () => {
    world = await createIdentityFixture(kind);
  });

  const signers = async () => (await world.keys.published()).keys.map((key) => key.kid);

  test('a rotation publishes the next key before it signs and keeps the previous one', async () => {
    const { keys, clock } = world;
    const before = (await keys.signer()).kid;
    const next = await keys.rotate();
    expect(await signers()).toEqual(expect.arrayContaining([before, next]));
    expect((await keys.signer()).kid).toBe(before);
    clock.advance(600_000);
    expect((await keys.signer()).kid).toBe(next);
    expect(await signers()).toEqual(expect.arrayContaining([before, next]));
  });

  test('published keys contain no private part', async () => {
    for (const key of (await world.keys.published()).keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
    }
  });

  test('a key is accepted until the last token it can have signed expires, and no longer', async () => {
    const { keys, clock } = world;
    const before = (await keys.signer()).kid;
    await keys.rotate({ leadMs: 5_000 });
    clock.advance(5_000 + 30 * 86_400_000);
    expect(await keys.accepts(before)).toBe(true);
    clock.advance(600_000);
    expect(await keys.accepts(before)).toBe(false);
    expect(await signers()).not.toContain(before);
  });

  test('a token signed with a key of another process is accepted at once', async () => {
    const { clock, ids } = world;
    const here = createTokens({ keys: await world.openKeys(), clock, ids, baseUrl });
    const otherKeys = await world.openKeys();
    const other = createTokens({ keys: otherKeys, clock, ids, baseUrl });
    const organization = await world.seed.organization();
    const person = await world.seed.person(organization, 'owner');
    for (let round = 0; round < 3; round += 1) {
      await otherKeys.rotate({ leadMs: 5_000 });
      clock.advance(5_000);
      const { token } = await other.issueForPerson(person);
      expect(await here.verify(token)).toMatchObject({ kind: 'human', userId: person });
    }
  });

  /** The keys over a store whose list of keys a test replaces. */
  async function keysOver(
    list: () => ReturnType<IdentityFixture['store']['read']['signingKeys']['list']>,
  ) {
    const { store, clock } = world;
    const signingKeys = { ...store.read.signingKeys, list };
    const wrapped = {
      ...store,
      read: new Proxy(store.read, {
        get: (target, noun, receiver) =>
          noun === 'signingKeys' ? signingKeys : Reflect.get(target, noun, receiver),
      }),
    };
    const sealing = createSealing(Buffer.alloc(32, 7));
    return openSigningKeys({ store: wrapped, clock, sealing, longestLifetimeMs: 1 });
  }

  test('garbage key ids do not reach the database more than once a second', async () => {
    let reads = 0;
    const { store, clock } = world;
    const keys = await keysOver(() => {
      reads += 1;
      return store.read.signingKeys.list();
    });
    reads = 0;
    clock.advance(1_000);
    for (let round = 0; round < 50; round += 1) await keys.verifier(`garbage-${round}`);
    await Promise.all(Array.from({ length: 50 }, () => keys.verifier('garbage')));
    expect(reads).toBe(1);
    clock.advance(1_000);
    await Promise.all(Array.from({ length: 50 }, () => keys.verifier('garbage')));
    expect(reads).toBe(2);
  });

  test('a database that does not answer delays a known key by half a second at most', async () => {
    const { store, clock } = world;
    let isAway = false;
    const keys = await keysOver(() =>
      isAway ? new Promise(() => {}) : store.read.signingKeys.list(),
    );
    const { kid } = await keys.signer();
    isAway = true;
    clock.advance(5_000);
    const answers = Promise.all([keys.accepts(kid), keys.verifier(kid), keys.signer()]);
    clock.advance(500);
    expect(await answers).toMatchObject([true, { alg: 'EdDSA' }, { kid }]);
  });

  test('a wrong master key gets an error message of its own', async () => {
    const sealing = createSealing(Buffer.alloc(32, 8));
    const { store, clock } = world;
    await expect(openSigningKeys({ store, clock, sealing, longestLifetimeMs: 1 })).rejects.toThrow(
      /restore master\.key/,
    );
  });

  test('a key that is thirty days old is replaced once, with an audit row', async () => {
    const { clock, store, keys } = world;
    await keys.rotate();
    const since = clock.now();
    const kids = async () => (await store.read.signingKeys.list()).map(({ kid }) => kid);
    const before = await kids();
    clock.advance(30 * 86_400_000 - 1);
    await rotateSigningKeys(world);
    expect(await kids()).toEqual(before);
    clock.advance(1);
    await rotateSigningKeys(world);
    await rotateSigningKeys(world);
    const [fresh, ...others] = (await kids()).filter((kid) => !before.includes(kid));
    expect(others).toEqual([]);
    const rows = await listAudit(world, { chain: deploymentChain, limit: 9 });
    expect(rows.filter(({ at }) => at > since)).toMatchObject([
      { action: 'keys.rotate', object: fresh, by: { kind: 'system' } },
    ]);
    clock.advance(jwksMaxAgeMs);
    expect((await keys.signer()).kid).toBe(fresh);
  });

  describe('a key that is revoked', () => {
    /** Two servers, and a person's token that both have verified. */
    async function servers() {
      const { clock, ids } = world;
      const [keys, otherKeys] = [await world.openKeys(), await world.openKeys()];
      const tokens = createTokens({ keys, clock, ids, baseUrl });
      const other = createTokens({ keys: otherKeys, clock, ids, baseUrl });
      const person = await world.seed.person(await world.seed.organization(), 'owner');
      const { token } = await tokens.issueForPerson(person);
      for (const server of [tokens, other]) expect(await server.verify(token)).toBeDefined();
      return { keys, otherKeys, tokens, other, person, token };
    }

    test('has its tokens refused at once, by other servers within five seconds, and is replaced', async () => {
      const { keys, otherKeys, tokens, other, person, token } = await servers();
      const { kid } = await keys.signer();
      const { signingKid } = (await keys.revoke(kid)) ?? {};
      expect(await tokens.verify(token)).toBeUndefined();
      const fresh = await tokens.issueForPerson(person);
      expect((await keys.signer()).kid).toBe(signingKid);
      expect(signingKid).not.toBe(kid);
      world.clock.advance(5_000);
      expect(await other.verify(token)).toBeUndefined();
      expect(await other.verify(fresh.token)).toMatchObject({ userId: person });
      expect((await otherKeys.signer()).kid).toBe(signingKid);
      expect((await otherKeys.published()).keys.map((key) => key.kid)).not.toContain(kid);
    });

    test('may be an old or a coming one: the current key continues signing', async () => {
      const { keys, tokens, token } = await servers();
      const { kid } = await keys.signer();
      const next = await keys.rotate();
      expect(await keys.revoke(next)).toEqual({ signingKid: kid });
      world.clock.advance(jwksMaxAgeMs);
      expect((await keys.signer()).kid).toBe(kid);
      const later = await keys.rotate({ leadMs: 5_000 });
      world.clock.advance(5_000);
      expect(await keys.revoke(kid)).toEqual({ signingKid: later });
      expect(await tokens.verify(token)).toBeUndefined();
    });

    test('must exist; the audit names it', async () => {
      const { keys } = await servers();
      const { clock } = world;
      await expect(revokeKey({ keys, clock }, 'unknown', by)).rejects.toThrow(
        'There is no key unknown; `convoke admin keys list` shows the keys.',
      );
      const { kid } = await keys.signer();
      await revokeKey({ keys, clock }, kid, by);
      const [row] = await listAudit(world, { chain: deploymentChain, limit: 1 });
      expect(row).toMatchObject({ action: 'keys.revoke', object: kid });
    });
  });

  test('rotation under load gives no false 401', async () => {
    const { clock, ids } = world;
    const replicas = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const keys = await world.openKeys();
        return { keys, tokens: createTokens({ keys, clock, ids, baseUrl }) };
      }),
    );
    const organization = await world.seed.organization();
    const person = await world.seed.person(organization, 'owner');
    const live: string[] = [];
    let refused = 0;
    for (let round = 0; round < 60; round += 1) {
      const issuer = replicas[round % 3];
      const rotator = replicas[(round + 1) % 3];
      if (round % 10 === 5) await rotator?.keys.rotate({ leadMs: 5_000 });
      const issued = await issuer?.tokens.issueForPerson(person);
      if (issued !== undefined) live.push(issued.token);
      const verdicts = await Promise.all(
        replicas.flatMap(({ tokens }) => [
          ...live.slice(-20).map((token) => tokens.verify(token)),
          tokens.verify('e30.e30.e30').then((verdict) => verdict ?? {}),
        ]),
      );
      refused += verdicts.filter((verdict) => verdict === undefined).length;
      clock.advance(1_700);
    }
    expect(refused).toBe(0);
  });
});

test('the id of a key can be an argument of a command: it never starts with a dash', async () => {
  for (let count = 0; count < 500; count += 1) {
    expect((await newKeyPair()).kid).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{42}$/);
  }
});
