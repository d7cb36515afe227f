import type { SessionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { shortId } from '../../data/formats.ts';
import { addressOf } from '../../data/routes.ts';
import { Select } from '../../parts/field.tsx';
import { AgentFilter } from '../../parts/list/agent-filter.tsx';
import { NoMatch } from '../../parts/list/filter-field.tsx';
import { LabelFilter, labelColumns } from '../../parts/list/labels.tsx';
import { SavedViews } from '../../parts/list/saved-views.tsx';
import { type Column, PagedTable } from '../../parts/list/table.tsx';
import { Heading } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { listSessions } from '../../session/api.ts';
import { useRefreshOnNotice } from '../../session/live.ts';
import { usePages, useTenant, useTitle } from '../../session/use.ts';
import { place, setQuery } from '../../page/router.ts';

const statuses = ['idle', 'running', 'waiting', 'stopped', 'failed', 'terminated'] as const;

export function SessionsScreen(): JSX.Element {
  useTitle('Sessions');
  const tenant = useTenant();
  const { query } = place.value;
  const status = statuses.find((name) => name === query.get('status'));
  const agent = query.get('agent') ?? '';
  const label = query.get('label') ?? '';
  const list = usePages(
    [tenant.tenantId, status, agent, label],
    (cursor) => listSessions(tenant, { status, agent, label }, cursor),
    ({ id }) => id,
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('session_') || type.startsWith('run_'),
    () => list.refresh(),
  );
  return (
    <>
      <Heading title="Sessions" />
      <div class="filters">
        <Select
          name="Status"
          value={status ?? ''}
          choices={[
            { value: '', label: 'All statuses' },
            ...statuses.map((value) => ({ value, label: value })),
          ]}
          onChange={(value) => setQuery({ status: value })}
        />
        <AgentFilter value={agent} />
        <LabelFilter value={label} />
        <SavedViews screen="sessions" />
      </div>
      <PagedTable
        label="Sessions"
        list={list}
        idOf={({ id }) => id}
        columns={columnsFor(tenant.tenantId, list.rows.value)}
        empty={
          status === undefined && agent === '' && label === '' ? (
            <Empty title="No sessions yet.">
              <a href={addressOf('agents', { tenant: tenant.tenantId })}>Try an agent</a>
            </Empty>
          ) : (
            <NoMatch of="sessions" />
          )
        }
      />
    </>
  );
}

function columnsFor(
  tenant: string,
  rows: readonly SessionRecord[] | undefined,
): readonly Column<SessionRecord>[] {
  return [
    { title: 'Status', cell: (session) => <Status of={session.status} /> },
    {
      title: 'Session',
      class: 'clip wide-cell',
      cell: (session) => (
        <a
          class="row-link clip"
          data-row
          href={addressOf('session', { tenant, session: session.id })}
        >
          {titleOf(session)}
        </a>
      ),
    },
    { title: 'Agent', class: 'nowrap', cell: (session) => session.agent_name },
    ...labelColumns(rows, ({ labels }) => labels),
    {
      title: 'Waiting',
      optional: true,
      class: 'number',
      cell: (session) =>
        session.pending_interactions === 0 ? (
          ''
        ) : (
          <span class="waiting">{session.pending_interactions}</span>
        ),
    },
    {
      title: 'Last activity',
      optional: 'small',
      class: 'muted',
      cell: (session) => <Time at={session.updated_at} />,
    },
  ];
}

/** The title where the session has one, else the end of its id. */
export function titleOf(session: SessionRecord & { readonly title?: string | undefined }): string {
  return session.title ?? shortId(session.id);
}
