import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider, interactionPolicy } from 'oidc-provider';
import type { Claims } from './foreign-issuer.ts';
import { memoryAdapter } from './memory-adapter.ts';

const audience = 'https://convoke.example/api';
/** A renewal begins a minute before a token ends: with this, a second after it was given. */
const tokenSeconds = 61;

/** A second issuer at which people sign in with a browser: a real one, with pages of its own. */
export class BrowserIssuer {
  readonly issuer: string;
  /** How often it has renewed a token by a refresh token. */
  renewals = 0;
  /** How often it has given a code without a page (`prompt=none`). */
  silentCodes = 0;
  readonly #server: Server;
  readonly #givesRefreshTokens: boolean;
  #provider: Provider | undefined;

  private constructor(issuer: string, server: Server, givesRefreshTokens: boolean) {
    this.issuer = issuer;
    this.#server = server;
    this.#givesRefreshTokens = givesRefreshTokens;
  }

  static async start({ refreshTokens = true } = {}): Promise<BrowserIssuer> {
    const server = createServer().listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const issuer = new BrowserIssuer(`http://127.0.0.1:${port}`, server, refreshTokens);
    server.on('request', (request, response) => void issuer.#answer(request, response));
    return issuer;
  }

  /** The settings of a server whose people sign in here, in a console that is registered as `clientId`. */
  settings(clientId: string): Record<string, string> {
    return {
      CONVOKE_OIDC_ISSUER: this.issuer,
      CONVOKE_OIDC_AUDIENCE: audience,
      CONVOKE_OIDC_CONSOLE_CLIENT_ID: clientId,
    };
  }

  /** Registers the console at `baseUrl` as `clientId`. `people` are the claims of those who may sign in, by name. */
  async register(
    baseUrl: string,
    clientId: string,
    people: Readonly<Record<string, Claims>>,
  ): Promise<void> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const key = { ...(await exportJWK(privateKey)), kid: 'browser', alg: 'RS256', use: 'sig' };
    const policy = interactionPolicy.base();
    // Only native clients may return to a loopback address; a page of the web is asked for no consent each time.
    policy.get('consent')?.checks.remove('native_client_prompt');
    const provider = new Provider(this.issuer, {
      adapter: memoryAdapter(),
      jwks: { keys: [key] },
      cookies: { keys: ['browser'] },
      clients: [
        {
          client_id: clientId,
          token_endpoint_auth_method: 'none',
          application_type: 'native',
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          redirect_uris: [`${baseUrl}/console/callback`],
          post_logout_redirect_uris: [`${baseUrl}/console/`],
        },
      ],
      ttl: { AccessToken: tokenSeconds },
      clientBasedCORS: (_, origin) => origin === baseUrl,
      issueRefreshToken: () => this.#givesRefreshTokens,
      findAccount: (_, id) =>
        people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
      extraTokenClaims: (_, token) =>
        'accountId' in token ? { ...people[String(token.accountId)] } : undefined,
      interactions: { policy, url: (_, { uid }) => `/sign-in/${uid}` },
      loadExistingGrant: async ({ oidc }) => {
        const known = oidc.session?.grantIdFor(clientId);
        if (known !== undefined) return oidc.provider.Grant.find(known);
        const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session?.accountId });
        grant.addOIDCScope('openid email');
        await grant.save();
        return grant;
      },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: {
          enabled: true,
          logoutSource: (context, form) => {
            context.body = page(
              `${form}<button form="op.logoutForm" name="logout" value="yes">Leave Acme</button>`,
            );
          },
        },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => audience,
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            audience,
            scope: '',
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
    });
    provider.on('grant.success', ({ oidc }) => {
      if (oidc.params?.['grant_type'] === 'refresh_token') this.renewals += 1;
    });
    provider.on('authorization.success', ({ oidc }) => {
      if (oidc.params?.['prompt'] === 'none') this.silentCodes += 1;
    });
    this.#provider = provider;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const provider = this.#provider;
    if (provider === undefined) {
      response.writeHead(503).end();
    } else if (request.url?.startsWith('/sign-in/') !== true) {
      await provider.callback()(request, response);
    } else if (request.method === 'POST') {
      const accountId = new URLSearchParams(await text(request)).get('name') ?? '';
      await provider.interactionFinished(request, response, { login: { accountId } });
    } else {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        page(
          '<form method="post"><label>Name <input name="name"></label><button>Enter</button></form>',
        ),
      );
    }
  }
}

/** The icon is in the page, so that the browser does not ask for one. */
function page(body: string): string {
  return `<!doctype html><html lang="en"><title>Acme</title><link rel="icon" href="data:,"><h1>Acme</h1>${body}</html>`;
}
