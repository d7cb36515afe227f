import type { JSX } from 'preact';
import type { RouteParams } from '../../data/routes.ts';
import { visible } from '../../data/formats.ts';
import { Heading } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { listMembers } from '../../session/api.ts';
import { usePages, useTitle } from '../../session/use.ts';

const meanings: Readonly<Record<string, string>> = {
  owner: 'manages the organization, runs and answers',
  admin: 'manages the organization, runs and answers',
  operator: 'runs and answers',
  viewer: 'reads',
  member: 'no access to tenants',
};

export function MembersScreen({ org = '' }: RouteParams): JSX.Element {
  useTitle('Members');
  const list = usePages(
    [org],
    (cursor) => listMembers(org, cursor),
    ({ user_id: id }) => id,
  );
  return (
    <>
      <Heading title="Members">
        <p class="muted">
          People of the organization. <code>convoke admin member</code> on the server adds, changes
          and removes them.
        </p>
      </Heading>
      <PagedTable
        label="Members"
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
            class: 'muted',
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
    </>
  );
}
