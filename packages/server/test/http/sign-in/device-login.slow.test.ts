import { organizationId, userId } from '@convoke/contract';
import { tokenRevocation } from 'openid-client';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listAudit, verifyAudit } from '../../../src/app/audit.ts';
import { setPassword } from '../../../src/app/people/passwords.ts';
import { MovingClock } from '../../support/clocks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { Browser } from '../../support/sign-in/browser.ts';
import {
  type Program,
  beginDevice,
  confirmDevice,
  discover,
  givePassword,
  managesWith,
  operator,
  owner,
  ownerId,
  pollDevice,
  refresh,
  signInTerminal,
} from '../../support/sign-in/steps.ts';
import { rotateSigningKey } from '../../support/signing-keys.ts';

describe.each(databaseKinds)('a terminal that a person signs in, on %s (RFC 8628)', (database) => {
  const clock = new MovingClock();
  let server: TestServer;
  let program: Program;
  // Attempts are limited: one every twelve seconds after the first ten.
  beforeEach(() => clock.advance(12_000));
  beforeAll(async () => {
    server = await startServer({ database, clock });
    await givePassword(server);
    program = await discover(server, 'convoke-cli');
  });
  const audit = async () => {
    const { store } = server.convoke.services;
    const chain = organizationId(server.quickstart.organization_id);
    return listAudit({ store }, { chain, limit: 1_000 });
  };

  test('waits for the code to be confirmed, and then manages with a short token', async () => {
    const code = await beginDevice(program);
    expect(code.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    await expect(pollDevice(program, code)).rejects.toMatchObject({
      error: 'authorization_pending',
    });
    const page = await confirmDevice(new Browser(), code, owner(server));
    expect(page.body).toContain('Return to your terminal');
    const before = (await audit()).length;
    const tokens = await pollDevice(program, code);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 600 });
    expect(await managesWith(server, tokens.access_token)).toBe(200);
    const [newest, ...older] = await audit();
    expect(older).toHaveLength(before);
    expect(newest).toMatchObject({
      action: 'token.issue',
      by: { kind: 'user', id: await ownerId(server), address: '127.0.0.1' },
      details: { client: 'convoke-cli' },
    });
  });

  test('cannot use its token on the application API (D-55)', async () => {
    const { tokens } = await signInTerminal(server);
    const { organization_id, tenant_id } = server.quickstart;
    const as = {
      authorization: `Bearer ${tokens.access_token}`,
      'x-organization-id': organization_id,
      'x-workspace-tenant-id': tenant_id,
    };
    expect((await server.refused('list_agents', { as })).status).toBe(403);
    const mine = { authorization: as.authorization };
    const { body } = await server.send('list_workspaces', { as: mine });
    expect(body.workspaces.map((one) => one.organization_id)).toEqual([organization_id]);
  });

  test('is refused when the person cancels', async () => {
    const code = await beginDevice(program);
    const browser = new Browser();
    await browser.open(code.verification_uri);
    await browser.submit({ user_code: code.user_code });
    const page = await browser.submit({}, { press: 'abort' });
    expect(page.body).toContain('No device was connected');
    await expect(pollDevice(program, code)).rejects.toMatchObject({ error: 'access_denied' });
  });

  test('can pass the code in a link, which still needs confirmation', async () => {
    const code = await beginDevice(program);
    const browser = new Browser();
    await browser.open(code.verification_uri_complete ?? '');
    const asked = await browser.submit({});
    expect(asked.body).toContain(code.user_code);
    await expect(pollDevice(program, code)).rejects.toMatchObject({
      error: 'authorization_pending',
    });
    await browser.submit({}, { press: 'confirm' });
    await browser.submit({ ...owner(server) });
    expect((await pollDevice(program, code)).access_token).toBeDefined();
  });

  test('can be connected with a code that was opened before, until it is approved', async () => {
    const code = await beginDevice(program);
    const left = new Browser();
    await left.open(code.verification_uri_complete ?? '');
    await left.submit({});
    await left.submit({}, { press: 'confirm' });
    const wrong = await left.submit({ ...owner(server, 'wrong password') });
    expect(wrong.status).toBe(401);
    // The same browser again, then another one.
    expect((await left.open(code.verification_uri_complete ?? '')).status).toBe(200);
    expect((await left.submit({})).body).toContain('Connect this device?');
    const other = new Browser();
    const page = await confirmDevice(other, code, owner(server));
    expect(page.body).toContain('Return to your terminal');
    expect((await pollDevice(program, code)).access_token).toBeDefined();
    const late = await left.submit({}, { press: 'confirm' });
    expect(late.body).toContain('invalid or has expired');
    const page2 = await confirmDevice(other, await beginDevice(program), owner(server));
    expect(page2.body).toContain('Return to your terminal');
  });

  test('is connected once when two browsers continue with the same code', async () => {
    const code = await beginDevice(program);
    const browsers = [new Browser(), new Browser()];
    for (const browser of browsers) {
      await browser.open(code.verification_uri);
      await browser.submit({ user_code: code.user_code });
      await browser.submit({}, { press: 'confirm' });
    }
    const pages: string[] = [];
    for (const browser of browsers) pages.push((await browser.submit({ ...owner(server) })).body);
    expect(pages[0]).toContain('Return to your terminal');
    expect(pages[1]).toContain('invalid or has expired');
    expect((await pollDevice(program, code)).access_token).toBeDefined();
  });

  test('a wrong or used code gets an error message', async () => {
    const browser = new Browser();
    const { verification_uri } = await beginDevice(program);
    await browser.open(verification_uri);
    expect((await browser.submit({ user_code: 'BBBB-BBBB' })).body).toContain(
      'invalid or has expired',
    );
    expect((await browser.submit({ user_code: '<script>' })).body).not.toContain('<script>');
    const used = await beginDevice(program);
    await confirmDevice(browser, used, owner(server));
    await browser.open(verification_uri);
    expect((await browser.submit({ user_code: used.user_code })).body).toContain(
      'invalid or has expired',
    );
  });

  test('gets its tokens once, however many requests run in parallel', async () => {
    const code = await beginDevice(program);
    await confirmDevice(new Browser(), code, owner(server));
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, () => pollDevice(program, code)),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('renews its token with a refresh token that rotates each time', async () => {
    const { tokens } = await signInTerminal(server);
    const renewed = await refresh(program, tokens.refresh_token);
    expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
    expect(await managesWith(server, renewed.access_token)).toBe(200);
    // Reuse of the old refresh token means that it was stolen, before or after: both holders are signed out.
    await expect(refresh(program, tokens.refresh_token)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await expect(refresh(program, renewed.refresh_token)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  test('of ten renewals at once at most one succeeds', async () => {
    const { tokens } = await signInTerminal(server);
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, () => refresh(program, tokens.refresh_token)),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
  });

  test('is signed out without affecting other terminals', async () => {
    const browser = new Browser();
    const [one, other] = [
      await signInTerminal(server, browser),
      await signInTerminal(server, browser),
    ];
    await tokenRevocation(program, one.tokens.refresh_token ?? '');
    await expect(refresh(program, one.tokens.refresh_token)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect((await refresh(program, other.tokens.refresh_token)).access_token).toBeDefined();
  });

  test('is signed out when the password changes, and its token is refused at once', async () => {
    const { tokens } = await signInTerminal(server);
    expect(await managesWith(server, tokens.access_token)).toBe(200);
    await givePassword(server);
    await expect(refresh(program, tokens.refresh_token)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect(await managesWith(server, tokens.access_token)).toBe(401);
    const next = await signInTerminal(server);
    expect(await managesWith(server, next.tokens.access_token)).toBe(200);
  });

  test('a first password leaves the tokens that an operator issued before', async () => {
    const { store, clock, ids } = server.convoke.services;
    const user = { email: 'new@example.test', createdAt: clock.now() };
    const { id } = await store.transaction((tx) =>
      tx.organizations.ensureUser({ ...user, id: userId(ids.next('usr')) }),
    );
    const password = { userId: id, hash: 'x', isOneTime: true, by: operator };
    await setPassword(server.convoke.services, password);
    expect(await store.read.organizations.notBefore(id)).toBe(0);
    await setPassword(server.convoke.services, password);
    expect(await store.read.organizations.notBefore(id)).toBeGreaterThan(0);
  });

  test('stays signed in after a restart and after a key rotation', async () => {
    const { tokens } = await signInTerminal(server);
    await rotateSigningKey(server);
    server = await server.restart();
    const renewed = await refresh(program, tokens.refresh_token);
    expect(await managesWith(server, tokens.access_token)).toBe(200);
    expect(await managesWith(server, renewed.access_token)).toBe(200);
    const { store } = server.convoke.services;
    for await (const { problem } of verifyAudit({ store })) expect(problem).toBeUndefined();
  });
});
