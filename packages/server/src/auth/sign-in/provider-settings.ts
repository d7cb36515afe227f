import { hash } from 'node:crypto';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { Selectors } from '../selectors.ts';
import { tenantOfResource } from './assistants/mcp-resource.ts';
import { accountClientId, cliClientId, consoleClientId, isOwnClient } from './own-clients.ts';
import { messagePage } from './pages.ts';
import { type FeatureParts, providerFeatures, showPage } from './provider-features.ts';

/** The routes of the identity provider. `jwks` is a route of the API: one set of keys for all tokens. */
export const peopleRoutes = {
  authorization: '/oidc/auth',
  code_verification: '/oidc/device',
  device_authorization: '/oidc/device/auth',
  end_session: '/oidc/sign-out',
  jwks: '/.well-known/jwks.json',
  revocation: '/oidc/revoke',
  token: '/oidc/token',
} as const;

export const signInPath = '/oidc/sign-in';
/** Where a person lets an assistant use the agents of a tenant. */
export const consentPath = '/oidc/consent';
/** Where assistants register, if the operator allows it. */
export const registrationPath = '/oidc/register';
/** Where a person changes their password and ends their sign-ins. */
export const accountPath = '/oidc/account';

/**
 * The cookies of the sign-in. A browser sends cookies to every port of a host (RFC 6265 section 8.5), so the names
 * contain the port: two servers on one machine do not sign each other's people out.
 */
export function cookieNames(baseUrl: string) {
  const { port, protocol } = new URL(baseUrl);
  const own = port === '' ? defaultPorts[protocol] : port;
  return {
    /** Names the session of a signed-in browser. */
    session: `convoke_session_${own}`,
    interaction: `convoke_sign_in_${own}`,
    resume: `convoke_resume_${own}`,
  };
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** A link that signs a browser on this machine in, once. */
export const linkPath = '/oidc/link';
/** Signs in the browser that has made an account (D-790). */
export const joinedPath = '/oidc/joined';

const minute = 60;
const hour = 3600;
const day = 24 * hour;

/** How long a browser stays signed in. */
export const signedInSeconds = 12 * hour;

/** The cookie of a signed-in browser. It is sent to `/oidc` only. */
export function sessionCookie(baseUrl: string) {
  const options = {
    httpOnly: true,
    sameSite: 'lax',
    signed: true,
    overwrite: true,
    path: `${rootOf(baseUrl)}/oidc`,
  } as const;
  return { name: cookieNames(baseUrl).session, options };
}

/** The path of the server's address, without a slash at its end. */
function rootOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}

export interface SettingsParts extends FeatureParts {
  readonly hasConsole: boolean;
  readonly adapter: NonNullable<Configuration['adapter']>;
  readonly jwks: NonNullable<Configuration['jwks']>;
  readonly cookieKey: string;
  readonly findAccount: NonNullable<Configuration['findAccount']>;
  /** Asks for consent where an assistant signs in. */
  readonly policy: NonNullable<NonNullable<Configuration['interactions']>['policy']>;
  readonly now: () => number;
  /** Runs before the token is returned. */
  readonly onTokenIssued: (token: IssuedAccessToken, context: KoaContextWithOIDC) => Promise<void>;
}

export interface IssuedAccessToken {
  readonly id: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly expiresAt: number;
  /** Of an assistant. */
  readonly tenant: Selectors | undefined;
  readonly scope: string;
}

/** Configures oidc-provider: public clients, PKCE, rotating refresh tokens. Unused features are off. */
export function providerSettings(parts: SettingsParts): Configuration {
  const { baseUrl, adapter, jwks, findAccount, policy, audience } = parts;
  const root = rootOf(baseUrl);
  return {
    adapter,
    jwks,
    findAccount,
    clients: clientsOf(parts),
    clientAuthMethods: ['none'],
    responseTypes: ['code'],
    scopes: ['openid', 'offline_access', 'email'],
    claims: { openid: ['sub'], email: ['email'] },
    enabledJWA: { idTokenSigningAlgValues: ['EdDSA'] },
    pkce: { required: () => true },
    // Our clients are pages of this server, and assistants are no pages (D-257).
    clientBasedCORS: (_, origin) => origin === new URL(baseUrl).origin,
    routes: peopleRoutes,
    interactions: {
      policy,
      url: (_, { uid, prompt }) =>
        `${root}${prompt.name === 'consent' ? consentPath : signInPath}/${uid}`,
    },
    discovery: { client_id_metadata_document_supported: true },
    features: providerFeatures(parts),
    cookies: {
      keys: [parts.cookieKey],
      names: cookieNames(baseUrl),
      long: sessionCookie(baseUrl).options,
      short: { httpOnly: true, sameSite: 'lax', signed: true, overwrite: true },
    },
    loadExistingGrant: (context) =>
      isOwnClient(context.oidc.client?.clientId ?? '')
        ? grantFor(context, audience)
        : agreedGrant(context),
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    // Signing out in a browser ends the console's tokens; a terminal stays signed in.
    expiresWithSession: (_, source) => source.clientId === consoleClientId,
    formats: {
      customizers: {
        jwt: (context, token, content) => complete(parts, { context, token, ...content }),
      },
    },
    ttl: {
      AccessToken: 10 * minute,
      AuthorizationCode: minute,
      DeviceCode: 10 * minute,
      Grant: 90 * day,
      IdToken: 10 * minute,
      Interaction: 10 * minute,
      RefreshToken: 14 * day,
      // A session without a signed-in person is short-lived.
      Session: (_, session) => (session.accountId === undefined ? 10 * minute : signedInSeconds),
    },
    renderError(context, { error, error_description: text = error }) {
      const isUnknown = error === 'invalid_client' && context.oidc?.route === 'authorization';
      const page = isUnknown ? unknownAssistant : messagePage('Something went wrong', text);
      showPage(context, page);
    },
  };
}

