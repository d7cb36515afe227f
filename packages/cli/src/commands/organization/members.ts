import type { MemberRecord, MemberRole } from '@convoke/sdk';
import { Argument, Command, Option } from 'commander';
import { collect } from '../../collect.ts';
import { completeId } from '../../complete-id.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, organizationOption } from '../../options/options.ts';
import { connectPerson } from '../../sign-in/person.ts';
import { print, printJson, remark } from '../../terminal/output.ts';
import { printTable } from '../../terminal/table.ts';
import { age, moment } from '../../terminal/times.ts';
import { printResult, recordCommands } from '../record-command.ts';

const roles = ['owner', 'admin', 'operator', 'viewer', 'member'] as const;

type PersonConnection = Awaited<ReturnType<typeof connectPerson>>;

export function membersCommand(): Command {
  return new Command('members')
    .description('List, invite, change and remove the people of the organization')
    .addCommand(listMembers(), { isDefault: true })
    .addCommand(invite())
    .addCommand(listInvitations())
    .addCommand(revokeInvitation())
    .addCommand(changeRole())
    .addCommand(removeMember())
    .addCommand(signOutMember())
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

/** Members are named by their address, or by the beginning of their id. */
async function memberOf({ admin }: PersonConnection, typed: string): Promise<MemberRecord> {
  const members = await collect(admin.members.list());
  const known = members.find(({ email }) => email === typed.toLowerCase());
  if (known !== undefined) return known;
  const id = await completeId(typed, idsOf(members));
  const found = members.find(({ user_id: one }) => one === id);
  if (found === undefined) throw new Error(`${typed} is not a member of the organization`);
  return found;
}

async function* idsOf(members: readonly MemberRecord[]) {
  for (const { user_id: id } of members) yield { id };
}

const memberCommand = recordCommands({
  group: 'members',
  argument: ['<member>', 'email address or id of the member, usr_…'],
  sample: 'bob@acme.example',
  options: () => [organizationOption()],
  connect: connectPerson,
  find: memberOf,
});

function nameOf({ email, name, user_id: id }: MemberRecord): string {
  return email ?? name ?? id;
}

function changeRole(): Command {
  return new Command('role')
    .description('Give a member another role')
    .addHelpText('after', example('members role bob@acme.example viewer'))
    .argument('<member>', 'email address or id of the member, usr_…')
    .addArgument(new Argument('<role>', 'the new role').choices(roles))
    .addOption(organizationOption())
    .action(async (typed: string, role: MemberRole, _options: unknown, command: Command) => {
      const person = await connectPerson(command);
      const { user_id: id } = await memberOf(person, typed);
      const member = await person.admin.members.update(id, { role });
      await printResult(command, member, () => print(`${nameOf(member)} is ${member.role} now`));
    });
}

const removeMember = memberCommand({
  name: 'remove',
  about: 'Remove a member: the person has no access from the next request on',
  async call({ admin }, member) {
    await admin.members.remove(member.user_id);
    return { ...member, removed: true };
  },
  print: (member) => print(`${nameOf(member)} removed`),
});

const signOutMember = memberCommand({
  name: 'sign-out',
  about: 'End every sign-in and every token of a member',
  async call({ admin }, member) {
    await admin.members.signOut(member.user_id);
    return { ...member, signed_out: true };
  },
  print: (member) => print(`${nameOf(member)} signed out everywhere`),
});

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
