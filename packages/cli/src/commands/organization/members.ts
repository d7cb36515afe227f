import type { MemberRole } from '@convoke/sdk';
import { Command, Option } from 'commander';
import { collect } from '../../collect.ts';
import { completeId } from '../../complete-id.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, organizationOption } from '../../options/options.ts';
import { connectPerson } from '../../sign-in/person.ts';
import { print, printJson, remark } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';
import { age, moment } from '../../terminal/times.ts';

export function membersCommand(): Command {
  return new Command('members')
    .description('List the people of the organization, and invite others')
    .addCommand(listMembers(), { isDefault: true })
    .addCommand(invite())
    .addCommand(listInvitations())
    .addCommand(revokeInvitation())
    .addHelpText('after', example('members invite --role operator'));
}

function listMembers(): Command {
  return new Command('list')
    .description('List members, newest first')
    .addHelpText('after', example('members list'))
    .addOption(organizationOption())
    .action(async (_options: unknown, command: Command) => {
      const members = await collect((await connectPerson(command)).admin.members.list());
      if (globalOptions(command).json) return printJson({ members });
      printTable(
        ['MEMBER', 'ROLE', 'AGE', 'EMAIL', 'NAME'],
        members.map((item) => [
          item.user_id,
          item.role,
          age(item.created_at),
          item.email ?? '',
          item.name ?? '',
        ]),
      );
    });
}

const roles = ['owner', 'admin', 'operator', 'viewer', 'member'] as const;

interface InviteOptions {
  readonly role: MemberRole;
  readonly email?: string;
}

function invite(): Command {
  return new Command('invite')
    .description('Create a link that lets one person join, and show it once')
    .addHelpText('after', example('members invite --role operator --email bob@acme.example'))
    .addOption(
      new Option('--role <role>', 'role that the person gets').choices(roles).makeOptionMandatory(),
    )
    .option('--email <address>', 'only the person with this address can accept')
    .addOption(organizationOption())
    .action(async ({ role, email }: InviteOptions, command: Command) => {
      const { admin } = await connectPerson(command);
      const bound = email === undefined ? {} : { email };
      const issued = await admin.invitations.create({ role, ...bound });
      if (globalOptions(command).json) return printJson(issued);
      print(issued.url ?? issued.secret);
      remark(
        `Send this to the person. It works once, until ${moment(issued.invitation.expires_at)}.`,
      );
    });
}

function listInvitations(): Command {
  return new Command('invitations')
    .description('List invitations that can still be accepted')
    .addHelpText('after', example('members invitations'))
    .addOption(organizationOption())
    .action(async (_options: unknown, command: Command) => {
      const { admin } = await connectPerson(command);
      const invitations = await collect(admin.invitations.list());
      if (globalOptions(command).json) return printJson({ invitations });
      printTable(
        ['INVITATION', 'ROLE', 'EXPIRES', 'INVITED BY', 'FOR'],
        invitations.map((item) => [
          item.id,
          item.role,
          moment(item.expires_at),
          item.created_by_name ?? item.created_by,
          item.email ?? 'anyone with the link',
        ]),
      );
    });
}

function revokeInvitation(): Command {
  return new Command('revoke')
    .description('Revoke an invitation: its link stops working')
    .addHelpText('after', example('members revoke inv_…'))
    .argument('<invitation>', 'id of the invitation, inv_…')
    .addOption(organizationOption())
    .action(async (typed: string, _options: unknown, command: Command) => {
      const { admin } = await connectPerson(command);
      const id = await completeId(typed, admin.invitations.list());
      await admin.invitations.revoke(id);
      if (globalOptions(command).json) return printJson({ id, revoked: true });
      print(`${id} revoked`);
    });
}
