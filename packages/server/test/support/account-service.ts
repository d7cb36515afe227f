import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { mkdtemp, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider, interactionPolicy } from 'oidc-provider';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { memoryAdapter } from './sign-in/memory-adapter.ts';

/** A service whose accounts agents use: a real authorization server, at which people sign in with a name. */
export class AccountService {
  static readonly clientId = 'convoke-at-the-service';
  static readonly clientSecret = 'the-secret-of-convoke-at-the-service';
  readonly issuer: string;
  /** Requests to its token endpoint. */
  tokenRequests = 0;
  /** Called with each of them, before the service answers it. */
  onToken: () => Promise<void> = async () => {};
  /** Answers the token endpoint in place of the service. */
  tokenReply: ((request: IncomingMessage, answer: ServerResponse) => unknown) | undefined;
  readonly #server: Server;
  #provider: Provider | undefined;

  /** Where servers read the secret of their client. */
  readonly #secretFile: string;

  private constructor(issuer: string, server: Server, secretFile: string) {
    this.issuer = issuer;
    this.#server = server;
    this.#secretFile = secretFile;
  }

  static async start(): Promise<AccountService> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const folder = await mkdtemp(join(tmpdir(), 'convoke-account-service-'));
    atFileEnd(() => removeFolder(folder));
    const secretFile = join(folder, 'client-secret');
    await writeFile(secretFile, AccountService.clientSecret, { mode: 0o600 });
    const { port } = server.address() as AddressInfo;
    const service = new AccountService(`http://127.0.0.1:${port}`, server, secretFile);
    server.on('request', (request, answer) => void service.#answer(request, answer));
    atFileEnd(() => service.stop());
    return service;
  }

  /** `connections` of an agent: the usual entry for this service. */
  declared(change: Readonly<Record<string, unknown>> = {}) {
    return {
      client_id: AccountService.clientId,
      client_secret: `\${file:${this.#secretFile}}`,
      authorization_endpoint: `${this.issuer}/auth?prompt=consent`,
      token_endpoint: `${this.issuer}/token`,
      scope: 'openid offline_access',
      issuer: this.issuer,
      ...change,
    };
  }

