import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type Scope, type UserId, mcpScopes } from '@convoke/contract';
import { SignJWT } from 'jose';
import { openSigningKeys } from '../../../src/auth/keys.ts';
import { deriveKey, loadMasterKey } from '../../../src/auth/master-key.ts';
import { createSealing } from '../../../src/auth/sealing.ts';
import { longestTokenLifetimeMs } from '../../../src/auth/tokens/tokens.ts';
import type { TestServer } from '../server.ts';
import { Browser, type BrowserPage } from './browser.ts';
import { type Credentials, isSignIn, owner } from './steps.ts';

/** Where a program on the person's computer gets its answer; nothing listens there. */
export const redirectUrl = 'http://127.0.0.1:53682/callback';

export const mcpUrl = ({ baseUrl, quickstart }: TestServer, tenant = quickstart.tenant_id) =>
  `${baseUrl}/v1/mcp/${quickstart.organization_id}/${tenant}`;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string | undefined;
  readonly scope?: string | undefined;
}

/** What an assistant keeps of its sign-in, and where it sends the person: the OAuth code around it is the packages'. */
export class AssistantSignIn {
  readonly clientMetadataUrl: string | undefined;
  readonly redirectUrl: string;
  /** The page that the person is sent to. */
  sentTo: URL | undefined;
  saved: Tokens | undefined;
  #verifier = '';
  #client: object | undefined;
  #discovered: object | undefined;

  constructor(clientId: string | undefined, redirect = redirectUrl) {
    this.clientMetadataUrl = clientId;
    this.redirectUrl = redirect;
  }

  get clientMetadata() {
    return {
      client_name: 'Test assistant',
      redirect_uris: [this.redirectUrl],
      token_endpoint_auth_method: 'none',
    };
  }

  state = () => 'state-1';
  clientInformation = () => this.#client as never;
  saveClientInformation = (client: object) => void (this.#client = client);
  tokens = () => this.saved as never;
  saveTokens = (tokens: Tokens) => void (this.saved = tokens);
  redirectToAuthorization = (url: URL) => void (this.sentTo = url);
  saveDiscoveryState = (state: object) => void (this.#discovered = state);
  discoveryState = () => this.#discovered as never;
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
}

export interface SignedInClient {
  tools(): Promise<readonly string[]>;
  call(name: string, given: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}

/** One of the packages: `connect` throws where the person has to sign in first, and `finish` redeems the code. */
export interface OAuthClient {
  connect(): Promise<SignedInClient>;
  finish(answer: URL): Promise<void>;
}

type MakeClient = (url: string, signIn: AssistantSignIn) => OAuthClient;

const info = { name: 'test', version: '1' };
const namesOf = ({ tools }: { readonly tools: readonly { readonly name: string }[] }) =>
  tools.map(({ name }) => name);

const oldClient: MakeClient = (url, signIn) => {
  const transport = () => new OldTransport(new URL(url), { authProvider: signIn as never });
  let waiting = transport();
  return {
    async connect() {
      const client = new OldClient(info);
      waiting = transport();
      await client.connect(waiting);
      return {
        tools: async () => namesOf(await client.listTools()),
        call: (name, given) => client.callTool({ name, arguments: given }),
        close: () => client.close(),
      };
    },
    finish: (answer) => waiting.finishAuth(answer.searchParams.get('code') ?? ''),
  };
};

const newClient =
  (mode: 'legacy' | { readonly pin: string }): MakeClient =>
  (url, signIn) => {
    const transport = () => new NewTransport(new URL(url), { authProvider: signIn as never });
    let waiting = transport();
    return {
      async connect() {
        const client = new NewClient(info, { versionNegotiation: { mode } });
        waiting = transport();
        await client.connect(waiting);
        return {
          tools: async () => namesOf(await client.listTools()),
          call: (name, given) => client.callTool({ name, arguments: given }),
          close: () => client.close(),
        };
      },
      finish: (answer) => waiting.finishAuth(answer.searchParams),
    };
  };

export const oauthClients: Readonly<Record<string, MakeClient>> = {
  '@modelcontextprotocol/sdk 1.32': oldClient,
  '@modelcontextprotocol/client 2.4 on 2025-11-25': newClient('legacy'),
  '@modelcontextprotocol/client 2.4 on 2026-07-28': newClient({ pin: '2026-07-28' }),
};

/** Opens what an assistant sends the person to, and signs in if the browser is not signed in already. */
export async function openConsent(
  server: TestServer,
  url: URL | string,
  { browser = new Browser(), as = owner(server) }: { browser?: Browser; as?: Credentials } = {},
): Promise<Browser> {
  const page = await browser.open(String(url));
  if (isSignIn(page)) await browser.submit({ ...as });
  return browser;
}

/** Presses a button of the consent page and returns where the browser is sent. */
export async function answerConsent(
  browser: Browser,
  press: 'allow' | 'cancel',
  returnsTo = redirectUrl,
): Promise<URL> {
  const { url } = await browser.submit({}, { press, stopAt: returnsTo });
  return new URL(url);
}

export const isConsent = ({ url }: BrowserPage) =>
  new URL(url).pathname.startsWith('/oidc/consent/');

/** Signs an assistant in, with the pages. */
export async function signInAssistant(
  server: TestServer,
  make: MakeClient,
  {
    clientId,
    browser,
    url = mcpUrl(server),
  }: { clientId: string; browser?: Browser; url?: string },
): Promise<{ client: OAuthClient; signIn: AssistantSignIn; browser: Browser }> {
  const signIn = new AssistantSignIn(clientId);
  const client = make(url, signIn);
  await client.connect().catch(() => undefined);
  if (signIn.sentTo === undefined) throw new Error('the person was not asked to sign in');
  const opened = await openConsent(server, signIn.sentTo, { ...(browser && { browser }) });
  await client.finish(await answerConsent(opened, 'allow'));
  return { client, signIn, browser: opened };
}

/** The token of an assistant, without the pages. */
export async function assistantToken(
  server: TestServer,
  person: UserId,
  { scopes = mcpScopes, tenant }: { scopes?: readonly Scope[]; tenant?: string } = {},
): Promise<string> {
  const { store, clock, ids } = server.convoke.services;
  const { baseUrl, cluster } = server.config;
  const masterKey = await loadMasterKey(cluster.masterKeyFile);
  const sealing = createSealing(deriveKey(masterKey, 'signing-keys'));
  const longestLifetimeMs = longestTokenLifetimeMs;
  const keys = await openSigningKeys({ store, clock, sealing, longestLifetimeMs });
  const { kid, key } = await keys.signer();
  const now = clock.now();
  const issuedAt = Math.floor(now / 1000);
  const { organization_id: org, tenant_id } = server.quickstart;
  const claims = { org, tenant: tenant ?? tenant_id, client_id: 'https://assistant.example/id' };
  return new SignJWT({ ...claims, scope: scopes.join(' '), iat_ms: now })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid })
    .setIssuer(baseUrl)
    .setSubject(person)
    .setAudience(mcpUrl(server, tenant))
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + 600)
    .setJti(ids.next('tok'))
    .sign(key);
}
