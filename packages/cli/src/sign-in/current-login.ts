import { renew } from './device-flow.ts';
import { type Login, type SavedLogins, changeSaved, readSaved } from './saved-logins.ts';
import type { UsedLogin } from './used-login.ts';

/** A person with an access token for the management API. */
export interface KnownPerson extends UsedLogin {
  readonly token: string;
  readonly organizationId?: string | undefined;
}

/** A token with a shorter remaining lifetime is renewed before use. */
const marginMs = 30_000;

/** How messages call it. */
export const personLogin = 'login of a person';

/** Returns the person who is logged in, with a valid token; renews it if necessary. */
export async function currentLogin(): Promise<KnownPerson | undefined> {
  const saved = await readSaved();
  const { login } = isDue(saved.login) ? await changeSaved(renewIfDue) : saved;
  return login && knownPerson(login);
}

/**
 * Renews the login under the lock. A refresh token works once, and the server ends a login whose used token is sent
 * again; so one process renews, and the processes that waited read what it saved.
 */
async function renewIfDue(saved: SavedLogins): Promise<SavedLogins> {
  return isDue(saved.login) ? { ...saved, login: await renew(saved.login) } : saved;
}

function isDue(login: Login | undefined): login is Login {
  return login !== undefined && login.expiresAt - Date.now() <= marginMs;
}

function knownPerson({ baseUrl, accessToken, organizationId }: Login): KnownPerson {
  return { login: personLogin, baseUrl, token: accessToken, organizationId };
}
