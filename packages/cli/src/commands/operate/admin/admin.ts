import { Command } from 'commander';
import { example } from '../../../options/options.ts';
import { keysCommand } from './keys.ts';
import { memberCommand } from './member.ts';
import { organizationCommand } from './organization.ts';
import { tokenCommand } from './token.ts';

/** Commands for the operator of the machine. Each works while the server runs, and is audited. */
export function adminCommand(): Command {
  return new Command('admin')
    .description('Manage organizations, members, tokens and keys on this machine')
    .addCommand(organizationCommand())
    .addCommand(memberCommand())
    .addCommand(tokenCommand())
    .addCommand(keysCommand())
    .addHelpText(
      'after',
      '\nThese commands work on the database set by CONVOKE_DATA_DIR or CONVOKE_DATABASE_URL,\n' +
        'even while a server is running. Each is recorded in the audit log.\n',
    )
    .addHelpText('after', example('admin token --email ann@example.com'));
}
