import type { TenantRecord } from '@convoke/sdk';
import { Command } from 'commander';
import { collect } from '../collect.ts';
import { globalOptions } from '../options/global-options.ts';
import { example, organizationOption } from '../options/options.ts';
import { connectPerson } from '../sign-in/person.ts';
import { print, printJson, printTable, remark } from '../terminal/output.ts';

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
        ['TENANT', 'STATUS', 'ATTACHMENT', 'NAME'],
        tenants.map((item) => [item.id, item.status, item.attachment_state, item.display_name]),
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
      show(tenant, command);
      if (!globalOptions(command).json) warnOfReach(tenant);
    });
}

/** An unbound client that names no tenant fails as soon as it can access two. */
function warnOfReach({ unbound_clients: count = 0 }: TenantRecord): void {
  if (count === 0) return;
  const clients = count === 1 ? '1 client is' : `${count} clients are`;
  remark(
    `${clients} not bound to tenants and can access this one once it is active; those that name no tenant will then ` +
      'fail. Name it in the program (workspace: { tenantId }), or create clients with --tenant.',
  );
}

function showTenant(): Command {
  return new Command('show')
    .description('Show one tenant')
    .addHelpText('after', example('tenants show ten_…'))
    .argument('<tenant>')
    .addOption(organizationOption())
    .action(async (id: string, _options: unknown, command: Command) => {
      show(await (await connectPerson(command)).admin.tenants.get(id), command);
    });
}

function retryTenant(): Command {
  return new Command('retry')
    .description('Retry failed provisioning')
    .addHelpText('after', example('tenants retry ten_…'))
    .argument('<tenant>')
    .addOption(organizationOption())
    .action(async (id: string, _options: unknown, command: Command) => {
      show(await (await connectPerson(command)).admin.tenants.retry(id), command);
    });
}

function offboardTenant(): Command {
  return new Command('offboard')
    .description("Revoke all access immediately and permanently delete the tenant's data")
    .addHelpText('after', example('tenants offboard ten_… --confirm ten_…'))
    .argument('<tenant>')
    .requiredOption('--confirm <tenant>', 'repeat the tenant id')
    .addOption(organizationOption())
    .action(async (id: string, { confirm }: { confirm: string }, command: Command) => {
      show(await (await connectPerson(command)).admin.tenants.offboard(id, { confirm }), command);
    });
}

function show(tenant: TenantRecord, command: Command): void {
  if (globalOptions(command).json) return printJson(tenant);
  const reason = tenant.status_reason === undefined ? '' : `: ${tenant.status_reason}`;
  print(
    `${tenant.id}  ${tenant.status}/${tenant.attachment_state}  ${tenant.display_name}${reason}`,
  );
}
