import { describePerson, getOrganization, listMembers } from '../../app/organizations.ts';
import { removeMember, signOutMember, updateMember } from '../../app/people/members.ts';
import { refuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import { actorOf } from '../actor.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { meView, memberView, organizationView } from '../views/organizations.ts';

type OrganizationOperations =
  | 'get_organization'
  | 'list_members'
  | 'update_member'
  | 'remove_member'
  | 'sign_out_member'
  | 'get_me';

type MemberCall = Pick<Parameters<Handlers['remove_member']>[0], 'caller' | 'params' | 'request'>;

export function organizationRoutes(
  services: Pick<Services, 'store' | 'clock' | 'fanout'>,
  cursors: Cursors,
): Handlers<OrganizationOperations> {
  const managed = ({ caller, params, request }: MemberCall) => ({
    organizationId: caller.organizationId,
    userId: params.user_id,
    manager: caller,
    by: actorOf(caller, request),
  });
  return {
    async get_organization({ caller }) {
      const overview = await getOrganization(services, caller.organizationId);
      return { status: 200, body: organizationView(overview, caller.role) };
    },

    async list_members({ caller, query }) {
      const { organizationId } = caller;
      const { items, next } = await cursors.page(`members:${organizationId}`, query, {
        read: (page) => listMembers(services, organizationId, page),
        idOf: ({ user }) => user.id,
      });
      return { status: 200, body: { members: items.map(memberView), ...next } };
    },

    async update_member(call) {
      const { role } = call.body;
      const member = await updateMember(services, { ...managed(call), role });
      return { status: 200, body: memberView(member) };
    },

    async remove_member(call) {
      await removeMember(services, managed(call));
      return { status: 204, body: undefined };
    },

    async sign_out_member(call) {
      await signOutMember(services, managed(call));
      return { status: 204, body: undefined };
    },

    async get_me({ caller }) {
      if (caller.kind !== 'human') return refuse('forbidden', { codeOnly: true });
      const person = await describePerson(services, caller.userId, caller.memberships);
      return { status: 200, body: meView(person) };
    },
  };
}
