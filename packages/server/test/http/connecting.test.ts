import { limits } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { AccountService, signInAt } from '../support/account-service.ts';
import { MovingClock } from '../support/clocks.ts';
import {
  connectSteps,
  ended,
  pathOf,
  product,
  returnUrl,
  wrongTicket,
} from '../support/connect-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { type TestServer, bearer, startServer } from '../support/server.ts';
import { addMember, asPerson } from '../support/sign-in/console.ts';

/** Accounts are connected by a link: with a real authorization server, and a browser without a page (D-605, D-606). */
describe.each(databaseKinds)('connecting by a link on %s', (database) => {
  let service: AccountService;
  let server: TestServer;
  const clock = new MovingClock();
  beforeAll(async () => {
    service = await AccountService.start();
    const oauth = service.declared();
    server = await startServer({
      database,
      clock,
      clientTokenSeconds: 7200,
      agents: {
        connected: {
          description: 'Uses accounts',
          connections: {
            github: { owner: 'end_user', oauth },
            mail: { owner: 'end_user' },
            inside: {
              owner: 'end_user',
              oauth: { ...oauth, token_endpoint: 'https://10.0.0.1/token' },
            },
            secretless: {
              owner: 'end_user',
              oauth: { ...oauth, client_secret: '${env:NO_SUCH_VARIABLE}' },
            },
            crm: { owner: 'tenant' },
          },
          script: [{ say: 'hi' }],
        },
      },
      env: { CONVOKE_CONNECTION_ALLOW: '127.0.0.1/32', CONVOKE_CORS_ORIGINS: product },
    });
    await service.register(server.baseUrl);
  });

  const steps = connectSteps(() => ({ server, service }));
  const { newTenant, begin, signIn, callback, ticketOf, finish, connected, refused, allOf } = steps;
  const { rowOf, secretOf } = steps;

  test('the end user signs in at the service, and the account is connected once', async () => {
    const place = await newTenant();
    const begun = await begin(place);
    const asked = new URL(begun.connect_url).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      prompt: 'consent',
      response_type: 'code',
      client_id: AccountService.clientId,
      redirect_uri: `${server.baseUrl}/v1/connect/callback`,
      code_challenge_method: 'S256',
      scope: 'openid offline_access',
    });
    const returned = await callback(await signInAt(service, begun.connect_url, { name: 'ann' }));
    expect(returned).toMatchObject({ status: 303, page: '' });
    expect(returned.location).toMatch(
      /^https:\/\/product\.test\/connected\?from=convoke&service=github&ticket=[\w-]{43}$/,
    );
    expect(await allOf(place)).toEqual([]);
    const ticket = returned.query.get('ticket') ?? '';
    const connection = await connected(place, ticket);
    expect(connection).toMatchObject({
      service: 'github',
      end_user: 'u-17',
      status: 'connected',
      version: 1,
      auth: {
        type: 'oauth',
        scope: 'openid offline_access',
        token_endpoint: `${service.issuer}/token`,
        client_id: AccountService.clientId,
        refreshes: true,
      },
    });
    expect(await refused(place, ticket)).toEqual(wrongTicket);
    expect(await allOf(place)).toMatchObject([{ id: connection.id, version: 1 }]);
  });

  test('its token is one of the account that signed in', async () => {
    const place = await newTenant();
    await connected(place, await ticketOf(place));
    const secret = await secretOf(place);
    expect(await service.ownerOf(secret?.value ?? '')).toBe('ann');
    expect(secret).toMatchObject({ clientSecret: AccountService.clientSecret });
  });

  test('a person who follows the link of another returns with a ticket that connects nothing (D-606)', async () => {
    const attacker = await newTenant();
    const victim = { ...attacker, session_id: await attacker.open('u-18') };
    const other = await newTenant();
    // The victim signs in behind the link of the attacker, and the page of the product finishes as the victim.
    const ticket = await ticketOf(attacker);
    expect(await refused(victim, ticket)).toEqual(wrongTicket);
    expect(await refused(other, ticket)).toEqual(wrongTicket);
    const sameUser = { ...attacker, session_id: await attacker.open('u-17') };
    expect(await refused(sameUser, ticket)).toEqual(wrongTicket);
    const unknown = await server.call('PUT', pathOf(other), {
      as: other.as,
      body: { ticket: 'x' },
    });
    const foreign = await server.call('PUT', pathOf(other), { as: other.as, body: { ticket } });
    expect(withoutRequestId(foreign.text)).toBe(withoutRequestId(unknown.text));
    expect(await allOf(attacker)).toEqual([]);
    expect(await allOf(other)).toEqual([]);
    // A page of the victim cannot write into the session of the attacker.
    const scopes = ['connections:read', 'connections:write'];
    const params = { session_id: victim.session_id };
    const made = await server.send('create_session_token', {
      as: victim.as,
      params,
      body: { scopes },
    });
    const page = { as: bearer(made.body.token), session_id: attacker.session_id };
    expect(await refused(page, ticket)).toEqual([404, 'not_found']);
    await connected(attacker, ticket);
  });

  test('a page with a token of the session connects the account of its own user', async () => {
    const { as, session_id } = await newTenant();
    const scopes = ['connections:read', 'connections:write'];
    const params = { session_id };
    const made = await server.send('create_session_token', { as, params, body: { scopes } });
    const page = { as: bearer(made.body.token), session_id };
    expect(await connected(page, await ticketOf(page))).toMatchObject({ end_user: 'u-17' });
  });

  test('a return that is repeated, forged or begun anew stores nothing', async () => {
    const place = await newTenant();
    const url = await signIn(place);
    const first = await callback(url);
    expect(await callback(url)).toMatchObject(ended);
    const before = service.tokenRequests;
    const forged = new URL(url);
    forged.searchParams.set('state', 'A'.repeat(43));
    expect(await callback(forged)).toMatchObject(ended);
    const twice = await signIn(place);
    twice.searchParams.append('state', twice.searchParams.get('state') ?? '');
    expect(await callback(twice)).toMatchObject(ended);
    expect(service.tokenRequests).toBe(before);
    // The beginning above has ended the one before, with its ticket.
    expect(await refused(place, first.query.get('ticket') ?? '')).toEqual(wrongTicket);
    expect(await allOf(place)).toEqual([]);
  });

  test('a code of another issuer is not sent to the token endpoint', async () => {
    const place = await newTenant();
    const before = service.tokenRequests;
    for (const iss of ['https://other.test', '']) {
      const url = await signIn(place);
      url.searchParams.set('iss', iss);
      expect(await callback(url)).toMatchObject(ended);
    }
    const without = await signIn(place);
    without.searchParams.delete('iss');
    expect(await callback(without)).toMatchObject(ended);
    expect(service.tokenRequests).toBe(before);
  });

  test('one that refuses, or a service that gives no token, returns with an error', async () => {
    const place = await newTenant();
    const query = async (form: Readonly<Record<string, string>>, change?: (url: URL) => void) => {
      const url = await signIn(place, form);
      change?.(url);
      return Object.fromEntries((await callback(url)).query);
    };
    const failed = { from: 'convoke', service: 'github', error: 'connect_failed' };
    expect(await query({ refuse: 'yes' })).toEqual({ ...failed, error: 'access_denied' });
    const wrong = (url: URL) => url.searchParams.set('code', 'a-code-of-another-person');
    expect(await query({ name: 'ann' }, wrong)).toEqual(failed);
    const before = service.tokenRequests;
    const without = (url: URL) => url.searchParams.set('code', '');
    expect(await query({ name: 'ann' }, without)).toEqual(failed);
    expect(service.tokenRequests).toBe(before);
    service.tokenReply = (_, answer) =>
      answer.writeHead(302, { location: 'https://other.test' }).end();
    expect(await query({ name: 'ann' })).toEqual(failed);
    service.tokenReply = undefined;
    expect(await allOf(place)).toEqual([]);
  });

  test('an account that is revoked while its user signs in is not connected', async () => {
    const place = await newTenant();
    const params = { session_id: place.session_id, service: 'github' };
    const { as } = place;
    await connected(place, await ticketOf(place));
    const late = await signIn(place);
    await server.send('delete_session_connection', { as, params });
    expect(await callback(late)).toMatchObject(ended);
    await connected(place, await ticketOf(place));
    const ticket = await ticketOf(place);
    await server.send('delete_session_connection', { as, params });
    expect(await refused(place, ticket)).toEqual(wrongTicket);
    expect(await allOf(place)).toEqual([]);
  });

  test('an account that is there is replaced', async () => {
    const place = await newTenant();
    const { id } = await connected(place, await ticketOf(place));
    const params = { session_id: place.session_id, service: 'github' };
    const ticket = await ticketOf(place);
    const again = await server.send('put_session_connection', { ...finish(place, ticket), params });
    expect(again).toMatchObject({ status: 200, body: { id, version: 2 } });
  });

  test('a link that could not work is refused before anyone signs in', async () => {
    const { as, session_id } = await newTenant();
    const beginAt = async (name: string, return_url = returnUrl, at = session_id) => {
      const params = { session_id: at, service: name };
      const { status, error } = await server.refused('begin_connection', {
        as,
        params,
        body: { return_url },
      });
      return [status, error];
    };
    expect(await beginAt('mail')).toEqual([409, 'connect_unavailable']);
    expect(await beginAt('inside')).toEqual([409, 'connect_unavailable']);
    expect(await beginAt('secretless')).toEqual([409, 'connect_unavailable']);
    expect(await beginAt('crm')).toEqual([404, 'not_found']);
    const body = { agent_name: 'connected' };
    const ofNobody = (await server.send('create_session', { as, body })).body.id;
    expect(await beginAt('github', returnUrl, ofNobody)).toEqual([409, 'connection_missing']);
    for (const url of [
      'https://other.test/',
      'https://product.test@other.test/',
      `${server.baseUrl}/v1/connect/callback`,
      `${server.baseUrl}/console/../oidc/account`,
      `${server.baseUrl}@other.test/console/`,
      'https://me:secret@product.test/',
      'javascript:alert(1)',
      'no address',
    ]) {
      expect(await beginAt('github', url)).toEqual([400, 'invalid_body']);
    }
    const own = (await begin({ as, session_id }, `${server.baseUrl}/console/`)).connect_url;
    expect(own).toContain(service.issuer);
    const params = { session_id, service: 'github' };
    for (const body of [{}, { auth: { type: 'bearer', token: 'a-token-itself' }, ticket: 'x' }]) {
      const both = await server.refused('put_session_connection', { as, params, body });
      expect(both).toMatchObject({ status: 400, error: 'invalid_body' });
    }
  });

  test('a person connects the own account, and no colleague can begin or finish it', async () => {
    const [me, colleague] = [await addMember(server, 'operator'), await addMember(server, 'admin')];
    const [as, asColleague] = [await asPerson(server, me), await asPerson(server, colleague)];
    const body = { agent_name: 'connected' };
    const { id: session_id } = (await server.send('create_session', { as, body })).body;
    const ticket = await ticketOf({ as, session_id });
    expect(await refused({ as: asColleague, session_id }, ticket)).toEqual([403, 'forbidden']);
    const params = { session_id, service: 'github' };
    const begun = { as: asColleague, params, body: { return_url: returnUrl } };
    expect(await server.refused('begin_connection', begun)).toMatchObject({ error: 'forbidden' });
    expect(await connected({ as, session_id }, ticket)).toMatchObject({ end_user: me });
  });

  test('no answer, page, log or audit row has a secret of it', async () => {
    const place = await newTenant();
    const ticket = await ticketOf(place);
    const answer = await server.send('put_session_connection', finish(place, ticket));
    const secret = await secretOf(place);
    const planted = [secret?.value, secret?.refreshToken, AccountService.clientSecret, ticket];
    const audit = await server.send('list_audit', {
      as: server.owner,
      params: { organization_id: server.quickstart.organization_id },
    });
    expect(audit.text).toContain('connection.connect');
    for (const shown of [
      answer.text,
      audit.text,
      (await server.call('GET', '/v1/agents', { as: place.as })).text,
    ]) {
      for (const text of planted) expect(shown).not.toContain(text ?? 'none');
    }
  });

  test('a return and a ticket that are late store nothing', async () => {
    const place = await newTenant();
    const late = await signIn(place);
    clock.advance(limits.connectTtlMs);
    expect(await callback(late)).toMatchObject(ended);
    const ticket = await ticketOf(place);
    clock.advance(limits.connectTtlMs);
    expect(await refused(place, ticket)).toEqual(wrongTicket);
    expect(await rowOf(place)).toBeUndefined();
  });

  test('the address for returns takes no other method', async () => {
    const answer = await fetch(`${server.baseUrl}/v1/connect/callback?state=x`, { method: 'POST' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET']);
    const head = await fetch(`${server.baseUrl}/v1/connect/callback?state=x`, { method: 'HEAD' });
    expect(head.status).toBe(405);
  });
});

function withoutRequestId(text: string): string {
  return text.replace(/"request_id":"[^"]*"/, '');
}
