import { text } from 'node:stream/consumers';
import type { Role } from '@convoke/server';
import { Command, Option } from 'commander';
import { operating, report } from '../../../operating.ts';
import { globalOptions } from '../../../options/global-options.ts';
import { example } from '../../../options/options.ts';
import { printJson } from '../../../terminal/output.ts';
import { printTable } from '../../../terminal/table.ts';
import { moment } from '../../../terminal/times.ts';

const roles = ['owner', 'admin', 'operator', 'viewer', 'member'] as const satisfies readonly Role[];

interface AddOptions {
  readonly org?: string;
  readonly email: string;
  readonly role: Role;
}

export function memberCommand(): Command {
  const add = new Command('add')
    .description('Add a person to an organization, or change the role of a member')
    .addHelpText('after', example('admin member add --email ann@example.com --role owner'))
    .addOption(orgOption())
    .requiredOption('--email <address>', 'email of the person')
    .addOption(
      new Option('--role <role>', 'role in the organization').choices(roles).makeOptionMandatory(),
    )
    .action(async ({ org, email, role }: AddOptions, command: Command) => {
      const { user, membership } = await operating((operator) =>
        operator.addMember({ organization: org, email, role }),
      );
      const id = membership.organizationId;
      const facts = { organization_id: id, user_id: user.id, email: user.email, role };
      report(command, facts, `${user.email} is ${role} of ${id}.`);
    });
  return new Command('member')
    .description('Manage the members of organizations')
    .addCommand(add)
    .addCommand(listCommand())
    .addCommand(removeCommand())
    .addCommand(passwordCommand())
    .addCommand(signOutCommand())
    .addHelpText('after', example('admin member add --email ann@example.com --role owner'));
}

function orgOption(): Option {
  return new Option('--org <id>', 'organization ID (default: the only organization)');
}

function listCommand(): Command {
  return new Command('list')
    .description('List the members of an organization')
    .addHelpText('after', example('admin member list'))
    .addOption(orgOption())
    .action(async ({ org }: Pick<AddOptions, 'org'>, command: Command) => {
      const found = await operating((operator) => operator.listMembers(org));
      const members = found.map(({ user, role, createdAt }) => ({
        user_id: user.id,
        email: user.email,
        role,
        created_at: new Date(createdAt).toISOString(),
      }));
      if (globalOptions(command).json === true) return printJson({ members });
      printTable(
        ['EMAIL', 'ROLE', 'JOINED', 'ID'],
        members.map((member) => [
          member.email,
          member.role,
          moment(member.created_at),
          member.user_id,
        ]),
      );
    });
}

function removeCommand(): Command {
  return new Command('remove')
    .description('Remove a person from an organization; takes effect on their next request')
    .addHelpText('after', example('admin member remove --email ann@example.com'))
    .addOption(orgOption())
    .requiredOption('--email <address>', 'email of the member')
    .action(async ({ org, email }: Omit<AddOptions, 'role'>, command: Command) => {
      const { user, membership } = await operating((operator) =>
        operator.removeMember({ organization: org, email }),
      );
      const { role, organizationId: id } = membership;
      const facts = { organization_id: id, user_id: user.id, email: user.email, role };
      report(command, facts, `${user.email} is no longer ${role} of ${id}.`);
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
