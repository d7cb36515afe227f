import { text } from 'node:stream/consumers';
import type { Role } from '@convoke/server';
import { Command, Option } from 'commander';
import { operating, report } from '../../../operating.ts';
import { example } from '../../../options/options.ts';

const roles = ['owner', 'admin', 'operator', 'viewer', 'member'] as const satisfies readonly Role[];

interface AddOptions {
  readonly org: string;
  readonly email: string;
  readonly role: Role;
}

export function memberCommand(): Command {
  const add = new Command('add')
    .description('Add a person to an organization, or change the role of a member')
    .addHelpText(
      'after',
      example('admin member add --org org_… --email ann@example.com --role owner'),
    )
    .requiredOption('--org <id>', 'organization id')
    .requiredOption('--email <address>', 'email of the person')
    .addOption(
      new Option('--role <role>', 'role in the organization').choices(roles).makeOptionMandatory(),
    )
    .action(async ({ org, email, role }: AddOptions, command: Command) => {
      const { user } = await operating((operator) =>
        operator.addMember({ organization: org, email, role }),
      );
      const facts = { organization_id: org, user_id: user.id, email: user.email, role };
      report(command, facts, `${user.email} is ${role} of ${org}.`);
    });
  return new Command('member')
    .description('Manage the members of organizations')
    .addCommand(add)
    .addCommand(removeCommand())
    .addCommand(passwordCommand())
    .addCommand(signOutCommand())
    .addHelpText(
      'after',
      example('admin member add --org org_… --email ann@example.com --role owner'),
    );
}

function removeCommand(): Command {
  return new Command('remove')
    .description('Remove a person from an organization; takes effect on their next request')
    .addHelpText('after', example('admin member remove --org org_… --email ann@example.com'))
    .requiredOption('--org <id>', 'organization id')
    .requiredOption('--email <address>', 'email of the member')
    .action(async ({ org, email }: Omit<AddOptions, 'role'>, command: Command) => {
      const { user, membership } = await operating((operator) =>
        operator.removeMember({ organization: org, email }),
      );
      const { role } = membership;
      const facts = { organization_id: org, user_id: user.id, email: user.email, role };
      report(command, facts, `${user.email} is no longer ${role} of ${org}.`);
    });
}

interface PasswordOptions {
  readonly email: string;
  readonly stdin?: true;
}

function passwordCommand(): Command {
  return new Command('password')
    .description('Set the password of a member, and sign them out everywhere')
    .addHelpText('after', example('admin member password --email ann@example.com'))
    .requiredOption('--email <address>', 'email of the member')
    .option(
      '--stdin',
      'read the password from standard input instead of generating a one-time password',
    )
    .action(async ({ email, stdin }: PasswordOptions, command: Command) => {
      const given = stdin === true ? firstLine(await text(process.stdin)) : undefined;
      const made = await operating((operator) => operator.setPassword(email, given));
      if (made === undefined) return report(command, { email }, `${email} has a new password.`);
      const how = 'One-time password, valid for 24 hours. The member chooses a new one at sign-in.';
      report(command, { email, one_time_password: made }, `${made}\n${how}`);
    });
}

function signOutCommand(): Command {
  return new Command('sign-out')
    .description('End every sign-in and every token of a member')
    .addHelpText('after', example('admin member sign-out --email ann@example.com'))
    .requiredOption('--email <address>', 'email of the member')
    .action(async ({ email }: Pick<PasswordOptions, 'email'>, command: Command) => {
      await operating((operator) => operator.signOut(email));
      report(command, { email }, `${email} is signed out everywhere. Earlier tokens are refused.`);
    });
}

function firstLine(given: string): string {
  return given.split(/\r?\n/, 1)[0] ?? '';
}