interface CompletedGrant {
  readonly context: KoaContextWithOIDC;
  readonly token: { readonly clientId?: string | undefined };
  readonly payload: Record<string, unknown>;
}

/** Adds what our validator reads. Without the audit row of the token there is none. */
function complete(
  { baseUrl, now, onTokenIssued }: SettingsParts,
  { context, token, payload }: CompletedGrant,
): Promise<void> {
  payload['iat_ms'] = now();
  const { aud, scope } = payload;
  const tenant = tenantOfResource(baseUrl, aud);
  if (tenant !== undefined) {
    payload['org'] = tenant.organizationId;
    payload['tenant'] = tenant.tenantId;
  }
  const issued = {
    id: String(payload['jti']),
    accountId: String(payload['sub']),
    clientId: token.clientId ?? '',
    expiresAt: Number(payload['exp']) * 1000,
    tenant,
    scope: typeof scope === 'string' ? scope : '',
  };
  return onTokenIssued(issued, context);
}

const unknownAssistant = messagePage(
  'Unknown assistant',
  'What this assistant says about itself cannot be read, or is not allowed here. Start again in a minute.',
);

function clientsOf({
  baseUrl,
  hasConsole,
}: Pick<SettingsParts, 'baseUrl' | 'hasConsole'>): NonNullable<Configuration['clients']> {
  const common = {
    token_endpoint_auth_method: 'none',
    id_token_signed_response_alg: 'EdDSA',
  } as const;
  // D-150: no refresh token. The console renews its token silently, with the session of the browser.
  const console = {
    ...common,
    client_id: consoleClientId,
    client_name: 'Convoke console',
    grant_types: ['authorization_code'],
    redirect_uris: [`${baseUrl}/console/callback`],
    post_logout_redirect_uris: [`${baseUrl}/console/`],
    response_types: ['code' as const],
  };
  return [
    {
      ...common,
      client_id: cliClientId,
      client_name: 'Convoke command line',
      application_type: 'native',
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
      redirect_uris: [],
      response_types: [],
    },
    ...(hasConsole ? [console] : []),
    {
      ...common,
      client_id: accountClientId,
      client_name: 'Convoke account page',
      grant_types: ['authorization_code'],
      redirect_uris: [baseUrl + accountPath],
      response_types: ['code'],
    },
  ];
}

/** The consent that the person has just given. Earlier ones do not count (D-950). */
async function agreedGrant({ oidc: { provider, result } }: KoaContextWithOIDC) {
  const id = result?.consent?.grantId;
  return id === undefined ? undefined : provider.Grant.find(id);
}

/**
 * Finds or creates the grant of a client for the person who signed in. Each terminal has its own grant, so signing one
 * out leaves the others signed in; the console and the account page have one per browser.
 */
async function grantFor(context: KoaContextWithOIDC, audience: string) {
  const { provider, client, session, account } = context.oidc;
  if (client === undefined || account === undefined) return undefined;
  const known = session?.grantIdFor(client.clientId);
  if (known !== undefined && client.clientId !== cliClientId) {
    const grant = await provider.Grant.find(known);
    if (grant?.accountId === account.accountId) return grant;
  }
  const { clientId } = client;
  const { accountId } = account;
  // Tabs that load at the same moment save the same grant: with one each, the session would know only the last.
  const isShared = session !== undefined && clientId !== cliClientId;
  const jti = isShared
    ? hash('sha256', `${session.uid} ${clientId} ${accountId}`, 'base64url')
    : '';
  const grant = new provider.Grant({ clientId, accountId, ...(isShared && { jti }) });
  grant.addOIDCScope('openid email offline_access');
  grant.addResourceScope(audience, '');
  await grant.save();
  return grant;
}
