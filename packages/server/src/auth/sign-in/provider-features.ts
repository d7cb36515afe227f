import { mcpScopes } from '@convoke/contract';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { tenantOfResource } from './assistants/mcp-resource.ts';
import { isOwnClient } from './own-clients.ts';
import { pageHeaders } from './page.ts';
import { deviceCodePage, deviceConfirmPage, messagePage, signOutPage } from './pages.ts';

export interface FeatureParts {
  readonly baseUrl: string;
  /** The audience of a person's access token. */
  readonly audience: string;
  readonly signingKid: string;
  /** The address of the account page on this server. */
  readonly accountPath: string;
  /** The error for a client that requests a token for another audience. */
  readonly onForeignTarget: () => Error;
}

const accessTokenSeconds = 600;

export function providerFeatures(parts: FeatureParts): NonNullable<Configuration['features']> {
  const { audience, signingKid, onForeignTarget, baseUrl } = parts;
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_, client) =>
        isOwnClient(client.clientId) ? audience : fail(onForeignTarget()),
      useGrantedResource: () => true,
      getResourceServerInfo(_, indicator, { clientId }) {
        const isOwn = isOwnClient(clientId);
        const isMcp = tenantOfResource(baseUrl, indicator) !== undefined;
        if (isOwn ? indicator !== audience : !isMcp) throw onForeignTarget();
        return {
          audience: indicator,
          scope: isOwn ? '' : mcpScopes.join(' '),
          accessTokenFormat: 'jwt',
          accessTokenTTL: accessTokenSeconds,
          jwt: { sign: { alg: 'EdDSA', kid: signingKid } },
        };
      },
    },
    revocation: {
      enabled: true,
      allowedPolicy: (_, client, token) => token.clientId === client.clientId,
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource(context) {
        const action = context.oidc.urlFor('end_session_confirm');
        showPage(context, signOutPage({ action: pathOf(action), proof: proofOf(context) }));
      },
      postLogoutSuccessSource(context) {
        showPage(context, messagePage('Signed out', 'You can close this page.'));
      },
    },
    deviceFlow: {
      enabled: true,
      charset: 'base-20',
      mask: '****-****',
      deviceInfo: () => ({}),
      userCodeInputSource(context, _form, _out, error) {
        const problem = error === undefined ? undefined : problemOf(error);
        showPage(context, deviceCodePage({ ...deviceForm(context), problem }));
      },
      userCodeConfirmSource(context, _form, _client, _info, userCode) {
        showPage(context, deviceConfirmPage({ ...deviceForm(context), userCode }));
      },
      successSource(context) {
        showPage(
          context,
          messagePage('Signed in', 'Return to your terminal. You can close this page.', {
            href: parts.accountPath,
            text: 'Your account',
          }),
        );
      },
    },
  };
}

function fail(error: Error): never {
  throw error;
}

export function showPage(context: KoaContextWithOIDC, html: string): void {
  context.set(pageHeaders);
  context.body = html;
}

function deviceForm(context: KoaContextWithOIDC) {
  const action = pathOf(context.oidc.urlFor('code_verification'));
  return { action, proof: proofOf(context) };
}

/** The token against cross-site requests that the provider expects in the forms of this browser. */
function proofOf({ oidc }: KoaContextWithOIDC): string {
  const secret = oidc.session?.state?.['secret'];
  return typeof secret === 'string' ? secret : '';
}

function pathOf(url: string): string {
  return new URL(url).pathname;
}

const codeErrors = new Set(['NoCodeError', 'NotFoundError', 'ExpiredError', 'AlreadyUsedError']);

function problemOf(error: Error): string {
  if (error.name === 'AbortedError') return 'The request was cancelled. No device was connected.';
  if (codeErrors.has(error.name)) {
    return 'This code is invalid or has expired. Check the code in your terminal.';
  }
  return 'Something went wrong. Start again in your terminal.';
}
