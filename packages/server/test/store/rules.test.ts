import {
  type OrganizationId,
  type OrganizationRule,
  organizationId,
  userId,
} from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { KnownRules } from '../../src/app/rules/known-rules.ts';
import { databaseKinds } from '../support/databases.ts';
import { createIdentityFixture } from '../support/identity-fixture.ts';

const deny: OrganizationRule = { name: 'no-mail', tools: ['mail/*'], effect: 'deny' };
const ask: OrganizationRule = { name: 'ask', tools: ['pay'], effect: 'ask', reason: '\u0000 "a"' };
const updated = { updatedBy: userId('usr_1'), updatedAt: 1_000 };

describe.each(databaseKinds)('rules of organizations on %s', (kind) => {
  async function setUp() {
    const { store, seed } = await createIdentityFixture(kind);
    const id = await seed.organization();
    const save = (version: number, rules: readonly OrganizationRule[], of: OrganizationId = id) =>
      store.transaction((tx) => tx.rules.save({ organizationId: of, version, rules, ...updated }));
    return { store, seed, id, save };
  }

  test('are replaced only by the version after the current one (D-527)', async () => {
    const { store, seed, id, save } = await setUp();
    expect(await store.read.rules.version(id)).toBe(0);
    expect(await store.read.rules.find(id)).toBeUndefined();
    expect(await save(2, [deny])).toBe(false);
    expect(await save(1, [deny])).toBe(true);
    expect(await save(1, [ask])).toBe(false);
    expect(await save(3, [ask])).toBe(false);
    expect(await save(2, [ask, deny])).toBe(true);
    const stored = { organizationId: id, version: 2, rules: [ask, deny], ...updated };
    expect(await store.read.rules.find(id)).toEqual(stored);
    expect(await store.read.rules.version(id)).toBe(2);
    const other = await seed.organization();
    expect(await store.read.rules.version(other)).toBe(0);
  });

  test('are known by their version, and read again in a transaction that finds another (D-506)', async () => {
    const { store, id, save } = await setUp();
    const known = new KnownRules();
    expect(known.get(id)).toEqual({ version: 0, list: [] });
    expect(await known.read(store.read, id)).toEqual({ version: 0, list: [] });
    await save(1, [deny]);
    expect(known.get(id).version).toBe(0);
    const read = await store.transaction((tx) => known.read(tx, id));
    expect(read).toMatchObject({ version: 1, list: [{ name: 'no-mail', effect: 'deny' }] });
    expect(known.get(id)).toBe(read);
    expect(known.get(organizationId('org_other'))).toEqual({ version: 0, list: [] });
  });
});
