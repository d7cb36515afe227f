import { Command } from 'commander';
import { globalOptions } from '../options/global-options.ts';
import { example, organizationOption, readDays } from '../options/options.ts';
import { connectPerson } from '../sign-in/person.ts';
import { print, printJson, printTable } from '../terminal/output.ts';

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
      const { credentials } = await (await connectPerson(command)).admin.clients.get(id);
      if (globalOptions(command).json) return printJson({ credentials });
      printTable(
        ['CREDENTIAL', 'STATUS', 'SECRET', 'EXPIRES', 'LABEL'],
        credentials.map((item) => [
          item.id,
          item.status,
          `cvk_…${item.secret_hint}`,
          item.expires_at,
          item.label,
        ]),
      );
    });
}

interface AddOptions {
  readonly label: string;
  readonly expiresInDays?: number;
}

function addCredential(): Command {
  return new Command('add')
    .description('Add a secret and show it, once')
    .addHelpText('after', example('credentials add cli_… --label 2027-q1'))
    .argument('<client>', 'record id of the client, cli_…')
    .requiredOption('--label <text>', 'label of the credential')
    .option('--expires-in-days <n>', 'lifetime in days, 1 to 365', readDays)
    .addOption(organizationOption())
    .action(async (id: string, { label, expiresInDays }: AddOptions, command: Command) => {
      const { admin } = await connectPerson(command);
      const lifetime = expiresInDays === undefined ? {} : { expires_in_days: expiresInDays };
      const issued = await admin.credentials.add(id, { label, ...lifetime });
      if (globalOptions(command).json) return printJson(issued);
      print(`credential     ${issued.credential.id}`);
      print(`client id      ${issued.client_id}`);
      print(`client secret  ${issued.client_secret}`);
    });
}

function revokeCredential(): Command {
  return new Command('revoke')
    .description('Revoke a credential; tokens that it obtained stay valid until they expire')
    .addHelpText('after', example('credentials revoke cli_… cred_…'))
    .argument('<client>', 'record id of the client, cli_…')
    .argument('<credential>', 'id of the credential, cred_…')
    .addOption(organizationOption())
    .action(async (client: string, id: string, _options: unknown, command: Command) => {
      const pending = await (await connectPerson(command)).admin.credentials.revoke(client, id);
      if (globalOptions(command).json) return printJson(pending ?? { id, revoked: true });
      print(`${id} ${pending === undefined ? 'revoked' : 'is being revoked'}`);
    });
}
