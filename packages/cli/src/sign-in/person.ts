import type { ConvokeAdmin, MeRecord } from '@convoke/sdk';
import type { Command } from 'commander';
import { exitCodes, Failure } from '../failure.ts';
import { type KnownPerson, currentLogin, personLogin } from './current-login.ts';
import { quickstartPath, readQuickstart } from './quickstart.ts';
import { fetchWatched } from '../terminal/server-away.ts';
import { readSaved } from './saved-logins.ts';
import { readAddress } from './server-address.ts';
import { type UsedLogin, noteLogin } from './used-login.ts';

export interface Person {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly admin: ConvokeAdmin;
}

/** Connects to the management API with a person's token, never as an automation client (D-55). */
export async function connectPerson(command: Command): Promise<Person> {
  const { org } = command.optsWithGlobals<{ org?: string }>();
  const found = await findPerson();
  if (found !== undefined) noteLogin(found);
  const known = await found?.open();
  if (known === undefined) throw notLoggedIn();
  const { baseUrl, token } = known;
  const organizationId = org ?? known.organizationId ?? (await onlyOrganization(baseUrl, token));
  const sdk = await import('@convoke/sdk');
  const admin = new sdk.ConvokeAdmin({ baseUrl, token, organizationId, fetch: fetchWatched });
  return { baseUrl, organizationId, admin };
}

function notLoggedIn(): Failure {
  const address = readAddress();
  const [where, option] =
    address === undefined ? ['', ''] : [` to ${address}`, ` --server ${address}`];
  const advice = `run \`convoke login${option}\``;
  return new Failure(`you are not logged in${where}: ${advice}`, exitCodes.refused);
}

/** A person to manage as, known before any server is called. */
export interface FoundPerson extends UsedLogin {
  /** Returns the person with a valid token, which the server may have to renew. */
  readonly open: () => Promise<KnownPerson | undefined>;
}

/**
 * Finds the person to manage as. The nearest wins: the server that CONVOKE_BASE_URL names, the development server of
 * this folder, the server of the saved login. There a person who logged in comes before the folder's owner.
 */
export async function findPerson(): Promise<FoundPerson | undefined> {
  const folder = await readQuickstart();
  const { login: saved } = await readSaved();
  const server = readAddress() ?? folder?.base_url ?? saved?.baseUrl;
  if (saved !== undefined && saved.baseUrl === server) {
    return { login: personLogin, baseUrl: saved.baseUrl, open: currentLogin };
  }
  if (folder === undefined || folder.base_url !== server) return undefined;
  const { base_url: baseUrl, owner_token: token, organization_id: organizationId } = folder;
  const owner = { login: `owner of ${quickstartPath()}`, baseUrl, token, organizationId };
  return { ...owner, open: () => Promise.resolve(owner) };
}

async function onlyOrganization(baseUrl: string, token: string): Promise<string> {
  const [only, ...others] = await organizationsOf(baseUrl, token);
  if (only !== undefined && others.length === 0) return only;
  const which =
    only === undefined
      ? 'you have no organization with a tenant'
      : 'you belong to several organizations';
  throw new Failure(`${which}: set the organization with --org`, exitCodes.usage);
}

/** Returns the organizations of the person, with their roles. */
export async function membershipsOf(
  baseUrl: string,
  token: string,
): Promise<MeRecord['memberships']> {
  const sdk = await import('@convoke/sdk');
  return (await new sdk.Convoke({ baseUrl, token, fetch: fetchWatched }).me()).memberships;
}

/** Returns the ids of the organizations in which the person can access a tenant. */
async function organizationsOf(baseUrl: string, token: string): Promise<string[]> {
  const found = new Set<string>();
  const sdk = await import('@convoke/sdk');
  const anywhere = new sdk.ConvokeAdmin({
    baseUrl,
    token,
    organizationId: 'org',
    fetch: fetchWatched,
  });
  for await (const { organization_id } of anywhere.workspaces()) found.add(organization_id);
  return [...found];
}
