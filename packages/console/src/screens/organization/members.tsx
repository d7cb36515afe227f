import type { InvitationRecord, MemberRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { inBackground } from '../../data/in-background.ts';
import type { PagedList } from '../../data/pages.ts';
import { roleMeanings } from '../../data/roles.ts';
import type { RouteParams } from '../../data/routes.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { type Column, PagedTable } from '../../parts/list/table.tsx';
import { Empty } from '../../parts/states.tsx';
import { Time, Until } from '../../parts/time.tsx';
import { listMembers } from '../../session/api.ts';
import { nameOfPerson } from '../../session/session.ts';
import { organizationClient } from '../../session/tenant-clients.ts';
import { usePages } from '../../session/use.ts';
import { ListScreen } from '../list-screen.tsx';
import { InvitationLink, InviteForm } from './invite-form.tsx';
import { type MemberAction, MemberDialog, MemberMenu } from './member-actions.tsx';

export function MembersScreen({ org = '' }: RouteParams): JSX.Element {
  const [link, setLink] = useState<string | undefined>(undefined);
  const [managed, setManaged] = useState<ManagedMember | undefined>(undefined);
  const list = usePages(
    [org],
    (cursor) => listMembers(org, cursor),
    ({ user_id: id }) => id,
  );
  const invitations = usePages(
    [org],
    (cursor) => organizationClient(org).invitations.list({ limit: 50, cursor }).page(),
    ({ id }) => id,
  );
  return (
    <ListScreen
      title="Members"
      about="People in this organization."
      list={list}
      idOf={({ user_id: id }) => id}
      columns={columnsOf(org, setManaged)}
      empty={<Empty title="No members." />}
      create={{
        label: 'Invite',
        form: (close) => (
          <InviteForm
            org={org}
            onClose={close}
            onIssued={({ url, secret }) => {
              setLink(url ?? secret);
              inBackground(invitations.refresh());
            }}
          />
        ),
      }}
    >
      {managed !== undefined && (
        <MemberDialog
          org={org}
          {...managed}
          onChanged={() => list.refresh()}
          onClose={() => setManaged(undefined)}
        />
      )}
      {link !== undefined && <InvitationLink link={link} onDone={() => setLink(undefined)} />}
      {list.error.value === undefined && <OpenInvitations org={org} list={invitations} />}
    </ListScreen>
  );
}

interface ManagedMember {
  readonly member: MemberRecord;
  readonly action: MemberAction;
}

function columnsOf(
  org: string,
  manage: (managed: ManagedMember) => void,
): readonly Column<MemberRecord>[] {
  return [
    {
      title: 'Person',
      class: 'clip wide-cell',
      cell: (member) => (
        <>
          {nameOfPerson(member)}
          {member.name !== undefined && member.email !== undefined && (
            <span class="muted">{` ${member.email}`}</span>
          )}
        </>
      ),
    },
    { title: 'Role', cell: (member) => member.role },
    {
      title: 'Permissions',
      optional: true,
      class: 'muted nowrap',
      cell: (member) => roleMeanings[member.role] ?? '',
    },
    {
      title: 'Since',
      optional: true,
      class: 'muted',
      cell: (member) => <Time at={member.created_at} />,
    },
    {
      title: 'Actions',
      class: 'number nowrap',
      cell: (member) => (
        <MemberMenu org={org} member={member} onChoose={(action) => manage({ member, action })} />
      ),
    },
  ];
}

/** Only where there are any: most of the time nothing is open. */
function OpenInvitations(props: {
  readonly org: string;
  readonly list: PagedList<InvitationRecord>;
}): JSX.Element | null {
  const { org, list } = props;
  const [revoked, setRevoked] = useState<InvitationRecord | undefined>(undefined);
  if ((list.rows.value ?? []).length === 0 && list.error.value === undefined) return null;
  return (
    <section class="stack tight" aria-label="Open invitations">
      <h2>Open invitations</h2>
      <PagedTable
        label="Open invitations"
        list={list}
        idOf={({ id }) => id}
        columns={[
          {
            title: 'For',
            class: 'clip wide-cell',
            cell: ({ email }) => email ?? <span class="muted">Anyone with the link</span>,
          },
          { title: 'Role', cell: ({ role }) => role },
          {
            title: 'Invited by',
            optional: true,
            class: 'nowrap muted',
            cell: ({ created_by: id, created_by_name: name }) => name ?? id,
          },
          {
            title: 'Expires',
            optional: true,
            class: 'muted nowrap',
            cell: ({ expires_at: at }) => <Until at={at} before="" />,
          },
          {
            title: 'Actions',
            class: 'number nowrap',
            cell: (invitation) => (
              <Button size="small" kind="quiet" onClick={() => setRevoked(invitation)}>
                Revoke
              </Button>
            ),
          },
        ]}
        empty={null}
      />
      {revoked !== undefined && (
        <Confirm
          title="Revoke this invitation?"
          action="Revoke"
          onConfirm={async () => {
            await organizationClient(org).invitations.revoke(revoked.id);
            await list.refresh();
          }}
          onClose={() => setRevoked(undefined)}
        >
          <p>The link stops working. You can invite the person again.</p>
        </Confirm>
      )}
    </section>
  );
}
