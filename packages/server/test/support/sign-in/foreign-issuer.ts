import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type CryptoKey, type JWK, SignJWT, exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { memoryAdapter } from './memory-adapter.ts';

/** Token claims of a client of the other issuer. */
export type Claims = Readonly<Record<string, string | number | boolean | readonly string[]>>;

const audience = 'https://convoke.example/api';

/** A second issuer, run by other people: a real one, on a port of its own. */
export class ForeignIssuer {
  static readonly audience = audience;
  readonly issuer: string;
  readonly #server: Server;
  readonly #key: CryptoKey;

  private constructor(issuer: string, server: Server, key: CryptoKey) {
    this.issuer = issuer;
    this.#server = server;
    this.#key = key;
  }

  /** `people` are its clients by id, each with the claims of its tokens. */
  static async start(people: Readonly<Record<string, Claims>>): Promise<ForeignIssuer> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const jwk: JWK = { ...(await exportJWK(privateKey)), kid: 'foreign', alg: 'RS256', use: 'sig' };
    const server = createServer().listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const issuer = `http://127.0.0.1:${port}`;
    const provider = new Provider(issuer, {
      adapter: memoryAdapter(),
      jwks: { keys: [jwk] },
      cookies: { keys: ['foreign'] },
      clients: Object.keys(people).map((client_id) => ({
        client_id,
        client_secret: 'secret',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      })),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => audience,
          getResourceServerInfo: () => ({
            audience,
            scope: '',
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
      extraTokenClaims: (_, token) => ({ ...people[token.clientId ?? ''] }),
    });
    const callback = provider.callback();
    server.on('request', (request, response) => void callback(request, response));
    return new ForeignIssuer(issuer, server, privateKey);
  }

  /** A token as its own token endpoint issues it. */
  async tokenOf(person: string): Promise<string> {
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${person}:secret`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience }),
    });
    const answer = (await response.json()) as { access_token?: string };
    if (answer.access_token === undefined) throw new Error(JSON.stringify(answer));
    return answer.access_token;
  }

  /** A token that it signs although it would not issue it. */
  async forge(
    change: Claims,
    key: CryptoKey | Uint8Array = this.#key,
    alg = 'RS256',
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: this.issuer,
      aud: audience,
      sub: 'ann',
      iat: now,
      exp: now + 60,
      ...change,
    };
    return new SignJWT(claims).setProtectedHeader({ alg, kid: 'foreign', typ: 'at+jwt' }).sign(key);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
