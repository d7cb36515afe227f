import { exitCodes, Failure } from '../failure.ts';
import type { Login } from './saved-logins.ts';

/** The public client that the built-in identity provider knows this command line by. */
const cliClientId = 'convoke-cli';
const scope = 'openid offline_access';
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

export interface Issuer {
  readonly token_endpoint: string;
  readonly device_authorization_endpoint?: string;
  readonly revocation_endpoint?: string;
}

interface DeviceCode {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete?: string;
  readonly expires_in: number;
  readonly interval?: number;
}

interface TokenAnswer {
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
  readonly error?: string;
  readonly error_description?: string;
}

/** Others may be waiting for the login that is renewed. */
const soon = () => AbortSignal.timeout(20_000);

async function discover(baseUrl: string): Promise<Issuer> {
  const address = `${baseUrl}/.well-known/openid-configuration`;
  const response = await fetch(address, { signal: soon() }).catch(() => undefined);
  if (response?.ok === true) return (await response.json()) as Issuer;
  const why = response === undefined ? 'nothing answers there' : `it answers ${response.status}`;
  throw new Failure(
    `no way to log in was found at ${address}: ${why}; name the server with --server`,
    exitCodes.unreachable,
  );
}

/** RFC 8628: the person confirms a code in a browser, on any machine; this one waits for it. */
export async function logInByDevice(
  baseUrl: string,
  show: (code: DeviceCode) => void,
): Promise<Login> {
  const issuer = await discover(baseUrl);
  if (issuer.device_authorization_endpoint === undefined) {
    throw new Failure('the identity provider of this server does not offer device login');
  }
  const code = await post<DeviceCode & TokenAnswer>(issuer.device_authorization_endpoint, {
    scope,
  });
  if (code.error !== undefined) throw new Failure(code.error_description ?? code.error);
  show(code);
  const deadline = Date.now() + code.expires_in * 1000;
  let intervalMs = (code.interval ?? 5) * 1000;
  while (Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
    const answer = await post<TokenAnswer>(issuer.token_endpoint, {
      grant_type: deviceGrant,
      device_code: code.device_code,
    });
    if (answer.access_token !== undefined) return loginOf(baseUrl, answer, answer.access_token);
    if (answer.error === 'slow_down') intervalMs += 5000;
    else if (answer.error !== 'authorization_pending') throw refusedLogin(answer);
  }
  throw new Failure('the code has expired: run `convoke login` again', exitCodes.refused);
}

export async function renew(login: Login): Promise<Login> {
  const issuer = await discover(login.baseUrl);
  const answer = await post<TokenAnswer>(issuer.token_endpoint, {
    grant_type: 'refresh_token',
    refresh_token: login.refreshToken ?? '',
  });
  if (answer.access_token === undefined) throw refusedLogin(answer);
  const renewed = loginOf(login.baseUrl, answer, answer.access_token);
  return { ...login, ...renewed, refreshToken: renewed.refreshToken ?? login.refreshToken };
}

/** What is revoked cannot be renewed; a server that is away does not stop anyone from leaving. */
export async function revoke(login: Login): Promise<void> {
  if (login.refreshToken === undefined) return;
  const issuer = await discover(login.baseUrl);
  if (issuer.revocation_endpoint === undefined) return;
  await post(issuer.revocation_endpoint, { token: login.refreshToken });
}

function loginOf(baseUrl: string, answer: TokenAnswer, accessToken: string): Login {
  const expiresAt = Date.now() + (answer.expires_in ?? 300) * 1000;
  return { baseUrl, accessToken, refreshToken: answer.refresh_token, expiresAt };
}

function refusedLogin({ error, error_description }: TokenAnswer): Failure {
  const why = error_description ?? error ?? 'no reason given';
  return new Failure(`the login was refused: ${why}; run \`convoke login\``, exitCodes.refused);
}

async function post<Answer>(address: string, form: Record<string, string>): Promise<Answer> {
  const body = new URLSearchParams({ client_id: cliClientId, ...form });
  const response = await fetch(address, { method: 'POST', body, signal: soon() });
  const text = await response.text();
  return (text === '' ? {} : JSON.parse(text)) as Answer;
}
