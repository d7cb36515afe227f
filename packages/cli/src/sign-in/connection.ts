import type { Convoke } from '@convoke/sdk';
import type { Command } from 'commander';
import { exitCodes, Failure } from '../failure.ts';
import { globalOptions } from '../options/global-options.ts';
import { type ClientLogin, findClientLogin } from './client-login.ts';
import { fetchWatched } from '../terminal/server-away.ts';
import { noteLogin } from './used-login.ts';

/** Connects to the application API as an automation client, never with a person's login (D-55). */
export async function connect(command: Command): Promise<Convoke> {
  const found = await findClientLogin(globalOptions(command).client);
  if (found === undefined) throw noLogin();
  return connectAs(found);
}

export async function connectAs({ credentials: found, login }: ClientLogin): Promise<Convoke> {
  const { organizationId, tenantId, ...credentials } = found;
  noteLogin({ login, baseUrl: credentials.baseUrl, tenantId });
  const sdk = await import('@convoke/sdk');
  const workspace = { organizationId, tenantId };
  return new sdk.Convoke({ ...credentials, workspace, fetch: fetchWatched });
}

export function noLogin(): Failure {
  return new Failure(
    'no saved login found: start a server in this folder with `npx convoke dev`, set CONVOKE_BASE_URL, CONVOKE_CLIENT_ID and ' +
      'CONVOKE_CLIENT_SECRET, or save a login with `convoke clients create --save`',
    exitCodes.usage,
  );
}
