import { randomUUID } from 'node:crypto';
import { type MemberRole, limits, organizationId, userId } from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listAudit } from '../../../src/app/audit.ts';
import { addMember as changeRole, removeMember } from '../../../src/app/organizations.ts';
import { anonymous } from '../../support/checked-calls.ts';
import { FakeClock, MovingClock } from '../../support/clocks.ts';
import { databaseKinds } from '../../support/databases.ts';
import {
  type Organization,
  addClient,
  addOrganization,
  addPerson,
} from '../../support/identities.ts';
import { type TestServer, bearer, startServer } from '../../support/server.ts';
import { addMember, asPerson, emailOf, signInToken } from '../../support/sign-in/console.ts';
import { operator } from '../../support/sign-in/steps.ts';

const dayMs = 24 * 60 * 60 * 1000;
const password = 'correct horse battery';

describe.each(databaseKinds)('an invitation, on %s (D-331)', (database) => {
  let server: TestServer;
  let acme: Organization;
  const clock = new MovingClock();
  beforeAll(async () => {
    server = await startServer({ database, clock });
  });
  beforeEach(async () => {
    acme = await addOrganization(server, 'Acme');
  });

  const params = () => ({ organization_id: acme.organization_id });
  const create = (body: object = { role: 'operator' }, as = acme.owner) => ({
    as,
    params: params(),
    headers: { 'idempotency-key': randomUUID() },
    body,
  });
  const invite = async (body?: object, as = acme.owner) =>
    (await server.send('create_invitation', create(body, as))).body;
  const listed = async () =>
    (await server.send('list_invitations', { as: acme.owner, params: params() })).body.invitations;
  const revoke = (id: string) =>
    server.send('revoke_invitation', {
      as: acme.owner,
      params: { ...params(), invitation_id: id },
    });
  const newcomer = () => `${randomUUID()}@convoke.test`;
  const signUp = (secret: string, email = newcomer()) =>
    server.call('POST', '/v1/invitations/sign-up', {
      as: anonymous,
      body: { secret, email, password },
    });
  const accept = async (secret: string, as: Record<string, string>) =>
    server.call('POST', '/v1/invitations/accept', { as, body: { secret } });
  const outsider = async () => {
    const other = await addOrganization(server, 'Other');
    const id = await addMember(server, 'member', other.organization_id);
    return { id, as: bearer(await signInToken(server, id)) };
  };
  const said = ({ status, text }: { status: number; text: string }) =>
    `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`;
  const roleOf = async (id: string) => {
    const { organizations } = server.convoke.services.store.read;
    return organizations.membership(organizationId(acme.organization_id), userId(id));
  };

  test('shows its secret once, in a link whose fragment no server sees', async () => {
    const { invitation, secret, url } = await invite({ role: 'viewer', email: ' Bob@Acme.test ' });
    expect(secret).toMatch(/^cvi_/);
    expect(url).toBe(`${server.baseUrl}/console/join#${secret}`);
    expect(invitation).toMatchObject({ role: 'viewer', email: 'bob@acme.test' });
    const days = Date.parse(invitation.expires_at) - Date.parse(invitation.created_at);
    expect(days).toBe(7 * dayMs);
    const [first] = await listed();
    expect(first).toEqual(invitation);
    expect(JSON.stringify(await listed())).not.toContain(secret);
    const { body } = await server.send('read_invitation', { as: anonymous, body: { secret } });
    expect(body).toEqual({
      organization_name: 'Acme',
      role: 'viewer',
      email: 'bob@acme.test',
      expires_at: invitation.expires_at,
    });
  });

  test('repeating its key shows no second secret', async () => {
    const call = create();
    const { body } = await server.send('create_invitation', call);
    const again = await server.refused('create_invitation', call);
    expect(again).toMatchObject({ status: 409, error: 'secret_already_issued' });
    expect(JSON.parse(again.text).invitation_id).toBe(body.invitation.id);
    const other = await server.refused('create_invitation', { ...call, body: { role: 'viewer' } });
    expect(other).toMatchObject({ status: 409, error: 'idempotency_conflict' });
  });

  test('a new account joins with it, and can sign in', async () => {
    const { invitation, secret } = await invite({ role: 'operator' });
    const email = newcomer();
    const { body } = await server.send('sign_up', {
      as: anonymous,
      body: { secret, email: email.toUpperCase(), password, name: ' Bob Weber ' },
    });
    expect(body).toMatchObject({
      organization_id: acme.organization_id,
      organization_name: 'Acme',
      role: 'operator',
    });
    const { organizations, passwords } = server.convoke.services.store.read;
    const user = await organizations.findUserByEmail(email);
    expect(user).toMatchObject({ id: body.user_id, name: 'Bob Weber' });
    expect(await passwords.find(userId(body.user_id))).toMatchObject({ isOneTime: false });
    expect(await roleOf(body.user_id)).toMatchObject({ role: 'operator' });
    const chain = organizationId(acme.organization_id);
    const [row] = await listAudit(server.convoke.services, { chain, limit: 1 });
    expect(row).toMatchObject({
      action: 'invitation.accept',
      object: invitation.id,
      by: { kind: 'user', id: body.user_id },
      details: { email, role: 'operator' },
    });
    expect((await listed()).map(({ id }) => id)).not.toContain(invitation.id);
  });

  test('the ticket of a new account signs one browser of this server in, once and within a minute (D-790)', async () => {
    const ticketOf = async () => {
      const { secret } = await invite();
      const body = { secret, email: newcomer(), password };
      return (await server.send('sign_up', { as: anonymous, body })).body.ticket;
    };
    const { origin } = new URL(server.baseUrl);
    const post = (ticket: string, headers: Record<string, string> = { origin }) =>
      fetch(`${server.baseUrl}/oidc/joined`, {
        method: 'POST',
        headers,
        body: new URLSearchParams({ ticket }),
      });
    const ticket = await ticketOf();
    const foreign = [
      {},
      { origin: 'https://evil.test' },
      { origin, 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) expect((await post(ticket, headers)).status).toBe(400);
    const answers = await Promise.all([post(ticket), post(ticket)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 400]);
    const signedIn = answers.find(({ status }) => status === 204);
    const cookie = signedIn?.headers.getSetCookie().map((line) => line.split(';')[0]) ?? [];
    const account = `${server.baseUrl}/oidc/account`;
    const page = await fetch(account, { headers: { cookie: cookie.join('; ') } });
    expect(await page.text()).toContain('@convoke.test');
    // It is not a link of the machine, and a link is no ticket.
    const link = new URL((await server.convoke.consoleLink()) ?? '').pathname.split('/').at(-1);
    expect((await post(link ?? '')).status).toBe(400);
    const late = await ticketOf();
    const asLink = await fetch(`${server.baseUrl}/oidc/link/${late}`, {
      method: 'POST',
      headers: { origin },
    });
    expect(asLink.status).toBe(400);
    clock.advance(60_001);
    for (const text of [late, '', 'x']) expect((await post(text)).status).toBe(400);
  });

  test('a person who is signed in joins with it, once', async () => {
    const { id, as } = await outsider();
    const { secret } = await invite({ role: 'viewer' });
    const { body } = await server.send('accept_invitation', { as, body: { secret } });
    expect(body).toMatchObject({ user_id: id, role: 'viewer' });
    expect(await roleOf(id)).toMatchObject({ role: 'viewer' });
    const again = await invite({ role: 'admin' });
    const refused = await server.refused('accept_invitation', {
      as,
      body: { secret: again.secret },
    });
    expect(refused).toMatchObject({ status: 409, error: 'already_member' });
    // It was not used up, and the role is the old one.
    expect((await listed()).map((one) => one.id)).toContain(again.invitation.id);
    expect(await roleOf(id)).toMatchObject({ role: 'viewer' });
  });

  test('wrong, used, revoked and expired links look the same to everyone', async () => {
    const used = await invite();
    expect((await signUp(used.secret)).status).toBe(201);
    const revoked = await invite();
    await revoke(revoked.invitation.id);
    const expired = await invite();
    clock.advance(7 * dayMs);
    // Tokens ended with the week that passed.
    const { as } = await outsider();
    const owner = await addPerson(server, acme.organization_id, 'owner');
    acme = { ...acme, owner };
    const secrets = ['cvi_wrong', used.secret, revoked.secret, expired.secret];
    const answers = new Set<string>();
    for (const secret of secrets) {
      const read = await server.refused('read_invitation', { as: anonymous, body: { secret } });
      answers.add(said(read));
      answers.add(said(await signUp(secret)));
      answers.add(said(await accept(secret, as)));
    }
    expect([...answers]).toHaveLength(1);
    expect([...answers][0]).toMatch(/^404 \{"error":"invitation_not_found"/);
    expect(await listed()).toEqual([]);
    const gone = { ...params(), invitation_id: revoked.invitation.id };
    // Deleting it again succeeds (D-490).
    const again = await server.send('revoke_invitation', { as: acme.owner, params: gone });
    expect(again.status).toBe(204);
  });

  test('of two people with one link, exactly one joins', async () => {
    const people = await Promise.all(Array.from({ length: 4 }, () => outsider()));
    const { secret } = await invite();
    const answers = await Promise.all([
      ...people.map(({ as }) => accept(secret, as)),
      signUp(secret),
      signUp(secret),
    ]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status < 300)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(5);
  });

  test('an address that has an account must sign in: the link does not prove whose it is', async () => {
    const { id } = await outsider();
    const { invitation, secret } = await invite({ role: 'owner' });
    const refused = await server.refused('sign_up', {
      as: anonymous,
      body: { secret, email: emailOf(id), password },
    });
    expect(refused).toMatchObject({ status: 409, error: 'email_taken' });
    const { passwords } = server.convoke.services.store.read;
    expect(await passwords.find(id)).toBeUndefined();
    expect((await listed()).map((one) => one.id)).toContain(invitation.id);
  });

  test('one for an address is for no other person', async () => {
    const { id, as } = await outsider();
    const other = await outsider();
    const { secret } = await invite({ role: 'viewer', email: emailOf(id) });
    const signedIn = await server.refused('accept_invitation', { as: other.as, body: { secret } });
    expect(signedIn).toMatchObject({ status: 409, error: 'invitation_for_another' });
    const body = { secret, email: newcomer(), password };
    const fresh = await server.refused('sign_up', { as: anonymous, body });
    expect(fresh).toMatchObject({ status: 409, error: 'invitation_for_another' });
    // The refused sign-up left no account.
    const { organizations } = server.convoke.services.store.read;
    expect(await organizations.findUserByEmail(body.email)).toBeUndefined();
    expect((await accept(secret, as)).status).toBe(200);
  });

  test('an admin cannot invite an owner', async () => {
    const admin = await addPerson(server, acme.organization_id, 'admin');
    const refused = await server.refused('create_invitation', create({ role: 'owner' }, admin));
    expect(refused).toMatchObject({ status: 403, error: 'forbidden' });
    const roles: MemberRole[] = ['admin', 'operator', 'viewer', 'member'];
    for (const role of roles) expect((await invite({ role }, admin)).invitation.role).toBe(role);
  });

  test.each(['removed', 'demoted'] as const)('ends when its author is %s', async (fate) => {
    const { services } = server.convoke;
    const id = await addMember(server, 'admin', acme.organization_id);
    const as = bearer(await signInToken(server, id));
    const { secret } = await invite({ role: 'admin' }, as);
    const at = { organizationId: organizationId(acme.organization_id), email: emailOf(id) };
    await (fate === 'removed'
      ? removeMember(services, { ...at, by: operator })
      : changeRole(services, { ...at, role: 'viewer', by: operator }));
    expect((await signUp(secret)).status).toBe(404);
  });

  test('a token of one tenant accepts none', async () => {
    const id = await addMember(server, 'operator');
    const { secret } = await invite();
    const as = await asPerson(server, id);
    const refused = await server.refused('accept_invitation', { as, body: { secret } });
    expect(refused).toMatchObject({ status: 403, error: 'forbidden' });
    // Before the body is read (D-52).
    const unread = await server.call('POST', '/v1/invitations/accept', { as, body: { zz: 1 } });
    expect([unread.status, JSON.parse(unread.text).error]).toEqual([403, 'forbidden']);
    const machine = (await addClient(server, {}, acme)).in('ten_any');
    expect((await accept(secret, machine)).status).toBe(403);
  });

  test('a bad address, password or name is refused before the invitation is used up', async () => {
    const { invitation, secret } = await invite();
    const wrongs = [{ email: 'no-address' }, { password: 'short' }, { name: 'boss@acme.test' }];
    for (const wrong of wrongs) {
      const body = { secret, email: newcomer(), password, ...wrong };
      const refused = await server.refused('sign_up', { as: anonymous, body });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_body' });
    }
    expect((await listed()).map((one) => one.id)).toContain(invitation.id);
  });

  test('an organization has a limited number of open ones; expired ones do not count', async () => {
    const full = await addOrganization(server, 'Full');
    const call = (as = full.owner) => ({
      ...create({ role: 'viewer' }, as),
      params: { organization_id: full.organization_id },
    });
    for (let count = 0; count < limits.invitationsPerOrganization; count += 1) {
      await server.send('create_invitation', call());
    }
    const refused = await server.refused('create_invitation', call());
    expect(refused).toMatchObject({ status: 409, error: 'invitation_limit_reached' });
    clock.advance(7 * dayMs);
    const owner = await addPerson(server, full.organization_id, 'owner');
    expect((await server.send('create_invitation', call(owner))).status).toBe(201);
  });
});

describe('links that a stranger tries', () => {
  test('are limited for each network', async () => {
    const server = await startServer({ clock: new FakeClock() });
    const body = { secret: 'cvi_guess', email: 'a@b.test', password };
    const limited = async (id: 'read_invitation' | 'sign_up', guess: object) => {
      for (let count = 1; count < 1_000; count += 1) {
        const { error, headers } = await server.refused(id, { as: anonymous, body: guess });
        if (error === 'rate_limited') return { count, after: headers.get('retry-after') };
        expect(error).toBe('invitation_not_found');
      }
      throw new Error(`${id} is not limited`);
    };
    const reads = await limited('read_invitation', { secret: body.secret });
    expect(reads).toMatchObject({ after: expect.stringMatching(/^[1-9]/) });
    expect((await limited('sign_up', body)).count).toBeGreaterThan(30);
  });
});
