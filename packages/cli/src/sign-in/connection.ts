import type { Convoke } from '@convoke/sdk';
import type { Command } from 'commander';
import { exitCodes, Failure } from '../failure.ts';
import { type GlobalOptions, globalOptions } from '../options/global-options.ts';
import type { MachineCredentials } from './machine-credentials.ts';
import { readQuickstart } from './quickstart.ts';
import { readSavedClient } from './saved-logins.ts';

/** Connects to the application API as an automation client, never with a person's login (D-55). */
export async function connect(command: Command): Promise<Convoke> {
  const found = await findCredentials(globalOptions(command));
  if (found === undefined) throw noCredentials();
  const { organizationId, tenantId, ...credentials } = found;
  const sdk = await import('@convoke/sdk');
  return new sdk.Convoke({ ...credentials, workspace: { organizationId, tenantId } });
}

/** Reads the environment, the saved logins, then the development server of this folder. */
export async function findCredentials({
  client,
}: GlobalOptions): Promise<MachineCredentials | undefined> {
  return (
    (client === undefined ? fromEnvironment() : undefined) ??
    (await readSavedClient(client)) ??
    (await fromQuickstart())
  );
}

function noCredentials(): Failure {
  return new Failure(
    'no saved login found: run `npm start` in this folder, set CONVOKE_BASE_URL, CONVOKE_CLIENT_ID and ' +
      'CONVOKE_CLIENT_SECRET, or save a login with `convoke clients create --save`',
    exitCodes.usage,
  );
}

function fromEnvironment(): MachineCredentials | undefined {
  const { CONVOKE_CLIENT_ID: clientId, CONVOKE_CLIENT_SECRET: clientSecret } = process.env;
  if (clientId === undefined || clientSecret === undefined) return undefined;
  return {
    baseUrl: process.env['CONVOKE_BASE_URL'] ?? 'http://127.0.0.1:8787',
    clientId,
    clientSecret,
    organizationId: process.env['CONVOKE_CLIENT_ORGANIZATION_ID'],
    tenantId: process.env['CONVOKE_CLIENT_TENANT_ID'],
  };
}

async function fromQuickstart(): Promise<MachineCredentials | undefined> {
  const known = await readQuickstart();
  return (
    known && {
      baseUrl: known.base_url,
      clientId: known.client_id,
      clientSecret: known.client_secret,
      organizationId: known.organization_id,
      tenantId: known.tenant_id,
    }
  );
}
