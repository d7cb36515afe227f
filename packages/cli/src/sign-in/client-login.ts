import { exitCodes, Failure } from '../failure.ts';
import type { MachineCredentials } from './machine-credentials.ts';
import { quickstartPath, readQuickstart } from './quickstart.ts';
import { type SavedLogins, readSaved } from './saved-logins.ts';
import { defaultAddress, readAddress } from './server-address.ts';

/** Credentials of an automation client, and where they were found. */
export interface ClientLogin {
  readonly credentials: MachineCredentials;
  /** `saved login "backend"`, for messages. */
  readonly login: string;
}

/**
 * Finds the automation client to call as. The nearest wins: `--client`, the environment, the development server of this
 * folder, the saved login in use. A lone CONVOKE_BASE_URL selects the server, and the login that is known for it.
 */
export async function findClientLogin(wanted?: string): Promise<ClientLogin | undefined> {
  const address = readAddress();
  const saved = await readSaved();
  if (wanted !== undefined) return namedLogin(saved, wanted, address);
  const folder = await folderLogin(saved);
  const { CONVOKE_CLIENT_ID: clientId, CONVOKE_CLIENT_SECRET: clientSecret } = process.env;
  if (clientId !== undefined && clientSecret !== undefined) {
    const baseUrl = address ?? folder?.credentials.baseUrl ?? defaultAddress;
    return environmentLogin({ baseUrl, clientId, clientSecret });
  }
  if (clientId !== undefined || clientSecret !== undefined) throw halfEnvironment();
  if (address !== undefined) return loginFor(address, saved, folder);
  return folder ?? currentLogin(saved);
}

/** Returns every login of an automation client that commands on this machine, in this folder, may use. */
export async function knownLogins(): Promise<readonly ClientLogin[]> {
  const saved = await readSaved();
  const folder = await folderClient();
  const named = Object.keys(saved.profiles).map((name) => namedLogin(saved, name));
  return folder === undefined ? named : [...named, folder];
}

function environmentLogin(given: MachineCredentials): ClientLogin {
  const organizationId = process.env['CONVOKE_CLIENT_ORGANIZATION_ID'];
  const tenantId = process.env['CONVOKE_CLIENT_TENANT_ID'];
  return {
    credentials: { ...given, organizationId, tenantId },
    login: `CONVOKE_CLIENT_ID ${given.clientId}`,
  };
}

/**
 * Returns the client of the folder's server. A saved login in use that belongs to the same organization there is
 * nearer: a person chose it, and it cannot be one of another deployment at the same address.
 */
async function folderLogin(saved: SavedLogins): Promise<ClientLogin | undefined> {
  const folder = await folderClient();
  const current = currentLogin(saved);
  const isOfFolder =
    current?.credentials.baseUrl === folder?.credentials.baseUrl &&
    current?.credentials.organizationId === folder?.credentials.organizationId;
  return folder !== undefined && isOfFolder ? current : folder;
}

async function folderClient(): Promise<ClientLogin | undefined> {
  const known = await readQuickstart();
  if (known === undefined) return undefined;
  return {
    credentials: {
      baseUrl: known.base_url,
      clientId: known.client_id,
      clientSecret: known.client_secret,
      organizationId: known.organization_id,
      tenantId: known.tenant_id,
    },
    login: `client of ${quickstartPath()}`,
  };
}

function currentLogin(saved: SavedLogins): ClientLogin | undefined {
  const { current } = saved;
  return current === undefined ? undefined : namedLogin(saved, current);
}

function namedLogin(saved: SavedLogins, name: string, address?: string): ClientLogin {
  const credentials = saved.profiles[name];
  if (credentials === undefined) {
    const known = Object.keys(saved.profiles).join(', ') || 'none';
    const advice = `create one with \`convoke clients create --save ${name}\``;
    throw new Failure(`no saved login "${name}" (saved: ${known}): ${advice}`, exitCodes.usage);
  }
  if (address !== undefined && credentials.baseUrl !== address) {
    throw new Failure(
      `the saved login "${name}" is for ${credentials.baseUrl}, but CONVOKE_BASE_URL is ${address}: unset one of the two`,
      exitCodes.usage,
    );
  }
  return { credentials, login: `saved login "${name}"` };
}

/** Returns the login for a server that the environment names alone: never one of another server. */
function loginFor(
  address: string,
  saved: SavedLogins,
  folder: ClientLogin | undefined,
): ClientLogin {
  if (folder?.credentials.baseUrl === address) return folder;
  const names = Object.keys(saved.profiles).filter(
    (name) => saved.profiles[name]?.baseUrl === address,
  );
  const [only, ...others] = names;
  if (saved.current !== undefined && names.includes(saved.current)) {
    return namedLogin(saved, saved.current);
  }
  if (only !== undefined && others.length === 0) return namedLogin(saved, only);
  const problem =
    only === undefined
      ? 'no login is saved for it: set CONVOKE_CLIENT_ID and CONVOKE_CLIENT_SECRET too, or save one with `convoke clients create --save`'
      : `several logins are saved for it: select one with --client (${names.join(', ')})`;
  throw new Failure(`CONVOKE_BASE_URL is ${address}, and ${problem}`, exitCodes.usage);
}

function halfEnvironment(): Failure {
  return new Failure(
    'CONVOKE_CLIENT_ID and CONVOKE_CLIENT_SECRET must be set together',
    exitCodes.usage,
  );
}
