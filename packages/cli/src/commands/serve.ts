import { Command } from 'commander';
import { report } from '../operating.ts';
import { settingsHelp } from '../settings-help.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the server: nothing is made up, nothing is printed but where it listens')
    .addHelpText('after', settingsHelp)
    .addHelpText('after', '\nExample:\n  CONVOKE_PORT=8080 npx convoke serve\n')
    .action(async (_options: unknown, command: Command) => {
      const { readConfig, runServer } = await import('@convoke/server');
      const { convoke, stopped } = await runServer(readConfig(process.env));
      const { baseUrl } = convoke;
      report(command, { base_url: baseUrl }, `convoke listens on ${baseUrl}`);
      await stopped;
    });
}
