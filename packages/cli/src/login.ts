import { renew } from './device-flow.ts';
import type { KnownPerson } from './person.ts';
import { readSaved, writeSaved } from './profiles.ts';

/** A token with less than this left is renewed before it is used. */
const marginMs = 30_000;

/** The person who logged in here, with a token that is good for a while yet. */
export async function currentLogin(): Promise<KnownPerson | undefined> {
  const saved = await readSaved();
  const { login } = saved;
  if (login === undefined) return undefined;
  if (login.expiresAt - Date.now() > marginMs) return known(login);
  const renewed = await renew(login);
  await writeSaved({ ...saved, login: renewed });
  return known(renewed);
}

function known(login: {
  baseUrl: string;
  accessToken: string;
  organizationId?: string | undefined;
}): KnownPerson {
  return { baseUrl: login.baseUrl, token: login.accessToken, organizationId: login.organizationId };
}
