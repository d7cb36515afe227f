import { Command, InvalidArgumentError } from 'commander';
import { patiently } from '../../faces/patience.ts';
import { seconds } from '../../options/durations.ts';
import { example } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { usedLogin } from '../../sign-in/used-login.ts';
import { print } from '../../terminal/output.ts';

const waitMaxSeconds = 3600;

interface McpOptions {
  /** In seconds. */
  readonly wait?: number;
  readonly url?: true;
}

export function mcpCommand(): Command {
  return new Command('mcp')
    .description('Offer agents as tools to an assistant, over the Model Context Protocol')
    .argument('[agents...]', 'names of the agents to offer; all of them if none is named')
    .option(
      '--wait <time>',
      'how long a call waits for its run: 45 (the default), 90s, 1h',
      readWait,
    )
    .option('--url', 'print the address for programs that send a token themselves, and end')
    .addHelpText('after', example('mcp demo'))
    .addHelpText(
      'after',
      '\nThe assistant starts this command and talks to it on standard input and output:\n' +
        '  claude mcp add convoke -- npx convoke mcp\n' +
        'A call that takes longer than --wait returns the id of its run, for the tool convoke_wait. Permissions are given by\n' +
        "a person: in a form of the assistant's, or in the console. The assistant's model cannot give them.\n",
    )
    .action(async (agents: string[], { wait, url: isAsked }: McpOptions, command: Command) => {
      const convoke = await connect(command);
      const place = await patiently(() => convoke.whoami());
      const base = usedLogin()?.baseUrl.replace(/\/$/, '') ?? '';
      const url = new URL(`${base}/v1/mcp/${place.organization_id}/${place.tenant_id}`);
      if (agents.length > 0) url.searchParams.set('agents', agents.join(','));
      if (wait !== undefined) url.searchParams.set('wait', String(wait));
      if (isAsked === true) return print(url.href);
      const { serveMcp } = await import('../../faces/mcp/serve.ts');
      await serveMcp({ fetch: convoke.fetch, url: url.href });
    });
}

function readWait(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : seconds(text);
  if (value >= 1 && value <= waitMaxSeconds) return value;
  throw new InvalidArgumentError('Must be at least a second and at most an hour.');
}
