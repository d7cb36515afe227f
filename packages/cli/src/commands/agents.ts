import { Command } from 'commander';
import { collect } from '../collect.ts';
import { globalOptions } from '../options/global-options.ts';
import { example } from '../options/options.ts';
import { connect } from '../sign-in/connection.ts';
import { printJson, printTable } from '../terminal/output.ts';

export function agentsCommand(): Command {
  return new Command('agents')
    .description('List the agents you can invoke')
    .addHelpText('after', example('agents --json'))
    .action(async (_options: unknown, command: Command) => {
      const convoke = await connect(command);
      const agents = await collect(convoke.agents.list());
      if (globalOptions(command).json) return printJson({ agents });
      printTable(
        ['NAME', 'FRAMEWORK', 'FILES', 'DESCRIPTION'],
        agents.map((agent) => [
          agent.name,
          agent.framework,
          agent.session_files_supported ? 'yes' : 'no',
          agent.description,
        ]),
      );
    });
}
