import { Readable } from 'node:stream';
import type { ClientWithCredentials, CredentialRecord } from '@convoke/sdk';
import { Command } from 'commander';
import { completeId } from '../../complete-id.ts';
import { exitCodes, Failure } from '../../failure.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, organizationOption, readDays } from '../../options/options.ts';
import { knownLogins } from '../../sign-in/client-login.ts';
import { connectPerson } from '../../sign-in/person.ts';
import { askToConfirm } from '../../terminal/confirm.ts';
import { print, printJson, remark } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';
import { age, moment } from '../../terminal/times.ts';

export function credentialsCommand(): Command {
  return new Command('credentials')
    .description(
      'Rotate the secrets of an automation client: add a new one, then revoke the old one',
    )
    .addCommand(listCredentials(), { isDefault: true })
    .addCommand(addCredential())
    .addCommand(revokeCredential())
    .addHelpText('after', example('credentials add cli_… --label 2027-q1'));
}

function listCredentials(): Command {
  return new Command('list')
    .description('List the credentials of a client')
    .addHelpText('after', example('credentials list cli_…'))
    .argument('<client>', 'record id of the client, cli_…')
    .addOption(organizationOption())
    .action(async (id: string, _options: unknown, command: Command) => {
      const { admin } = await connectPerson(command);
      const { credentials } = await admin.clients.get(await completeId(id, admin.clients.list()));
      if (globalOptions(command).json) return printJson({ credentials });
      printCredentials(credentials);
    });
}

export function printCredentials(credentials: readonly CredentialRecord[]): void {
  printTable(
    ['CREDENTIAL', 'STATUS', 'SECRET', 'AGE', 'LAST USED', 'EXPIRES', 'LABEL'],
    credentials.map((item) => [
      item.id,
      item.status,
      `cvk_…${item.secret_hint}`,
      age(item.created_at),
      item.last_used_at === undefined ? 'never' : `${age(item.last_used_at)} ago`,
      item.expires_at.slice(0, 'yyyy-mm-dd'.length),
      item.label,
    ]),
  );
}

interface AddOptions {
  readonly label: string;
  readonly expiresInDays?: number;
}

function addCredential(): Command {
  return new Command('add')
    .description('Add a secret and show it once')
    .addHelpText('after', example('credentials add cli_… --label 2027-q1'))
    .argument('<client>', 'record id of the client, cli_…')
    .requiredOption('--label <text>', 'label of the credential')
    .option('--expires-in-days <n>', 'lifetime in days, 1 to 365', readDays)
    .addOption(organizationOption())
    .action(async (id: string, { label, expiresInDays }: AddOptions, command: Command) => {
      const { admin } = await connectPerson(command);
      const lifetime = expiresInDays === undefined ? {} : { expires_in_days: expiresInDays };
      const whole = await completeId(id, admin.clients.list());
      const issued = await admin.credentials.add(whole, { label, ...lifetime });
      if (globalOptions(command).json) return printJson(issued);
      print(`credential     ${issued.credential.id}`);
      print(`client id      ${issued.client_id}`);
      print(`client secret  ${issued.client_secret}`);
      print(`expires        ${moment(issued.credential.expires_at)}`);
    });
}

function revokeCredential(): Command {
  return new Command('revoke')
    .description('Revoke a credential; tokens that it obtained stay valid until they expire')
    .addHelpText('after', example('credentials revoke cli_… cred_…'))
    .argument('<client>', 'record id of the client, cli_…')
    .argument('<credential>', 'id of the credential, cred_…')
    .addOption(organizationOption())
    .action(async (client: string, typed: string, _options: unknown, command: Command) => {
      const { admin } = await connectPerson(command);
      const known = await admin.clients.get(await completeId(client, admin.clients.list()));
      const id = await completeId(typed, Readable.from(known.credentials));
      await confirmIfUsed(known, id);
      const pending = await admin.credentials.revoke(known.client.id, id);
      if (globalOptions(command).json) return printJson(pending ?? { id, revoked: true });
      print(`${id} ${pending === undefined ? 'revoked' : 'is being revoked'}`);
    });
}

/** Warns of a credential that a login of this machine uses, and asks the person at a terminal. */
async function confirmIfUsed(known: ClientWithCredentials, id: string): Promise<void> {
  const hint = known.credentials.find((credential) => credential.id === id)?.secret_hint ?? '';
  const users = (await knownLogins()).filter(
    ({ credentials }) =>
      credentials.clientId === known.client.client_id && credentials.clientSecret.endsWith(hint),
  );
  if (hint === '' || users.length === 0) return;
  const names = users.map(({ login }) => login).join(' and the ');
  remark(`the ${names} uses this credential, and is refused once it is revoked`);
  if (await askToConfirm('  revoke it? [y]es or [n]o: ')) return;
  throw new Failure('nothing was revoked', exitCodes.failed);
}
