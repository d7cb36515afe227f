import type { ConvokeAdmin } from '@convoke/sdk';
import type { Command } from 'commander';
import { exitCodes, Failure } from '../failure.ts';
import { type KnownPerson, currentLogin } from './current-login.ts';
import { readQuickstart } from './quickstart.ts';

export interface Person {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly admin: ConvokeAdmin;
}

/** Connects to the management API with a person's token, never as an automation client (D-55). */
export async function connectPerson(command: Command): Promise<Person> {
  const { org } = command.optsWithGlobals<{ org?: string }>();
  const known = await knownPerson();
  if (known === undefined) {
    throw new Failure('you are not logged in: run `convoke login`', exitCodes.refused);
  }
  const { baseUrl, token } = known;
  const organizationId = org ?? known.organizationId ?? (await onlyOrganization(baseUrl, token));
  const sdk = await import('@convoke/sdk');
  const admin = new sdk.ConvokeAdmin({ baseUrl, token, organizationId });
  return { baseUrl, organizationId, admin };
}

/** Returns the person who is logged in, or the owner of the development server of this folder. */
export async function knownPerson(): Promise<KnownPerson | undefined> {
  return (await currentLogin()) ?? (await ownerOfQuickstart());
}

async function ownerOfQuickstart(): Promise<KnownPerson | undefined> {
  const known = await readQuickstart();
  return (
    known && {
      baseUrl: known.base_url,
      token: known.owner_token,
      organizationId: known.organization_id,
    }
  );
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

/** Returns the ids of the organizations in which the person can access a tenant. */
export async function organizationsOf(baseUrl: string, token: string): Promise<string[]> {
  const found = new Set<string>();
  const sdk = await import('@convoke/sdk');
  const anywhere = new sdk.ConvokeAdmin({ baseUrl, token, organizationId: 'org' });
  for await (const { organization_id } of anywhere.workspaces()) found.add(organization_id);
  return [...found];
}
