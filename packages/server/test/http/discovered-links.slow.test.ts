// Accounts of MCP servers that say themselves where their tokens come from (D-605, D-1070).
import { beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../../test/free-port.ts';
import { currentAccount } from '../../src/app/connections/current-account.ts';
import type { TokenEndpoints } from '../../src/ports/connections/token-endpoints.ts';
import { AccountService, signInAt } from '../support/account-service.ts';
import { connectSteps, product, returnUrl } from '../support/connect-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { answerConsent, mcpUrl, openConsent } from '../support/sign-in/assistants.ts';
import { DocumentServer } from '../support/sign-in/client-documents.ts';
import { givePassword } from '../support/sign-in/steps.ts';

const agentFor = (url: string, oauth: Readonly<Record<string, string>> = {}) => ({
  framework: 'ai-sdk',
  model: 'openai-compatible/none',
  env: { BASE_URL: 'http://127.0.0.1:9/v1' },
  connections: { github: { owner: 'end_user', oauth } },
  mcp_servers: { github: { url, connection: 'github' } },
});

const settings = { CONVOKE_CONNECTION_ALLOW: '127.0.0.1/32', CONVOKE_CORS_ORIGINS: product };
const clientPath = '/.well-known/oauth-client';

describe.each(databaseKinds)('the account of an MCP server on %s', (database) => {
  let service: AccountService;
  let server: TestServer;
  beforeAll(async () => {
    const front = await DocumentServer.start();
    front.frontOf = await freePort();
    service = await AccountService.start();
    server = await startServer({
      database,
      agents: { connected: agentFor(service.mcpServer) },
      env: {
        ...settings,
        CONVOKE_PORT: String(front.frontOf),
        CONVOKE_BASE_URL: `https://${front.host}`,
      },
    });
    await service.register(server.baseUrl);
  });
  const steps = connectSteps(() => ({ server, service }));

  test('is connected from its URL alone, by a client that is known by its document', async () => {
    const place = await steps.newTenant();
    const { connect_url } = await steps.begin(place);
    const clientId = server.baseUrl + clientPath;
    expect(Object.fromEntries(new URL(connect_url).searchParams)).toMatchObject({
      client_id: clientId,
      redirect_uri: `${server.baseUrl}/v1/connect/callback`,
      resource: service.mcpServer,
      scope: 'mail:read offline_access',
      prompt: 'consent',
      code_challenge_method: 'S256',
    });
    const back = await signInAt(service, connect_url, { name: 'ann' });
    const returned = await steps.callback(back);
    const connection = await steps.connected(place, returned.query.get('ticket') ?? '');
    expect(connection).toMatchObject({
      status: 'connected',
      auth: { token_endpoint: `${service.issuer}/token`, client_id: clientId, refreshes: true },
    });
    const given = { name: 'ann', clientId, resource: service.mcpServer };
    expect(await service.tokenOf((await steps.secretOf(place))?.value ?? '')).toEqual(given);

    // A refreshed token is for the MCP server, too, and asks for nothing to be found again.
    const { services } = server.convoke;
    const asked: unknown[] = [];
    const tokenEndpoints: TokenEndpoints = {
      ...services.tokenEndpoints,
      refresh(request) {
        asked.push(request.resource);
        return services.tokenEndpoints.refresh(request);
      },
    };
    const wanted = { scope: place.scope, at: { service: 'github', endUser: 'u-17' } };
    const account = await currentAccount(
      { ...services, tokenEndpoints },
      { ...wanted, aheadMs: 24 * 3_600_000 },
    );
    expect(asked).toEqual([service.mcpServer]);
    expect(account).toMatchObject({ kind: 'usable', connection: { version: 2 } });
    const fresh = account.kind === 'usable' ? account.secret.value : '';
    expect(await service.tokenOf(fresh)).toEqual(given);
  });

  test('a return that says another issuer, or none, is not exchanged', async () => {
    const place = await steps.newTenant();
    const before = service.tokenRequests;
    for (const said of ['https://other.test', undefined]) {
      const back = await steps.signIn(place);
      expect(back.searchParams.get('iss')).toBe(service.issuer);
      back.searchParams.delete('iss');
      if (said !== undefined) back.searchParams.set('iss', said);
      expect((await steps.callback(back)).status).toBe(400);
    }
    expect(service.tokenRequests).toBe(before);
  });

  test('what this server is as a client is a public document', async () => {
    const answer = await fetch(server.baseUrl + clientPath);
    expect(await answer.json()).toEqual({
      client_id: server.baseUrl + clientPath,
      client_name: 'Convoke',
      client_uri: server.baseUrl,
      redirect_uris: [`${server.baseUrl}/v1/connect/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  });
});

test('the agents of another Convoke are an MCP server like any other', async () => {
  const other = await startServer({ env: { CONVOKE_CLIENT_REGISTRATION: 'on' } });
  await givePassword(other);
  const port = await freePort();
  const registered = await fetch(`${other.baseUrl}/oidc/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Our Convoke',
      redirect_uris: [`http://127.0.0.1:${port}/v1/connect/callback`],
    }),
  });
  const { client_id } = (await registered.json()) as { readonly client_id: string };
  const url = `${mcpUrl(other)}?agents=echo`;
  const server = await startServer({
    agents: { connected: agentFor(url, { client_id }) },
    env: { ...settings, CONVOKE_PORT: String(port) },
  });
  const steps = connectSteps(() => ({ server, service: {} as AccountService }));
  const place = await steps.newTenant();
  const { connect_url } = await steps.begin(place);
  const browser = await openConsent(other, connect_url);
  expect(browser.page.body).toContain('Our Convoke');
  const back = await answerConsent(browser, 'allow', `${server.baseUrl}/v1/connect/callback`);
  const returned = await steps.callback(back);
  await steps.connected(place, returned.query.get('ticket') ?? '');
  const token = (await steps.secretOf(place))?.value;
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  const listed = (await answer.json()) as { result: { tools: readonly { name: string }[] } };
  expect(listed.result.tools.map(({ name }) => name)).toContain('echo');
});

test('a link that cannot be found is refused before anyone signs in, with what is missing', async () => {
  const service = await AccountService.start();
  const server = await startServer({
    agents: {
      connected: agentFor(service.mcpServer),
      nameless: agentFor(`${service.issuer}/nothing`),
      inside: agentFor('http://10.0.0.1/mcp'),
    },
    env: settings,
  });
  await service.register(server.baseUrl);
  const begin = async (agent_name: string) => {
    const body = { agent_name, end_user: 'u-17' };
    const { id: session_id } = (await server.send('create_session', { body })).body;
    const params = { session_id, service: 'github' };
    const call = { params, body: { return_url: returnUrl } };
    const { status, error, body: answer } = await server.refused('begin_connection', call);
    return [status, error, (answer as { message: string }).message];
  };
  // No service reads documents of addresses without https.
  expect(await begin('connected')).toEqual([
    409,
    'connect_unavailable',
    expect.stringContaining('name its client_id'),
  ]);
  for (const agent of ['nameless', 'inside']) {
    expect(await begin(agent)).toEqual([
      409,
      'connect_unavailable',
      expect.stringMatching(/^The service: http:\S+ names no authorization server\.$/),
    ]);
  }
});
