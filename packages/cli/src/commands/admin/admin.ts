import { Command } from 'commander';
import { example } from '../../options/options.ts';
import { keysCommand } from './keys.ts';
import { memberCommand } from './member.ts';
import { organizationCommand } from './organization.ts';
import { tokenCommand } from './token.ts';

/** What whoever has the machine may do. Every command works while the server runs, and is audited. */
export function adminCommand(): Command {
  return new Command('admin')
    .description('Organizations, members, tokens and keys, on the machine itself')
    .addCommand(organizationCommand())
    .addCommand(memberCommand())
    .addCommand(tokenCommand())
    .addCommand(keysCommand())
    .addHelpText(
      'after',
      '\nThese commands work on the database that CONVOKE_DATA_DIR or CONVOKE_DATABASE_URL names,\n' +
        'also while a server runs on it. Each leaves a row in the audit.\n',
    )
    .addHelpText('after', example('admin token --email ann@example.com'));
}
