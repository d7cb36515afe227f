import { Command } from 'commander';
import { operating, report } from '../../../operating.ts';
import { example } from '../../../options/options.ts';

export function organizationCommand(): Command {
  const create = new Command('create')
    .description('Create an organization; with --json prints {"organization_id"}')
    .addHelpText('after', example('admin org create --name Acme'))
    .requiredOption('--name <name>', 'display name')
    .action(async ({ name }: { readonly name: string }, command: Command) => {
      const { id } = await operating((operator) => operator.createOrganization(name));
      const next = `Add an owner:  npx convoke admin member add --org ${id} --role owner --email …`;
      report(command, { organization_id: id }, `Created ${name} as ${id}.\n${next}`);
    });
  return new Command('org')
    .description('Manage organizations')
    .addCommand(create)
    .addHelpText('after', example('admin org create --name Acme'));
}
