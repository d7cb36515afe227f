import type { ConnectionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { now } from '../page/clock.ts';
import { addressWith, place } from '../page/router.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/dialog.tsx';
import type { Column } from '../parts/list/table.tsx';
import { Empty } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Segments, type Tab } from '../parts/tabs.tsx';
import { Time, Until } from '../parts/time.tsx';
import { useRefreshOnNotice } from '../session/live.ts';
import { isManager, isSelf, personName, session } from '../session/session.ts';
import { usePages, useRight, useTenant } from '../session/use.ts';
import { ConnectionForm } from './connection-form.tsx';
import { ListScreen } from './list-screen.tsx';

/** Accounts of the tenant and of its end users, without their secrets (D-590). */
export function ConnectionsScreen(): JSX.Element {
  const { client, tenantId } = useTenant();
  const may = useWriting();
  const [act, setAct] = useState<Act | undefined>(undefined);
  const isMine = place.value.query.get('of') === 'me';
  const list = usePages(
    [tenantId, isMine],
    (cursor) => {
      const end_user = isMine ? may.me : undefined;
      return client.connections.list({ end_user, limit: 50, cursor }).page();
    },
    ({ id }) => id,
  );
  useRefreshOnNotice(
    ({ type }) => type === 'connection_expired',
    () => list.refresh(),
  );
  const forms = { me: may.me, mayForTenant: may.manages, onStored: () => list.refresh() };
  return (
    <ListScreen
      title="Connections"
      about="Accounts that agents use: those of the tenant, and those of its end users."
      list={list}
      idOf={({ id }) => id}
      columns={[...columns, actions(may, setAct)]}
      empty={
        <Empty title={isMine ? 'No connections of your own yet.' : 'No connections yet.'}>
          <span>An agent that names a service uses the account that is connected for it.</span>
        </Empty>
      }
      create={{
        label: 'Add connection',
        isAllowed: may.writes,
        form: (close) => <ConnectionForm {...forms} onClose={close} />,
      }}
    >
      <div class="filters">
        <Segments label="Owner" tabs={[ownerTab('All', undefined), ownerTab('Mine', 'me')]} />
      </div>
      {act?.kind === 'replace' && (
        <ConnectionForm {...forms} replaced={act.connection} onClose={() => setAct(undefined)} />
      )}
      {act?.kind === 'revoke' && (
        <Confirm
          title={`Revoke ${named(act.connection)}?`}
          action="Revoke"
          onConfirm={async () => {
            const { service, end_user } = act.connection;
            await client.connections.delete(service, { end_user });
            await list.refresh();
          }}
          onClose={() => setAct(undefined)}
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

interface Act {
  readonly kind: 'replace' | 'revoke';
  readonly connection: ConnectionRecord;
}

/** D-595: what this person may write. Accounts of users of the product are the business of its client. */
interface Writing {
  readonly me: string;
  readonly writes: boolean;
  readonly manages: boolean;
}

function useWriting(): Writing {
  const { organizationId } = useTenant();
  const writes = useRight('connections:write');
  const state = session.value;
  const me = state.kind === 'in' ? state.me.user_id : '';
  return { me, writes, manages: writes && isManager(organizationId) };
}

function ownerTab(name: string, of: string | undefined): Tab {
  const isCurrent = (place.value.query.get('of') ?? undefined) === of;
  return { name, href: addressWith({ of }), isCurrent };
}

const columns: readonly Column<ConnectionRecord>[] = [
  {
    title: 'Status',
    class: 'account-status',
    cell: (connection) => {
      const reason = hasEnded(connection) ? 'no_refresh' : connection.status_reason;
      return (
        <>
          <Status of={hasEnded(connection) ? 'expired' : connection.status} />
          {reason !== undefined && (
            <div class="muted small status-reason">
              {`${reasonWords[reason]}: connect it again`}
            </div>
          )}
        </>
      );
    },
  },
  { title: 'Service', class: 'service-cell', cell: ({ service }) => <code>{service}</code> },
  {
    title: 'Owner',
    class: 'clip wide-cell',
    cell: (connection) => <span title={connection.end_user}>{ownerOf(connection)}</span>,
  },
  {
    title: 'Token expires',
    optional: true,
    class: 'muted nowrap',
    cell: (connection) => {
      const { auth } = connection;
      if (auth.expires_at === undefined) return 'never';
      if (hasEnded(connection)) return <Time at={auth.expires_at} />;
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

function actions(may: Writing, onAct: (act: Act) => void): Column<ConnectionRecord> {
  const button = (label: string, isAllowed: boolean, act: Act) => (
    <Button
      size="small"
      kind="quiet"
      isAllowed={isAllowed}
      ariaLabel={`${label} ${named(act.connection)}`}
      onClick={() => onAct(act)}
    >
      {label}
    </Button>
  );
  return {
    title: 'Actions',
    class: 'number',
    cell: (connection) => {
      const { end_user: endUser } = connection;
      const isMine = endUser === may.me;
      return (
        <>
          {(isMine || endUser === undefined) &&
            button('Replace', isMine ? may.writes : may.manages, { kind: 'replace', connection })}
          {button('Revoke', isMine ? may.writes : may.manages, { kind: 'revoke', connection })}
        </>
      );
    },
  };
}

/** The token has ended, and nothing refreshes it: no run can use it, though none may have noticed yet. */
function hasEnded({ status, auth }: ConnectionRecord): boolean {
  const { expires_at: end, refreshes = false } = auth;
  return status === 'connected' && !refreshes && end !== undefined && Date.parse(end) <= now.value;
}

const reasonWords: Readonly<Record<NonNullable<ConnectionRecord['status_reason']>, string>> = {
  no_refresh: 'its token has ended',
  refresh_refused: 'the service refused to refresh it',
  refresh_lost: 'the answer to its refresh was lost',
  rejected: 'the service refused it',
  unreadable: 'sealed with another master key',
};

function ownerOf({ end_user: endUser }: ConnectionRecord): string {
  if (endUser === undefined) return 'the tenant';
  return isSelf({ user_id: endUser }) ? 'you' : endUser;
}

function named(connection: ConnectionRecord): string {
  return `${connection.service} of ${ownerOf(connection)}`;
}
