import type { Services } from '../../app/services.ts';
import { listWorkspaces } from '../../app/workspaces.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { callerView, workspaceView } from '../views/workspaces.ts';

export function workspaceRoutes(
  services: Pick<Services, 'store' | 'settings'>,
  cursors: Cursors,
): Handlers<'list_workspaces' | 'whoami'> {
  return {
    async list_workspaces({ caller, query }) {
      const { items, next } = await cursors.page(`workspaces:${caller.subject}`, query, {
        read: (page) => listWorkspaces(services, caller.reach, page),
        idOf: ({ tenant }) => tenant.id,
      });
      return { status: 200, body: { workspaces: items.map(workspaceView), ...next } };
    },

    whoami({ caller }) {
      return { status: 200, body: callerView(caller, services.settings.fileAttachments) };
    },
  };
}
