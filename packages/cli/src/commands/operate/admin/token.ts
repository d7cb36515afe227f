import { Command } from 'commander';
import { operating, report } from '../../../operating.ts';
import { seconds } from '../../../options/durations.ts';
import { example } from '../../../options/options.ts';

interface TokenOptions {
  readonly email: string;
  readonly ttl: number;
}

const defaultTtl = '15m';

export function tokenCommand(): Command {
  return new Command('token')
    .description('Issue an access token for a member, for use without signing in')
    .requiredOption('--email <address>', 'email of the member')
    .option('--ttl <time>', 'lifetime: 90s, 15m, 8h, 2d; at most 30d', seconds, seconds(defaultTtl))
    .addHelpText('after', example('admin token --email ann@example.com --ttl 8h'))
    .addHelpText('after', '\nWith --json prints {"access_token", "expires_at"}.\n')
    .action(async ({ email, ttl }: TokenOptions, command: Command) => {
      const issued = await operating((operator) => operator.issueToken(email, ttl));
      const expires_at = new Date(issued.expiresAt).toISOString();
      report(command, { access_token: issued.token, expires_at }, issued.token);
    });
}
