import { Command } from 'commander';
import { consoleLink } from '../../console-link.ts';
import { example } from '../../options/options.ts';
import { ownVersion } from '../../own-version.ts';
import { connect } from '../../sign-in/connection.ts';

export function acpCommand(): Command {
  return new Command('acp')
    .description('Offer an agent to an editor, over the Agent Client Protocol')
    .argument('<agent>', 'name of the agent (see `convoke agents`)')
    .addHelpText('after', example('acp demo'))
    .addHelpText(
      'after',
      '\nThe editor starts this command and talks to it on standard input and output. The agent runs on the server: it does\n' +
        "not see the editor's files, terminals and MCP servers. In the settings of Zed:\n" +
        '  "agent_servers": { "Convoke demo": { "type": "custom", "command": "npx", "args": ["convoke", "acp", "demo"] } }\n',
    )
    .action(async (agentName: string, _options: unknown, command: Command) => {
      const convoke = await connect(command);
      const { serveAcp } = await import('../../faces/acp/serve.ts');
      await serveAcp({
        convoke,
        agentName,
        version: ownVersion(),
        linkTo: (runId) => consoleLink(convoke, runId),
      });
    });
}
