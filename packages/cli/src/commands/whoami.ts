import { Command } from 'commander';
import { connect, globalOptions } from '../connection.ts';
import { print, printJson } from '../terminal.ts';
import { example } from '../options.ts';

export function whoamiCommand(): Command {
  return new Command('whoami')
    .description('Show which automation client you call with, and what it may do')
    .addHelpText('after', example('whoami'))
    .action(async (_options: unknown, command: Command) => {
      const caller = await (await connect(command)).whoami();
      if (globalOptions(command).json) return printJson(caller);
      print(`client        ${caller.client_id} (${caller.profile})`);
      print(`organization  ${caller.organization_id}`);
      print(`tenant        ${caller.tenant_id}`);
      print(`may           ${caller.scopes.join(' ')}`);
    });
}
