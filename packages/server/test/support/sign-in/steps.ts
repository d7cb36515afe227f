import type { UserId } from '@convoke/contract';
import * as openid from 'openid-client';
import { setPassword } from '../../../src/app/people/passwords.ts';
import { createPasswords } from '../../../src/auth/passwords.ts';
import type { Actor } from '../../../src/domain/audit.ts';
import type { TestServer } from '../server.ts';
import { Browser, type BrowserPage } from './browser.ts';

/** Steps of tests in which a person signs in. The programs are real OpenID Connect clients. */

export const operator: Actor = { kind: 'operator', id: 'root', requestId: null, address: null };
export const password = 'correct horse battery staple';

const hashes = createPasswords();

export async function ownerId(server: TestServer): Promise<UserId> {
  const { organizations } = server.convoke.services.store.read;
  const owner = await organizations.findUserByEmail(server.quickstart.owner_email);
  if (owner === undefined) throw new Error('the quickstart made no owner');
  return owner.id;
}

/** Gives the first owner a password, as an operator does. */
export async function givePassword(
  server: TestServer,
  { text = password, isOneTime = false }: { text?: string; isOneTime?: boolean } = {},
): Promise<void> {
  const userId = await ownerId(server);
  const hash = await hashes.hash(text);
  await setPassword(server.convoke.services, { userId, hash, isOneTime, by: operator });
}

export type Program = openid.Configuration;

export async function discover(server: TestServer, clientId: string): Promise<Program> {
  // oxlint-disable-next-line typescript/no-deprecated -- the mark warns of plain HTTP, which tests use
  const options = { execute: [openid.allowInsecureRequests] };
  return openid.discovery(new URL(server.baseUrl), clientId, undefined, openid.None(), options);
}

export async function beginDevice(program: Program): Promise<openid.DeviceAuthorizationResponse> {
  return openid.initiateDeviceAuthorization(program, { scope: 'openid offline_access' });
}

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** Polls once whether the person has confirmed the code. */
export async function pollDevice(
  program: Program,
  { device_code }: openid.DeviceAuthorizationResponse,
): Promise<openid.TokenEndpointResponse> {
  return openid.genericGrantRequest(program, deviceGrant, { device_code });
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export function owner(server: TestServer, text = password): Credentials {
  return { email: server.quickstart.owner_email, password: text };
}

/** Enters the code, confirms it, and signs in if the browser is not signed in already. */
export async function confirmDevice(
  browser: Browser,
  { verification_uri, user_code }: openid.DeviceAuthorizationResponse,
  credentials: Credentials,
): Promise<BrowserPage> {
  await browser.open(verification_uri);
  await browser.submit({ user_code });
  const page = await browser.submit({}, { press: 'confirm' });
  return isSignIn(page) ? browser.submit({ ...credentials }) : page;
}

export function isSignIn({ url }: BrowserPage): boolean {
  return new URL(url).pathname.startsWith('/oidc/sign-in/');
}

/** A terminal that is signed in. */
export async function signInTerminal(
  server: TestServer,
  browser = new Browser(),
): Promise<{ program: Program; tokens: openid.TokenEndpointResponse }> {
  const program = await discover(server, 'convoke-cli');
  const code = await beginDevice(program);
  await confirmDevice(browser, code, owner(server));
  return { program, tokens: await pollDevice(program, code) };
}

export async function refresh(
  program: Program,
  token: string | undefined,
): Promise<openid.TokenEndpointResponse> {
  return openid.refreshTokenGrant(program, token ?? '');
}

/** Returns the status with which the management API answers the token. */
export async function managesWith(server: TestServer, token: string): Promise<number> {
  const { organization_id } = server.quickstart;
  const as = { authorization: `Bearer ${token}` };
  const answer = await server.call('GET', `/v1/organizations/${organization_id}/m2m`, { as });
  return answer.status;
}
