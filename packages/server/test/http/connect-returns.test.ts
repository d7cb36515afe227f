import { text } from 'node:stream/consumers';
import { limits } from '@convoke/contract';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { digestOf, flowModel } from '../../src/app/connections/connect-flows.ts';
import { turnMs } from '../../src/app/connections/token-requests.ts';
import { AccountService } from '../support/account-service.ts';
import { MovingClock } from '../support/clocks.ts';
import { connectSteps, ended, pathOf, product } from '../support/connect-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { FailingStore } from '../support/failing-store.ts';
import { type TestServer, startServer } from '../support/server.ts';

/**
 * Browsers that come back from a service: at the same moment, without a right to, and to a server that dies (D-606).
 */
describe.each(databaseKinds)('returns from a service on %s', (database) => {
  let service: AccountService;
  let server: TestServer;
  const clock = new MovingClock();
  const failing = new FailingStore();
  beforeAll(async () => {
    service = await AccountService.start();
    server = await startServer({
      database,
      clock,
      wrapStore: failing.wrap,
      expectsFaults: true,
      clientTokenSeconds: 7200,
      agents: {
        connected: {
          description: 'Uses an account',
          connections: { github: { owner: 'end_user', oauth: service.declared() } },
          script: [{ say: 'hi' }],
        },
      },
      env: { CONVOKE_CONNECTION_ALLOW: '127.0.0.1/32', CONVOKE_CORS_ORIGINS: product },
    });
    await service.register(server.baseUrl);
  });
  const { newTenant, signIn, callback, ticketOf, connected, allOf } = connectSteps(() => ({
    server,
    service,
  }));

  test('of returns at the same moment one is exchanged, and the tickets of one work once', async () => {
    const place = await newTenant();
    const url = await signIn(place);
    const before = service.tokenRequests;
    const returns = await Promise.all([1, 2, 3, 4].map(() => callback(url)));
    expect(service.tokenRequests).toBe(before + 1);
    const [won, ...more] = returns.filter(({ status }) => status === 303);
    expect(more).toEqual([]);
    expect(returns.filter(({ status }) => status === 400)).toHaveLength(3);
    const ticket = won?.query.get('ticket') ?? '';
    const puts = await Promise.all(
      [1, 2, 3, 4].map(() => server.call('PUT', pathOf(place), { as: place.as, body: { ticket } })),
    );
    const statuses = puts.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, 400, 400, 400]);
    expect(await allOf(place)).toMatchObject([{ version: 1 }]);
  });

  test('returns that are unknown, used, late, of another issuer or of nothing get the same page', async () => {
    const place = await newTenant();
    const used = await signIn(place);
    await callback(used);
    const late = await signIn(place);
    clock.advance(limits.connectTtlMs);
    const foreign = await signIn(place);
    foreign.searchParams.set('iss', 'https://other.test');
    const unknown = new URL(`${server.baseUrl}/v1/connect/callback?code=x&state=${'A'.repeat(43)}`);
    const bare = new URL(`${server.baseUrl}/v1/connect/callback`);
    const hostile = new URL(`${bare.href}?state=<script>alert(1)</script>&error=<b>&service=<b>`);
    const pages: string[] = [];
    for (const url of [used, late, foreign, unknown, bare, hostile]) {
      const answer = await callback(url);
      expect(answer).toMatchObject(ended);
      pages.push(answer.page);
    }
    expect(new Set(pages).size).toBe(1);
    expect(pages[0]).not.toMatch(/<script|<b>/);
  });

  test('a code with a question mark is exchanged whole', async () => {
    const { href } = await signIn(await newTenant());
    let code: string | null = null;
    onTestFinished(() => (service.tokenReply = undefined));
    service.tokenReply = async (request, answer) => {
      code = new URLSearchParams(await text(request)).get('code');
      answer.writeHead(400).end('{"error":"invalid_grant"}');
    };
    const returned = await callback(new URL(href.replace(/code=[^&]*/, 'code=a?b')));
    expect(returned.query.get('error')).toBe('connect_failed');
    expect(code).toBe('a?b');
  });

  test('a return whose turn does not come, behind two others of its tenant, exchanges nothing (D-946)', async () => {
    const place = await newTenant();
    const url = await signIn(place);
    const { store, tokenRequests } = server.convoke.services;
    const held = Promise.withResolvers<void>();
    const request = () => held.promise;
    const others = [1, 2].map(() =>
      tokenRequests.inTurn(place.scope.tenantId, { request, late: undefined }),
    );
    const before = service.tokenRequests;
    let hasReturned = false;
    const back = callback(url).finally(() => (hasReturned = true));
    // It has taken its flow before time passes, which would end the link.
    const digest = digestOf(url.searchParams.get('state') ?? '');
    await eventually(() =>
      store.transaction(async ({ identityRecords }) => {
        const flow = await identityRecords.find(flowModel, digest);
        return typeof flow?.consumedAt === 'number';
      }),
    );
    await eventually(async () => {
      clock.advance(turnMs / 10);
      return hasReturned;
    });
    expect((await back).query.get('error')).toBe('connect_failed');
    expect(service.tokenRequests).toBe(before);
    held.resolve();
    await Promise.all(others);
    expect(await connected(place, await ticketOf(place))).toMatchObject({ version: 1 });
  });

  test('a server that dies between the exchange and its record connects nothing, and a new link works', async () => {
    const place = await newTenant();
    const url = await signIn(place);
    service.tokenReply = (_, answer) => {
      failing.fault = new Error('the server has died');
      const token = { access_token: 'lost-access-token', refresh_token: 'lost-refresh-token' };
      answer.setHeader('content-type', 'application/json').end(JSON.stringify(token));
    };
    const died = await callback(url).finally(() => {
      failing.fault = undefined;
      service.tokenReply = undefined;
    });
    expect(died).toMatchObject({ status: 500, location: null });
    const before = service.tokenRequests;
    expect(await callback(url)).toMatchObject(ended);
    expect(service.tokenRequests).toBe(before);
    expect(await allOf(place)).toEqual([]);
    const logged = server.errors.map(({ message, error }) => `${message} ${String(error)}`);
    expect([died.page, ...logged].join(' ')).not.toMatch(/lost-|state=|code=/);
    expect(await connected(place, await ticketOf(place))).toMatchObject({ version: 1 });
  });
});
