import { describePerson, getOrganization, listMembers } from '../../app/organizations.ts';
import { refuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { meView, memberView, organizationView } from '../views/organizations.ts';

export function organizationRoutes(
  services: Pick<Services, 'store'>,
  cursors: Cursors,
): Handlers<'get_organization' | 'list_members' | 'get_me'> {
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

    async get_me({ caller }) {
      if (caller.kind !== 'human') return refuse('forbidden', { codeOnly: true });
      const person = await describePerson(services, caller.userId, caller.memberships);
      return { status: 200, body: meView(person) };
    },
  };
}
