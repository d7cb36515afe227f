import type { TenantRecord } from '@convoke/sdk';
import { Command } from 'commander';
import { collect } from '../../collect.ts';
import { completeId } from '../../complete-id.ts';
import { exitCodes, Failure } from '../../failure.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, organizationOption } from '../../options/options.ts';
import { connectPerson } from '../../sign-in/person.ts';
import { askForText } from '../../terminal/confirm.ts';
import { isInteractive, print, printJson, remark } from '../../terminal/output.ts';
import { printFacts, printTable } from '../../terminal/table.ts';
import { age, moment } from '../../terminal/times.ts';
import { printResult, recordCommands } from '../record-command.ts';

export function tenantsCommand(): Command {
  return new Command('tenants')
    .description('Manage the tenants of the organization')
    .addCommand(listTenants(), { isDefault: true })
    .addCommand(createTenant())
    .addCommand(showTenant())
    .addCommand(retryTenant())
    .addCommand(offboardTenant())
    .addHelpText('after', example('tenants create --name "Acme Europe"'));
}

function listTenants(): Command {
  return new Command('list')
    .description('List tenants, newest first')
    .addHelpText('after', example('tenants list'))
    .addOption(organizationOption())
    .action(async (_options: unknown, command: Command) => {
      const tenants = await collect((await connectPerson(command)).admin.tenants.list());
      if (globalOptions(command).json) return printJson({ tenants });
      printTable(
        ['TENANT', 'STATUS', 'STORAGE', 'AGE', 'NAME'],
        tenants.map((item) => [
          item.id,
          item.status,
          item.attachment_state,
          age(item.created_at),
          item.display_name,
        ]),
      );
    });
}

function createTenant(): Command {
  return new Command('create')
    .description('Create a tenant; it is usable once it is active and ready')
    .addHelpText('after', example('tenants create --name "Acme Europe"'))
    .requiredOption('--name <name>', 'display name')
    .option('--mode <mode>', 'a mode that this deployment supports', 'saas')
    .addOption(organizationOption())
    .action(async ({ name, mode }: { name: string; mode: string }, command: Command) => {
      const { admin } = await connectPerson(command);
      const tenant = await admin.tenants.create({ display_name: name, mode });
      await printResult(command, tenant, printLine);
      if (!globalOptions(command).json) warnOfReach(tenant);
    });
}

/** An unbound client that names no tenant fails as soon as it can access two. */
function warnOfReach({ unbound_clients: count = 0 }: TenantRecord): void {
  if (count === 0) return;
  const clients = count === 1 ? '1 client is' : `${count} clients are`;
  remark(
    `${clients} not bound to tenants and can access this one once it is active; calls that select no tenant will then ` +
      'fail. Select it in your code (workspace: { tenantId }), or create clients with --tenant.',
  );
}

const tenantCommand = recordCommands({
  group: 'tenants',
  argument: ['<tenant>'],
  sample: 'ten_…',
  options: () => [organizationOption()],
  connect: connectPerson,
  find: ({ admin }, id) => completeId(id, admin.tenants.list()),
});

const showTenant = tenantCommand({
  name: 'show',
  about: 'Show one tenant',
  call: ({ admin }, id) => admin.tenants.get(id),
  print: (tenant) =>
    printFacts({
      tenant: tenant.id,
      name: tenant.display_name,
      organization: tenant.organization_id,
      mode: tenant.mode,
      status: tenant.status,
      reason: tenant.status_reason,
      storage: tenant.attachment_state,
      created: moment(tenant.created_at),
      changed: moment(tenant.updated_at),
    }),
});

const retryTenant = tenantCommand({
  name: 'retry',
  about: 'Retry failed provisioning',
  call: ({ admin }, id) => admin.tenants.retry(id),
  print: printLine,
});

function offboardTenant(): Command {
  return new Command('offboard')
    .description("Revoke all access immediately and permanently delete the tenant's data")
    .addHelpText('after', example('tenants offboard ten_… --confirm ten_…'))
    .argument('<tenant>')
    .option(
      '--confirm <tenant>',
      'repeat the tenant id to confirm; in a terminal you are asked for the name',
    )
    .addOption(organizationOption())
    .action(async (typedId: string, options: { confirm?: string }, command: Command) => {
      const { admin } = await connectPerson(command);
      const id = await completeId(typedId, admin.tenants.list());
      const confirm = options.confirm ?? (await confirmOffboarding(await admin.tenants.get(id)));
      await printResult(command, await admin.tenants.offboard(id, { confirm }), printLine);
    });
}

/** Shows what offboarding deletes and asks for the name of the tenant. Returns the confirmation that the API takes. */
async function confirmOffboarding(tenant: TenantRecord): Promise<string> {
  if (!isInteractive()) {
    throw new Failure('repeat the tenant id with --confirm', exitCodes.usage);
  }
  remark(`This permanently deletes the tenant ${tenant.id}:`);
  remark(`  name     ${tenant.display_name}`);
  remark(`  status   ${tenant.status}`);
  remark(`  created  ${moment(tenant.created_at)}`);
  remark(
    'with all its sessions, runs, events, files and session folders. Clients lose access at once.',
  );
  const said = await askForText(`Type the name of the tenant to delete it: `);
  if (said === tenant.display_name.trim()) return tenant.id;
  throw new Failure('the name does not match; nothing was deleted', exitCodes.failed);
}

function printLine(tenant: TenantRecord): void {
  const reason = tenant.status_reason === undefined ? '' : `: ${tenant.status_reason}`;
  print(
    `${tenant.id}  ${tenant.status}/${tenant.attachment_state}  ${tenant.display_name}${reason}`,
  );
}
