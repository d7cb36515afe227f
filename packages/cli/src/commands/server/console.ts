import { Command } from 'commander';
import { Failure } from '../../failure.ts';
import { operating, report } from '../../operating.ts';
import { example } from '../../options/options.ts';

export function consoleCommand(): Command {
  return new Command('console')
    .description('Print a link that opens the console in a local browser, signed in')
    .option('--email <address>', 'email of the person to sign in (default: the quickstart owner)')
    .addHelpText('after', example('console'))
    .addHelpText(
      'after',
      `
The link works once, for ten minutes, and only in a browser on the machine of the server. It needs the
data folder of the server, like \`convoke admin\`. On other machines people sign in with a password:
see \`convoke admin member password --help\`. With --json prints {"url"}.
`,
    )
    .action(async ({ email }: { email?: string }, command: Command) => {
      const url = await operating((operator) => operator.signInLink(email));
      if (url === undefined) throw new Failure(nowhere);
      report(command, { url }, url);
    });
}

const nowhere =
  'No link: the console is off, another issuer handles sign-in, or the server is not on this machine. ' +
  'Give the person a password with `convoke admin member password`, and open <address>/console/.';
