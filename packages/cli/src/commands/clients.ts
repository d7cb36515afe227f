import type { ClientRecord, Profile, Scope } from '@convoke/sdk';
import { Command } from 'commander';
import { collect } from '../collect.ts';
import { globalOptions } from '../options/global-options.ts';
import { example, organizationOption, readDays } from '../options/options.ts';
import { connectPerson } from '../sign-in/person.ts';
import { saveClient } from '../sign-in/saved-logins.ts';
import { print, printJson, printTable, remark } from '../terminal/output.ts';

export function clientsCommand(): Command {
  return new Command('clients')
    .description('Manage automation clients, the identities of your backends')
    .addCommand(listClients(), { isDefault: true })
    .addCommand(createClient())
    .addCommand(setStatus('disable', 'disabled'))
    .addCommand(setStatus('enable', 'active'))
    .addCommand(deleteClient())
    .addHelpText('after', example('clients create --name backend --save'));
}

function listClients(): Command {
  return new Command('list')
    .description('List the automation clients of the organization')
    .addHelpText('after', example('clients list --json'))
    .addOption(organizationOption())
    .action(async (_options: unknown, command: Command) => {
      const clients = await collect((await connectPerson(command)).admin.clients.list());
      if (globalOptions(command).json) return printJson({ clients });
      printTable(
        ['CLIENT', 'STATUS', 'PROFILE', 'CLIENT ID', 'NAME'],
        clients.map((item) => [item.id, item.status, item.profile, item.client_id, item.name]),
      );
    });
}

interface CreateOptions {
  readonly name: string;
  readonly profile: Profile;
  readonly scope?: Scope[];
  readonly expiresInDays?: number;
  readonly save?: boolean | string;
}

function createClient(): Command {
  return new Command('create')
    .description('Create a client and show its first secret, once')
    .addHelpText('after', example('clients create --name backend --save'))
    .requiredOption('--name <name>', 'display name')
    .option('--profile <profile>', 'set of scopes: observe, invoke, deploy or custom', 'invoke')
    .option('--scope <scope...>', 'scopes, with --profile custom')
    .option('--expires-in-days <n>', 'lifetime of the secret in days, 1 to 365', readDays)
    .option(
      '--save [name]',
      'save the login on this machine under this name and use it from now on',
    )
    .addOption(organizationOption())
    .action(async (options: CreateOptions, command: Command) => {
      const { baseUrl, organizationId, admin } = await connectPerson(command);
      const { name, profile, scope, expiresInDays, save } = options;
      const issued = await admin.clients.create({
        name,
        profile,
        ...(scope === undefined ? {} : { scopes: scope }),
        ...(expiresInDays === undefined ? {} : { expires_in_days: expiresInDays }),
      });
      const { client_id: clientId, client_secret: clientSecret } = issued;
      if (save !== undefined) {
        const kept = typeof save === 'string' ? save : 'default';
        await saveClient(kept, { baseUrl, clientId, clientSecret, organizationId });
        remark(`login saved as "${kept}"; try: convoke agents`);
      }
      if (globalOptions(command).json) return printJson(issued);
      print(`client         ${issued.client.id}`);
      print(`client id      ${clientId}`);
      if (save === undefined) print(`client secret  ${clientSecret}`);
    });
}

function setStatus(verb: 'disable' | 'enable', status: 'disabled' | 'active'): Command {
  return new Command(verb)
    .description(
      `${verb === 'disable' ? 'Disable' : 'Enable'} a client; takes effect on its next request`,
    )
    .addHelpText('after', example(`clients ${verb} cli_…`))
    .argument('<client>', 'record id of the client, cli_…')
    .addOption(organizationOption())
    .action(async (id: string, _options: unknown, command: Command) => {
      const { admin } = await connectPerson(command);
      const { client } = await admin.clients.get(id);
      show(await admin.clients.update(id, { version: client.version, status }), command);
    });
}

function deleteClient(): Command {
  return new Command('delete')
    .description('Delete a client and revoke its access immediately')
    .addHelpText('after', example('clients delete cli_…'))
    .argument('<client>', 'record id of the client, cli_…')
    .addOption(organizationOption())
    .action(async (id: string, _options: unknown, command: Command) => {
      const pending = await (await connectPerson(command)).admin.clients.delete(id);
      if (pending !== undefined) return show(pending, command);
      if (globalOptions(command).json) return printJson({ id, deleted: true });
      print(`${id} deleted`);
    });
}

function show(client: ClientRecord, command: Command): void {
  if (globalOptions(command).json) return printJson(client);
  print(`${client.id}  ${client.status}  ${client.name}`);
}
