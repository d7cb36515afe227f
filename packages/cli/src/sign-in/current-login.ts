import { renew } from './device-flow.ts';
import { type Login, type Saved, changeSaved, readSaved } from './saved-logins.ts';

/** A person with an access token for the management API. */
export interface KnownPerson {
  readonly baseUrl: string;
  readonly token: string;
  readonly organizationId?: string | undefined;
}

/** A token with less than this left is renewed before it is used. */
const marginMs = 30_000;

/** The person who logged in here, with a token that is good for a while yet. */
export async function currentLogin(): Promise<KnownPerson | undefined> {
  const saved = await readSaved();
  const { login } = isDue(saved.login) ? await changeSaved(renewed) : saved;
  return login && known(login);
}

/**
 * A refresh token works once: whoever presents a used one is taken for a thief, and the login ends. So one process
 * renews, and those that waited for it find what it saved.
 */
async function renewed(saved: Saved): Promise<Saved> {
  return isDue(saved.login) ? { ...saved, login: await renew(saved.login) } : saved;
}

function isDue(login: Login | undefined): login is Login {
  return login !== undefined && login.expiresAt - Date.now() <= marginMs;
}

function known({ baseUrl, accessToken, organizationId }: Login): KnownPerson {
  return { baseUrl, token: accessToken, organizationId };
}
