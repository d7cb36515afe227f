// Only `login`, `logout` and the renewal of a token load openid-client, so that other commands start without it.
import type {
  Configuration,
  DeviceAuthorizationResponse,
  TokenEndpointResponse,
} from 'openid-client';
import { exitCodes, Failure } from '../failure.ts';
import type { Login } from './saved-logins.ts';

/** Public client under which the built-in identity provider knows this command line. */
const cliClientId = 'convoke-cli';
const scope = 'openid offline_access';
/** Other commands may wait for the login that is being renewed. */
const requestSeconds = 20;
/** The ID token is not used, so a wrong clock on this machine must not fail the login. */
const clockToleranceSeconds = 10 * 365 * 86_400;

const load = () => import('openid-client');

async function discover(baseUrl: string): Promise<Configuration> {
  const openid = await load();
  const address = `${baseUrl}/.well-known/openid-configuration`;
  const client = { [openid.clockTolerance]: clockToleranceSeconds };
  try {
    return await openid.discovery(new URL(address), cliClientId, client, openid.None(), {
      timeout: requestSeconds,
      // The user named a server without TLS, such as one on this machine.
      // oxlint-disable-next-line typescript/no-deprecated -- marked so only to stand out
      execute: address.startsWith('http:') ? [openid.allowInsecureRequests] : [],
    });
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const problem =
      cause instanceof Response ? `${address} returned ${cause.status}` : `cannot reach ${address}`;
    throw new Failure(`${problem}; use --server to set the address`, exitCodes.unreachable);
  }
}

/** Logs in by RFC 8628: the person confirms a code in a browser on any machine, and this process polls. */
export async function logInByDevice(
  baseUrl: string,
  show: (code: DeviceAuthorizationResponse) => void,
): Promise<Login> {
  const openid = await load();
  const config = await discover(baseUrl);
  if (config.serverMetadata().device_authorization_endpoint === undefined) {
    throw new Failure('the identity provider of this server does not offer device login');
  }
  const code = await openid.initiateDeviceAuthorization(config, { scope }).catch(failRequest);
  show(code);
  const expiry = AbortSignal.timeout(code.expires_in * 1000);
  try {
    const polling = { signal: expiry };
    const tokens = await openid.pollDeviceAuthorizationGrant(config, code, undefined, polling);
    return loginOf(baseUrl, tokens);
  } catch (error) {
    if (!expiry.aborted) return failLogin(error);
    throw new Failure('the code has expired: run `convoke login` again', exitCodes.refused);
  }
}

export async function renew(login: Login): Promise<Login> {
  const { baseUrl, refreshToken } = login;
  if (refreshToken === undefined) throw refusedLogin('it cannot be renewed');
  const openid = await load();
  const config = await discover(baseUrl);
  const tokens = await openid.refreshTokenGrant(config, refreshToken).catch(failLogin);
  const renewed = loginOf(baseUrl, tokens);
  return { ...login, ...renewed, refreshToken: renewed.refreshToken ?? refreshToken };
}

/** Revokes the refresh token, so that the login cannot be renewed. */
export async function revoke({ baseUrl, refreshToken }: Login): Promise<void> {
  if (refreshToken === undefined) return;
  const openid = await load();
  const config = await discover(baseUrl);
  if (config.serverMetadata().revocation_endpoint === undefined) return;
  await openid.tokenRevocation(config, refreshToken);
}

function loginOf(baseUrl: string, tokens: TokenEndpointResponse): Login {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in } = tokens;
  return { baseUrl, accessToken, refreshToken, expiresAt: Date.now() + (expires_in ?? 300) * 1000 };
}

async function failRequest(error: unknown): Promise<never> {
  throw new Failure(await reasonOf(error));
}

async function failLogin(error: unknown): Promise<never> {
  throw refusedLogin(await reasonOf(error));
}

/** Returns the reason that the server gives; rethrows everything else. */
async function reasonOf(error: unknown): Promise<string> {
  const { ResponseBodyError } = await load();
  if (error instanceof ResponseBodyError) return error.error_description ?? error.error;
  throw error;
}

function refusedLogin(reason: string): Failure {
  return new Failure(`the login was refused: ${reason}; run \`convoke login\``, exitCodes.refused);
}
