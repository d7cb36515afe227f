import { Command } from 'commander';
import { collect } from '../../collect.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { printJson } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';

export function workspacesCommand(): Command {
  return new Command('workspaces')
    .description('List the tenants that the automation client can access')
    .addHelpText('after', example('workspaces'))
    .action(async (_options: unknown, command: Command) => {
      const workspaces = await collect((await connect(command)).workspaces());
      if (globalOptions(command).json) return printJson({ workspaces });
      printTable(
        ['ORGANIZATION', 'TENANT', 'NAME'],
        workspaces.map(({ organization_id, tenant }) => [
          organization_id,
          tenant.tenant_id,
          tenant.display_name,
        ]),
      );
    });
}
