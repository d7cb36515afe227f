import type { Services } from '../../../app/services.ts';
import { type ListPlace, findListed, listTasks } from '../../../app/faces/a2a/task-list.ts';
import type { AgentTasks } from '../../../app/faces/a2a/tasks.ts';
import type { Cursors } from '../../cursors.ts';
import { readListParams } from './params.ts';

/** One page of the agent's tasks, with the token of the next one. */
export async function pageOfTasks(
  services: Pick<Services, 'store'>,
  at: AgentTasks,
  { cursors, params }: { readonly cursors: Cursors; readonly params: unknown },
) {
  const { pageSize, pageToken, ...query } = readListParams(params);
  const of = await findListed(services, at, query);
  const list = `a2a:${at.scope.tenantId}:${JSON.stringify([at.agentName, query.contextId, of?.phases])}`;
  const wanted = { limit: pageSize, order: 'desc', cursor: pageToken } as const;
  let totalSize = 0;
  const { items, next } = await cursors.page(list, wanted, {
    idOf: ({ place }: { readonly place: ListPlace }) => textOf(place),
    read: async ({ limit, after }) => {
      if (of === undefined) return [];
      const place = after === undefined ? undefined : placeIn(after);
      const page = await listTasks(services, at, { of, query, limit, after: place });
      totalSize = page.totalSize;
      return page;
    },
  });
  const { next_cursor: nextPageToken = '' } = next;
  return { tasks: items.map(({ task }) => task), nextPageToken, pageSize, totalSize };
}

function textOf({ statusAt, id, totalSize }: ListPlace): string {
  return [statusAt, id, totalSize].join(' ');
}

function placeIn(text: string): ListPlace {
  const [statusAt = '', id = '', totalSize = ''] = text.split(' ');
  return { statusAt: Number(statusAt), id, totalSize: Number(totalSize) };
}
