import { organizationId, userId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { type Organization, addOrganization, addPerson } from '../../support/identities.ts';
import { type TestServer, bearer, startServer } from '../../support/server.ts';
import { addMember, signInToken } from '../../support/sign-in/console.ts';

describe.each(databaseKinds)('owners and admins manage members, on %s (D-751)', (database) => {
  let server: TestServer;
  let team: Organization;
  beforeAll(async () => {
    server = await startServer({ database });
    team = await addOrganization(server, 'Team');
  });
  const of = (user_id: string) => ({ organization_id: team.organization_id, user_id });
  const give = (user: string, role: string, as = team.owner) =>
    server.send('update_member', { as, params: of(user), body: { role } });
  const roleOf = async (user: string) => {
    const params = { organization_id: team.organization_id };
    const { body } = await server.send('list_members', { as: team.owner, params });
    return body.members.find(({ user_id }) => user_id === user)?.role;
  };
  const actions = async (user: string) => {
    const params = { organization_id: team.organization_id };
    const { body } = await server.send('list_audit', { as: team.owner, params });
    return body.rows.filter(({ object }) => object === user).map(({ action }) => action);
  };

  test('a role changes with the next request, and is in the audit log', async () => {
    const user = await addMember(server, 'admin', team.organization_id);
    const as = bearer(await signInToken(server, user));
    const params = { organization_id: team.organization_id };
    await server.send('list_members', { as, params });
    const { body } = await give(user, 'viewer');
    expect(body).toMatchObject({ user_id: user, role: 'viewer' });
    expect(await server.refused('list_members', { as, params })).toMatchObject({ status: 403 });
    expect(await roleOf(user)).toBe('viewer');
    await give(user, 'viewer');
    expect((await actions(user)).filter((action) => action === 'member.role')).toHaveLength(1);
  });

  test('a removed member has no access with the next request, and the second removal finds none', async () => {
    const user = await addMember(server, 'admin', team.organization_id);
    const as = bearer(await signInToken(server, user));
    const params = { organization_id: team.organization_id };
    const invited = {
      as,
      params,
      headers: { 'idempotency-key': 'invited-by-them' },
      body: { role: 'viewer' },
    };
    await server.send('create_invitation', invited);
    await server.send('remove_member', { as: team.owner, params: of(user) });
    expect(await server.refused('list_members', { as, params })).toMatchObject({ status: 403 });
    const { body } = await server.send('list_invitations', { as: team.owner, params });
    expect(body.invitations).toEqual([]);
    expect(await actions(user)).toContain('member.remove');
    const again = { as: team.owner, params: of(user) };
    for (const id of ['remove_member', 'sign_out_member'] as const) {
      expect(await server.refused(id, again)).toMatchObject({ status: 404, error: 'not_found' });
    }
    const more = { ...again, body: { role: 'admin' } };
    expect(await server.refused('update_member', more)).toMatchObject({ status: 404 });
  });

  test('a member who is signed out everywhere has to sign in again, and stays a member', async () => {
    const user = await addMember(server, 'operator', team.organization_id);
    const as = bearer(await signInToken(server, user));
    await server.send('get_me', { as });
    await server.send('sign_out_member', { as: team.owner, params: of(user) });
    expect(await server.refused('get_me', { as })).toMatchObject({ status: 401 });
    expect(await roleOf(user)).toBe('operator');
    expect(await actions(user)).toContain('member.sign_out');
  });

  test('an admin manages everyone but owners, and makes none', async () => {
    const as = await addPerson(server, team.organization_id, 'admin');
    const owner = await addMember(server, 'owner', team.organization_id);
    const viewer = await addMember(server, 'viewer', team.organization_id);
    const forbidden = { status: 403, error: 'forbidden' };
    for (const id of ['remove_member', 'sign_out_member'] as const) {
      expect(await server.refused(id, { as, params: of(owner) })).toMatchObject(forbidden);
    }
    for (const [user, role] of [
      [owner, 'viewer'],
      [viewer, 'owner'],
    ] as const) {
      const call = { as, params: of(user), body: { role } };
      expect(await server.refused('update_member', call)).toMatchObject(forbidden);
    }
    await give(viewer, 'admin', as);
    await server.send('sign_out_member', { as, params: of(viewer) });
    await server.send('remove_member', { as, params: of(viewer) });
    expect([await roleOf(owner), await roleOf(viewer)]).toEqual(['owner', undefined]);
  });

  test('the last owner stays: of two who leave or step down at once, one does', async () => {
    const pair = await addOrganization(server, 'Pair');
    const at = { organization_id: pair.organization_id };
    const [first] = (await server.send('list_members', { as: pair.owner, params: at })).body
      .members;
    const alone = { ...at, user_id: userId(first?.user_id ?? '') };
    const last = { status: 409, error: 'last_owner' };
    const down = { as: pair.owner, params: alone, body: { role: 'admin' } };
    expect(await server.refused('update_member', down)).toMatchObject(last);
    expect(await server.refused('remove_member', { as: pair.owner, params: alone })).toMatchObject(
      last,
    );
    const second = await addMember(server, 'owner', pair.organization_id);
    const as = bearer(await signInToken(server, second));
    const answers = await Promise.all([
      server.call('DELETE', `/v1/organizations/${at.organization_id}/members/${second}`, {
        as: pair.owner,
      }),
      server.call('DELETE', `/v1/organizations/${at.organization_id}/members/${alone.user_id}`, {
        as,
      }),
    ]);
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    // Who was removed first may be refused at the gate.
    expect([
      [204, 403],
      [204, 409],
    ]).toContainEqual(statuses);
  });

  test('of two owners who demote each other at once, exactly one stays owner', async () => {
    const { store } = server.convoke.services;
    for (let round = 0; round < 3; round += 1) {
      const duel = await addOrganization(server, 'Duel');
      const at = { organization_id: duel.organization_id };
      const id = organizationId(duel.organization_id);
      const { members } = (await server.send('list_members', { as: duel.owner, params: at })).body;
      const first = members[0]?.user_id ?? '';
      const second = await addMember(server, 'owner', duel.organization_id);
      const as = bearer(await signInToken(server, second));
      const demote = (user: string, by: typeof as) =>
        server.call('PATCH', `/v1/organizations/${id}/members/${user}`, {
          as: by,
          body: { role: 'viewer' },
        });
      const answers = await Promise.all([demote(second, duel.owner), demote(first, as)]);
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
      // The second is refused as the last owner, or has no right any more.
      expect([
        [200, 403],
        [200, 409],
      ]).toContainEqual(statuses);
      expect(await store.read.organizations.countOwners(id)).toBe(1);
    }
  });

  test('a member of another organization, and no role of ours, change nothing', async () => {
    const other = await addOrganization(server, 'Other');
    const stranger = await addMember(server, 'viewer', other.organization_id);
    for (const id of ['remove_member', 'sign_out_member'] as const) {
      const call = { as: team.owner, params: of(stranger) };
      expect(await server.refused(id, call)).toMatchObject({ status: 404 });
    }
    const user = await addMember(server, 'viewer', team.organization_id);
    for (const body of [{ role: 'king' }, {}, { role: 'admin', more: 1 }]) {
      const call = { as: team.owner, params: of(user), body };
      expect(await server.refused('update_member', call)).toMatchObject({ status: 400 });
    }
    expect(await roleOf(user)).toBe('viewer');
  });
});
