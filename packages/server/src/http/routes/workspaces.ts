import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { callerView, workspaceView } from '../views/workspaces.ts';
import type { Services } from '../../app/services.ts';
import { listWorkspaces } from '../../app/workspaces.ts';
import type { AnyCaller } from '../../auth/gate.ts';

export function workspaceRoutes(
  services: Pick<Services, 'store' | 'settings'>,
  cursors: Cursors,
): Handlers<'list_workspaces' | 'whoami'> {
  return {
    async list_workspaces({ caller, query }) {
      const place = `workspaces:${caller.subject}`;
      const page = cursors.read(place, query);
      const items = await listWorkspaces(services, organizationsOf(caller), page);
      const cut = cursors.cut(place, page, { items, idOf: ({ tenant }) => tenant.id });
      return { status: 200, body: { workspaces: cut.items.map(workspaceView), ...cut.next } };
    },

    whoami({ caller }) {
      return { status: 200, body: callerView(caller, services.settings.fileAttachments) };
    },
  };
}

function organizationsOf(caller: AnyCaller) {
  return caller.kind === 'automation' ? [caller.client.organizationId] : caller.organizationIds;
}
