import { Command, InvalidArgumentError } from 'commander';
import { consoleLink } from '../../console-link.ts';
import { seconds } from '../../options/durations.ts';
import { example } from '../../options/options.ts';
import { ownVersion } from '../../own-version.ts';
import { connect } from '../../sign-in/connection.ts';

/** D-218: some assistants give up after a minute and cannot be told otherwise. */
const usualWaitSeconds = 45;
const waitMaxSeconds = 86_400;

export function mcpCommand(): Command {
  return new Command('mcp')
    .description('Offer agents as tools to an assistant, over the Model Context Protocol')
    .argument('[agents...]', 'names of the agents to offer; all of them if none is named')
    .option(
      '--wait <time>',
      'how long a call waits for its run: 45, 90s, 1h',
      readWait,
      usualWaitSeconds,
    )
    .addHelpText('after', example('mcp demo'))
    .addHelpText(
      'after',
      '\nThe assistant starts this command and talks to it on standard input and output:\n' +
        '  claude mcp add convoke -- npx convoke mcp\n' +
        'A call that takes longer than --wait returns the id of its run, for the tool convoke_wait. Permissions are given by\n' +
        "a person: in a form of the assistant's, or in the console. The assistant's model cannot give them.\n",
    )
    .action(async (agents: string[], { wait }: { readonly wait: number }, command: Command) => {
      const convoke = await connect(command);
      const { serveMcp } = await import('../../faces/mcp/serve.ts');
      const { OfferedAgents } = await import('../../faces/mcp/tools.ts');
      await serveMcp({
        convoke,
        offered: new OfferedAgents(convoke, agents),
        waitMs: wait * 1000,
        linkTo: (runId) => consoleLink(convoke, runId),
        version: ownVersion(),
      });
    });
}

function readWait(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : seconds(text);
  if (value >= 1 && value <= waitMaxSeconds) return value;
  throw new InvalidArgumentError('Must be at least a second and at most a day.');
}