  /** Registers the server at `baseUrl` as its client. */
  async register(baseUrl: string): Promise<void> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const key = { ...(await exportJWK(privateKey)), kid: 'service', alg: 'RS256', use: 'sig' };
    const policy = interactionPolicy.base();
    policy.get('consent')?.checks.clear();
    this.#provider = new Provider(this.issuer, {
      adapter: memoryAdapter(),
      jwks: { keys: [key] },
      cookies: { keys: ['service'] },
      ttl: {
        AccessToken: 3_600,
        Grant: 3_600,
        IdToken: 3_600,
        Interaction: 3_600,
        RefreshToken: 3_600,
        Session: 3_600,
      },
      pkce: { required: () => true },
      clients: [
        {
          client_id: AccountService.clientId,
          client_secret: AccountService.clientSecret,
          token_endpoint_auth_method: 'client_secret_post',
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          redirect_uris: [`${baseUrl}/v1/connect/callback`],
        },
      ],
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
      interactions: { policy, url: (_, { uid }) => `/sign-in/${uid}` },
      rotateRefreshToken: true,
      // The library refuses documents of private addresses, which those of tests are.
      fetch: (url, { method, headers, signal } = {}) =>
        fetch(url, { method, headers, signal: signal ?? null, redirect: 'manual' } as RequestInit),
      loadExistingGrant: async ({ oidc }) => {
        const accountId = oidc.session?.accountId;
        const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId, accountId });
        grant.addOIDCScope('openid offline_access');
        if (oidc.params?.['resource'] === this.mcpServer) {
          grant.addResourceScope(this.mcpServer, 'mail:read');
        }
        await grant.save();
        return grant;
      },
      features: {
        devInteractions: { enabled: false },
        clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({ scope: 'mail:read', audience: this.mcpServer }),
        },
      },
    });
  }

  /** Signs a person in, as a product does that stores the accounts of its users itself. */
  async accountOf(name: string, redirectUri: string) {
    const verifier = randomBytes(32).toString('base64url');
    const asked = new URL(`${this.issuer}/auth?prompt=consent&response_type=code`);
    const parameters = {
      client_id: AccountService.clientId,
      redirect_uri: redirectUri,
      scope: 'openid offline_access',
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    };
    for (const [key, value] of Object.entries(parameters)) asked.searchParams.set(key, value);
    const returned = await signInAt(this, asked.href, { name });
    const answer = await this.token({
      grant_type: 'authorization_code',
      code: returned.searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: redirectUri,
    });
    if (!answer.ok) throw new Error(`no tokens: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { access_token: string; refresh_token: string };
  }

  /** A request of its client to the token endpoint. */
  token(form: Readonly<Record<string, string>>): Promise<Response> {
    const { clientId: client_id, clientSecret: client_secret } = AccountService;
    const body = new URLSearchParams({ client_id, client_secret, ...form });
    return fetch(`${this.issuer}/token`, { method: 'POST', body });
  }

  /** Whose account an access token opens; undefined for one that it does not accept. */
  async ownerOf(accessToken: string): Promise<string | undefined> {
    const headers = { authorization: `Bearer ${accessToken}` };
    const answer = await fetch(`${this.issuer}/me`, { headers });
    return answer.ok ? ((await answer.json()) as { sub: string }).sub : undefined;
  }

  /** An MCP server that takes its tokens, and says so (RFC 9728). */
  get mcpServer(): string {
    return `${this.issuer}/mcp`;
  }

  /** Of a token: whose it is, by which client, and for what. */
  async tokenOf(accessToken: string) {
    const token = await this.#provider?.AccessToken.find(accessToken);
    return token && { name: token.accountId, clientId: token.clientId, resource: token.aud };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const provider = this.#provider;
    const path = request.url ?? '';
    if (path === '/token') {
      this.tokenRequests += 1;
      await this.onToken();
    }
    if (provider === undefined) answer.writeHead(503).end();
    else if (path === '/.well-known/oauth-protected-resource/mcp') {
      const scopes_supported = ['mail:read'];
      const { mcpServer: resource, issuer } = this;
      answer.end(JSON.stringify({ resource, authorization_servers: [issuer], scopes_supported }));
    } else if (path === '/token' && this.tokenReply !== undefined)
      await this.tokenReply(request, answer);
    else if (!path.startsWith('/sign-in/')) await provider.callback()(request, answer);
    else if (request.method === 'POST') {
      const form = new URLSearchParams(await text(request));
      const refusal = { error: 'access_denied', error_description: 'The person refused.' };
      const accountId = form.get('name') ?? '';
      const result = form.has('refuse') ? refusal : { login: { accountId } };
      await provider.interactionFinished(request, answer, result);
    } else {
      answer.setHeader('content-type', 'text/html; charset=utf-8').end(signInPage);
    }
  }
}

/** The icon is in the page, so that the browser does not ask for one. */
const signInPage = `<!doctype html><html lang="en"><title>The service</title><link rel="icon" href="data:,">
<h1>The service</h1><form method="post"><label>Name <input name="name"></label><button>Allow</button>
<button name="refuse" value="yes">Refuse</button></form></html>`;

/**
 * Follows a link as the browser of a person would, until it leaves the service. Returns where the browser is sent to.
 */
export async function signInAt(
  { issuer }: AccountService,
  connectUrl: string,
  form: Readonly<Record<string, string>>,
): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(connectUrl);
  let body: URLSearchParams | undefined;
  while (url.origin === issuer) {
    const isPage = url.pathname.startsWith('/sign-in/') && body === undefined;
    if (isPage) body = new URLSearchParams(form);
    const cookie = Array.from(cookies, (pair) => pair.join('=')).join('; ');
    const answer = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      ...(body && { body }),
      headers: { cookie },
      redirect: 'manual',
    });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null)
      throw new Error(`${url.href} answered ${answer.status}: ${await answer.text()}`);
    body = undefined;
    url = new URL(location, url);
  }
  return url;
}
