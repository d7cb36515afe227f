import type { JSX } from 'preact';
import type { RouteParams } from '../../data/routes.ts';
import { Empty } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { listMembers } from '../../session/api.ts';
import { usePages } from '../../session/use.ts';
import { ListScreen } from '../list-screen.tsx';

const meanings: Readonly<Record<string, string>> = {
  owner: 'Manage the organization, run agents, answer requests',
  admin: 'Manage the organization, run agents, answer requests',
  operator: 'Run agents, answer requests',
  viewer: 'Read only',
  member: 'No access to tenants',
};

export function MembersScreen({ org = '' }: RouteParams): JSX.Element {
  const list = usePages(
    [org],
    (cursor) => listMembers(org, cursor),
    ({ user_id: id }) => id,
  );
  return (
    <ListScreen
      title="Members"
      about={
        <>
          People in this organization. Manage them with <code>convoke admin member</code> on the
          server.
        </>
      }
      list={list}
      idOf={({ user_id: id }) => id}
      columns={[
        {
          title: 'Person',
          class: 'clip wide-cell',
          cell: (member) => member.email ?? member.user_id,
        },
        { title: 'Role', cell: (member) => member.role },
        {
          title: 'Permissions',
          optional: true,
          class: 'muted nowrap',
          cell: (member) => meanings[member.role] ?? '',
        },
        {
          title: 'Since',
          optional: true,
          class: 'muted',
          cell: (member) => <Time at={member.created_at} />,
        },
      ]}
      empty={<Empty title="No members." />}
    />
  );
}
