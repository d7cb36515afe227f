import type { ClientRecord, Profile, Scope } from '@convoke/sdk';
import { Command } from 'commander';
import { collect } from '../../collect.ts';
import { completeId } from '../../complete-id.ts';
import { exitCodes } from '../../failure.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, organizationOption, readDays } from '../../options/options.ts';
import { type Person, connectPerson } from '../../sign-in/person.ts';
import { type SaveClient, requireFreeName, saveClient } from '../../sign-in/saved-logins.ts';
import { print, printJson, remark } from '../../terminal/output.ts';
import { printFacts, printTable } from '../../terminal/table.ts';
import { age, moment } from '../../terminal/times.ts';
import { recordCommands } from '../record-command.ts';
import { printCredentials } from './credentials.ts';

export function clientsCommand(): Command {
  return new Command('clients')
    .description('Manage automation clients, the identities of your backends')
    .addCommand(listClients(), { isDefault: true })
    .addCommand(createClient())
    .addCommand(showClient())
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
        ['CLIENT', 'STATUS', 'PROFILE', 'AGE', 'CLIENT ID', 'NAME'],
        clients.map((item) => [
          item.id,
          item.status,
          item.profile,
          age(item.created_at),
          item.client_id,
          item.name,
        ]),
      );
    });
}

interface CreateOptions {
  readonly name: string;
  readonly profile: Profile;
  readonly scope?: Scope[];
  readonly tenant?: string[];
  readonly expiresInDays?: number;
  readonly save?: true | string;
  readonly replace?: boolean;
}

function createClient(): Command {
  return new Command('create')
    .description('Create a client and show its secret once')
    .addHelpText('after', example('clients create --name backend --save'))
    .requiredOption('--name <name>', 'display name')
    .option('--profile <profile>', 'set of scopes: observe, invoke, deploy or custom', 'invoke')
    .option('--scope <scope...>', 'scopes, with --profile custom')
    .option('--tenant <tenant...>', 'tenants it can access (default: all, including future ones)')
    .option('--expires-in-days <n>', 'lifetime of the secret in days, 1 to 365', readDays)
    .option(
      '--save [name]',
      'save the login on this machine and use it (default name: that of the client)',
    )
    .option('--replace', 'with --save: overwrite a saved login of the same name')
    .addOption(organizationOption())
    .action(async (options: CreateOptions, command: Command) => {
      const { name, profile, scope, tenant, expiresInDays, save, replace = false } = options;
      const wanted = save === true ? loginName(name) : save;
      if (wanted !== undefined && !replace) await requireFreeName(wanted);
      const { baseUrl, organizationId, admin } = await connectPerson(command);
      const issued = await admin.clients.create({
        name,
        profile,
        ...(scope === undefined ? {} : { scopes: scope }),
        ...(tenant === undefined ? {} : { tenant_ids: tenant }),
        ...(expiresInDays === undefined ? {} : { expires_in_days: expiresInDays }),
      });
      const { client_id: clientId, client_secret: clientSecret } = issued;
      const tenantId = tenant?.length === 1 ? tenant[0] : undefined;
      const credentials = { baseUrl, clientId, clientSecret, organizationId, tenantId };
      const isSaved =
        wanted !== undefined && (await saveOrSay({ name: wanted, credentials, replace }));
      if (globalOptions(command).json) return printJson(issued);
      print(`client         ${issued.client.id}`);
      print(`client id      ${clientId}`);
      if (!isSaved) print(`client secret  ${clientSecret}`);
      print(`expires        ${moment(issued.credential.expires_at)}`);
    });
}

const records = {
  group: 'clients',
  argument: ['<client>', 'record id of the client, cli_…'],
  sample: 'cli_…',
  options: () => [organizationOption()],
  connect: connectPerson,
  find: ({ admin }: Person, typed: string) => completeId(typed, admin.clients.list()),
} as const;
const clientCommand = recordCommands(records);
const shownClient = recordCommands({
  ...records,
  argument: ['<client>', 'client record id (cli_…) or unique prefix'],
});

const showClient = shownClient({
  name: 'show',
  about: 'Show one client with its scopes and credentials',
  call: ({ admin }, id) => admin.clients.get(id),
  print({ client, credentials }) {
    printFacts({
      client: client.id,
      name: client.name,
      description: client.description,
      'client id': client.client_id,
      status: client.status,
      pending: client.pending_operation?.kind,
      profile: client.profile,
      scopes: client.scopes.join(' '),
      tenants: client.tenant_ids?.join(' ') ?? 'all',
      created: `${moment(client.created_at)} by ${client.created_by_name ?? client.created_by}`,
      changed: moment(client.updated_at),
    });
    print('');
    printCredentials(credentials);
  },
});

/** Saves the login. If that fails, returns false: the secret has to be shown, because there is no other copy. */
async function saveOrSay(client: SaveClient): Promise<boolean> {
  try {
    const name = await saveClient(client);
    remark(`login saved as "${name}"; try: convoke agents --client ${name}`);
    return true;
  } catch (error) {
    remark(`the login could not be saved: ${String(error)}`);
    process.exitCode = exitCodes.failed;
    return false;
  }
}

/** Derives the name of a saved login from that of its client: words that need no quotes. */
function loginName(client: string): string {
  const words = client.toLowerCase().match(/[\p{L}\p{N}]+/gu);
  return words?.join('-') ?? 'client';
}

function setStatus(verb: 'disable' | 'enable', status: 'disabled' | 'active'): Command {
  return clientCommand({
    name: verb,
    about: `${verb === 'disable' ? 'Disable' : 'Enable'} a client; takes effect on its next request`,
    async call({ admin }, id) {
      const { client } = await admin.clients.get(id);
      return admin.clients.update(id, { version: client.version, status });
    },
    print: printLine,
  })();
}

const deleteClient = clientCommand({
  name: 'delete',
  about: 'Delete a client and revoke its access immediately',
  call: async ({ admin }, id) => (await admin.clients.delete(id)) ?? { id, deleted: true },
  print: (left) => ('deleted' in left ? print(`${left.id} deleted`) : printLine(left)),
});

function printLine(client: ClientRecord): void {
  print(`${client.id}  ${client.status}  ${client.name}`);
}
