import type { JSX } from 'preact';
import type { RouteParams } from '../../data/routes.ts';
import { visible } from '../../data/formats.ts';
import { Empty } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { listMembers } from '../../session/api.ts';
import { usePages } from '../../session/use.ts';
import { ListScreen } from '../list-screen.tsx';

const meanings: Readonly<Record<string, string>> = {
  owner: 'manages the organization, runs and answers',
  admin: 'manages the organization, runs and answers',
  operator: 'runs and answers',
  viewer: 'reads',
  member: 'no access to tenants',
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
          People of the organization. <code>convoke admin member</code> on the server adds, changes
          and removes them.
        </>
      }
      list={list}
      idOf={({ user_id: id }) => id}
      columns={[
        {
          title: 'Person',
          class: 'clip wide-cell',
          cell: (member) => visible(member.email ?? member.user_id),
        },
        { title: 'Role', cell: (member) => member.role },
        {
          title: 'May',
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
