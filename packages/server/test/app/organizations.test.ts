import { organizationId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../src/app/audit.ts';
import {
  addMember,
  createOrganization,
  findPerson,
  removeMember,
} from '../../src/app/organizations.ts';
import { recognise } from '../../src/app/people/people.ts';
import type { Actor } from '../../src/domain/audit.ts';
import type { Role } from '../../src/domain/member.ts';
import { databaseKinds } from '../support/databases.ts';
import { type IdentityFixture, createIdentityFixture } from '../support/identity-fixture.ts';

const by: Actor = { kind: 'operator', id: 'root', requestId: null, address: null };

describe.each(databaseKinds)('organizations and their people on %s', (kind) => {
  let world: IdentityFixture;
  let people = 0;
  beforeAll(async () => {
    world = await createIdentityFixture(kind);
  });
  const organization = () => createOrganization(world, { name: ' Acme ', by });
  const someone = () => `person-${(people += 1)}@example.test`;
  const add = (of: string, email: string, role: Role) =>
    addMember(world, { organizationId: organizationId(of), email, role, by });
  const remove = (of: string, email: string) =>
    removeMember(world, { organizationId: organizationId(of), email, by });
  const actions = async (of: string) =>
    (await listAudit(world, { chain: organizationId(of), limit: 99 })).map(({ action }) => action);

  test('an organization begins with its audit', async () => {
    const { id, name } = await organization();
    expect(name).toBe('Acme');
    expect(await world.store.read.organizations.find(id)).toMatchObject({ name });
    const [row] = await listAudit(world, { chain: id, limit: 1 });
    expect(row).toMatchObject({ seq: 1, action: 'organization.create', object: id, by });
  });

  test.each(['', ' ', 'a\u0000b', 'x'.repeat(201)])('a name cannot be %j', async (name) => {
    await expect(createOrganization(world, { name, by })).rejects.toThrow('printable characters');
  });

  test('a member is one person, however the address is written, and has one role', async () => {
    const { id } = await organization();
    const email = someone();
    const first = await add(id, email, 'member');
    expect((await add(id, ` ${email.toUpperCase()} `, 'member')).user).toEqual(first.user);
    expect(await world.store.read.organizations.membership(id, first.user.id)).toMatchObject({
      role: 'member',
    });
    await add(id, email, 'owner');
    const [membership, ...others] = await world.store.read.organizations.membershipsOf(
      first.user.id,
    );
    expect([membership?.role, others]).toEqual(['owner', []]);
    // The same again changed nothing, so it left no row.
    expect(await actions(id)).toEqual(['member.add', 'member.add', 'organization.create']);
    expect(await findPerson(world, email.toUpperCase())).toEqual(first.user);
  });

  test('ten at once add one member', async () => {
    const { id } = await organization();
    const email = someone();
    const added = await Promise.all(Array.from({ length: 10 }, () => add(id, email, 'admin')));
    expect(new Set(added.map(({ user }) => user.id)).size).toBe(1);
    expect(await actions(id)).toEqual(['member.add', 'organization.create']);
  });

  test('a removed member is one no more, and the audit says who did it', async () => {
    const { id } = await organization();
    const [owner, other] = [someone(), someone()];
    await add(id, owner, 'owner');
    const { user } = await add(id, other, 'admin');
    await remove(id, other.toUpperCase());
    expect(await world.store.read.organizations.membership(id, user.id)).toBeUndefined();
    const [row] = await listAudit(world, { chain: id, limit: 1 });
    const details = { email: other, role: 'admin' };
    expect(row).toMatchObject({ action: 'member.remove', object: user.id, by, details });
    await expect(remove(id, other)).rejects.toThrow(`${other} is not a member`);
    await expect(remove('org_unknown', other)).rejects.toThrow('org_unknown');
    await expect(remove(id, someone())).rejects.toThrow('is not a member');
    expect(await actions(id)).toHaveLength(4);
  });

  test('the last owner neither goes nor steps down, and of two who go at once one stays', async () => {
    const { id } = await organization();
    const [first, second] = [someone(), someone()];
    await add(id, first, 'owner');
    await add(id, someone(), 'admin');
    await expect(remove(id, first)).rejects.toThrow('The last owner cannot be removed');
    await expect(add(id, first, 'admin')).rejects.toThrow('The last owner cannot be removed');
    await add(id, second, 'owner');
    const outcomes = await Promise.allSettled([remove(id, first), add(id, second, 'member')]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await world.store.read.organizations.countOwners(id)).toBe(1);
  });

  test('an unknown organization or member and an invalid address are named in the error', async () => {
    const { id } = await organization();
    await expect(add('org_unknown', someone(), 'owner')).rejects.toThrow('org_unknown');
    for (const email of ['', 'ann', 'ann@', 'a b@c', 'a@b\u0000']) {
      await expect(add(id, email, 'owner')).rejects.toThrow('not an e-mail address');
    }
    await expect(findPerson(world, 'nobody@example.test')).rejects.toThrow('nobody@example.test');
    expect(await actions(id)).toEqual(['organization.create']);
  });

  test('a visitor of another issuer is the same person at each visit, and no other', async () => {
    const at = (issuer: string, subject: string, email?: string) =>
      recognise(world, { issuer, subject, email });
    const visits = await Promise.all(Array.from({ length: 10 }, () => at('https://id', 'ann')));
    expect(new Set(visits).size).toBe(1);
    expect(await at('https://other', 'ann')).not.toBe(visits[0]);
    expect(await at('https://id', 'bob')).not.toBe(visits[0]);
    const { id } = await organization();
    const email = someone();
    const { user } = await add(id, email, 'owner');
    expect(await at('https://id', 'known', email)).toBe(user.id);
    expect(await at('https://id', 'known')).toBe(user.id);
    expect(await at('https://id', 'odd', 'not an address')).not.toBe(user.id);
  });

  test('a visitor has the name that the issuer last claimed (D-415)', async () => {
    const visitor = { issuer: 'https://id', subject: 'named', email: undefined };
    const nameAfter = async (name?: string) => {
      const id = await recognise(world, { ...visitor, name });
      return (await world.store.read.organizations.findUser(id))?.name;
    };
    expect(await nameAfter('Ann Miller')).toBe('Ann Miller');
    expect(await nameAfter()).toBe('Ann Miller');
    for (const name of ['', 'ann@acme.test', 'x'.repeat(101), 'Ann\u0000']) {
      expect(await nameAfter(name)).toBe('Ann Miller');
    }
    expect(await nameAfter('Ann Smith')).toBe('Ann Smith');
  });
});
