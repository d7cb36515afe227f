import type { ConnectionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/dialog.tsx';
import type { Column } from '../parts/list/table.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Time, Until } from '../parts/time.tsx';
import { useRefreshOnNotice } from '../session/live.ts';
import { personName, session } from '../session/session.ts';
import { usePages, useRight, useTenant } from '../session/use.ts';
import { ListScreen } from './list-screen.tsx';

/** Accounts of the tenant and of its end users, without their secrets (D-590). */
export function ConnectionsScreen(): JSX.Element {
  const { client, tenantId } = useTenant();
  const mayWrite = useRight('connections:write');
  const [revoked, setRevoked] = useState<ConnectionRecord | undefined>(undefined);
  const list = usePages(
    [tenantId],
    (cursor) => client.connections.list({ limit: 50, cursor }).page(),
    ({ id }) => id,
  );
  useRefreshOnNotice(
    ({ type }) => type === 'connection_expired',
    () => list.refresh(),
  );
  return (
    <ListScreen
      title="Connections"
      about="Accounts that agents use: those of the tenant, and those of its end users."
      list={list}
      idOf={({ id }) => id}
      columns={[...columns, actions(mayWrite, setRevoked)]}
      empty={
        <Empty title="No connections yet.">
          <span>An agent that names a service uses the account that is connected for it.</span>
        </Empty>
      }
    >
      {revoked !== undefined && (
        <Confirm
          title={`Revoke ${revoked.service} of ${ownerOf(revoked)}?`}
          action="Revoke"
          onConfirm={async () => {
            const { service, end_user } = revoked;
            await client.connections.delete(service, { end_user });
            await list.refresh();
          }}
          onClose={() => setRevoked(undefined)}
        >
          <p>
            The account is deleted here, and agents no longer get it. It stays valid at the service
            itself.
          </p>
        </Confirm>
      )}
    </ListScreen>
  );
}

const columns: readonly Column<ConnectionRecord>[] = [
  {
    title: 'Status',
    cell: ({ status, status_reason: reason }) => (
      <>
        <Status of={status} />
        {reason !== undefined && <div class="muted small">{reasonWords[reason]}</div>}
      </>
    ),
  },
  { title: 'Service', class: 'nowrap', cell: ({ service }) => <code>{service}</code> },
  {
    title: 'Owner',
    class: 'clip wide-cell',
    cell: (connection) => <span title={connection.end_user}>{ownerOf(connection)}</span>,
  },
  {
    title: 'Token expires',
    optional: true,
    class: 'muted nowrap',
    cell: ({ auth }) => {
      if (auth.expires_at === undefined) return 'never';
      return auth.refreshes === true ? 'refreshed' : <Until at={auth.expires_at} before="" />;
    },
  },
  {
    title: 'Last used',
    optional: true,
    class: 'muted nowrap',
    cell: ({ last_used_at: at }) => (at === undefined ? 'Not yet' : <Time at={at} />),
  },
  {
    title: 'Connected by',
    optional: true,
    class: 'muted clip',
    cell: ({ created_by: by, created_by_name: name }) => name ?? personName(by),
  },
];

function actions(
  mayWrite: boolean,
  onRevoke: (connection: ConnectionRecord) => void,
): Column<ConnectionRecord> {
  return {
    title: 'Actions',
    class: 'number nowrap',
    cell: (connection) => (
      <Button
        size="small"
        kind="quiet"
        isAllowed={mayWrite}
        ariaLabel={`Revoke ${connection.service} of ${ownerOf(connection)}`}
        onClick={() => onRevoke(connection)}
      >
        Revoke
      </Button>
    ),
  };
}

const reasonWords: Readonly<Record<NonNullable<ConnectionRecord['status_reason']>, string>> = {
  no_refresh: 'its token has ended',
  refresh_refused: 'the service refused to refresh it',
  refresh_lost: 'the answer to its refresh was lost',
  rejected: 'the service refused it',
  unreadable: 'sealed with another master key',
};

function ownerOf({ end_user: endUser }: ConnectionRecord): string {
  const state = session.value;
  if (endUser === undefined) return 'the tenant';
  return state.kind === 'in' && state.me.user_id === endUser ? 'you' : endUser;
}
