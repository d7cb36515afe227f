import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { firstWords, plural, short } from '../../data/formats.ts';
import { inBackground } from '../../data/in-background.ts';
import { bestToTry } from '../../data/ready-agents.ts';
import { addressOf } from '../../data/routes.ts';
import {
  canCancel,
  isVersion,
  mayBeginToWait,
  ratings,
  rowAfter,
  shownState,
} from '../../data/run-rows.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { AgentFilter } from '../../parts/list/agent-filter.tsx';
import { FilterText, NoMatch } from '../../parts/list/filter-field.tsx';
import { LabelFilter, labelColumns } from '../../parts/list/labels.tsx';
import { SavedViews } from '../../parts/list/saved-views.tsx';
import { SelectionBar, useSelection } from '../../parts/list/selection.tsx';
import { type Column, PagedTable } from '../../parts/list/table.tsx';
import { Heading } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Select } from '../../parts/field.tsx';
import { Status } from '../../parts/status.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { Time, Took } from '../../parts/time.tsx';
import { type RunSummary, listAgents, listRuns } from '../../session/api.ts';
import { actorName } from '../../session/actors.ts';
import { useNotices, useRefreshOnNotice, useRefreshWhile } from '../../session/live.ts';
import { baseUrl } from '../../session/code-flow.ts';
import { usePages, useResource, useRight, useTenant, useTitle } from '../../session/use.ts';
import { addressWith, place, setQuery } from '../../page/router.ts';
import { CancelRuns } from './cancel-runs.tsx';

const views = [
  ['', 'All'],
  ['active', 'In flight'],
  ['waiting', 'Waiting'],
  ['failed', 'Failed'],
] as const;

const ranges = [
  { value: '', label: 'Any time' },
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last 24 hours' },
  { value: '168', label: 'Last 7 days' },
];

interface FiltersShown {
  readonly status: string;
  readonly agent: string;
  readonly hours: string;
  readonly text: string;
  readonly label: string;
  readonly rating: string;
  readonly version: string;
}

export function RunsScreen(): JSX.Element {
  useTitle('Runs');
  const { query } = place.value;
  const field = (name: string) => query.get(name) ?? '';
  const filters = {
    status: field('status'),
    agent: field('agent'),
    hours: field('hours'),
    text: field('q'),
    label: field('label'),
    rating: field('rating'),
    version: field('version'),
  };
  return (
    <>
      <Heading title="Runs" />
      <Filters {...filters} />
      <RunsTable {...filters} />
    </>
  );
}

/** The rows change with the feed. Those that have not ended can be cancelled, one or several at a time. */
function RunsTable(filters: FiltersShown): JSX.Element {
  const { hours, ...shown } = filters;
  const tenant = useTenant();
  const list = usePages(
    [tenant.tenantId, JSON.stringify(filters)],
    (cursor) => listRuns(tenant, { ...shown, createdAfter: hoursAgo(hours) }, cursor),
    idOf,
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('run_'),
    () => list.refresh(),
  );
  useRefreshWhile(
    () => list.rows.peek()?.some(mayBeginToWait) === true,
    () => list.refresh(),
  );
  useNotices((notice) => {
    if (notice?.run_id === undefined) return;
    list.update(notice.run_id, (row) => rowAfter(row, notice));
  });
  const mayCancel = useRight('runs:write');
  const selection = useSelection((list.rows.value ?? []).filter(canCancel), idOf);
  useEffect(() => selection.clear(), [list]);
  const [asked, setAsked] = useState<readonly RunSummary[] | undefined>(undefined);
  const { selected } = selection;
  const isFiltered = Object.values(filters).some((value) => value !== '');
  const ask = (run: RunSummary) => setAsked([run]);
  return (
    <>
      <PagedTable
        label="Runs"
        list={list}
        columns={columnsFor(tenant.tenantId, list.rows.value, mayCancel ? ask : undefined)}
        idOf={idOf}
        selectable={mayCancel ? { selection, nameOf, all: 'Select all active runs' } : undefined}
        empty={isFiltered ? <NoMatch of="runs" /> : <NoRuns />}
      >
        {mayCancel && (
          <SelectionBar
            selection={selection}
            action={`Cancel ${plural(selected.length, 'run')}`}
            onAct={() => setAsked(selected)}
          />
        )}
      </PagedTable>
      {asked !== undefined && (
        <CancelRuns
          runs={asked}
          onClose={() => setAsked(undefined)}
          onRecorded={({ id, status: next, ended_at }) =>
            list.update(id, (row) => ({ ...row, status: next, ended_at }))
          }
          onDone={() => inBackground(list.refresh())}
        />
      )}
    </>
  );
}

function idOf({ id }: RunSummary): string {
  return id;
}

function nameOf(run: RunSummary): string {
  return `the run ${firstWords(run.preview, 40) || run.id} of ${run.agent_name}`;
}

function hoursAgo(hours: string): string | undefined {
  const count = Number(hours);
  return count > 0 ? new Date(Date.now() - count * 3_600_000).toISOString() : undefined;
}

function Filters(props: FiltersShown): JSX.Element {
  return (
    <div class="filters">
      <Segments
        label="State"
        tabs={views.map(([value, name]) => ({
          name,
          href: addressWith({ status: value }),
          isCurrent: props.status === value,
        }))}
      />
      <AgentFilter value={props.agent} />
      <Select
        name="Time range"
        value={props.hours}
        choices={ranges}
        onChange={(hours) => setQuery({ hours })}
      />
      <Select
        name="Rating"
        value={props.rating}
        choices={ratings}
        onChange={(rating) => setQuery({ rating })}
      />
      <span class="fields">
        <FilterText field="q" value={props.text} name="Search prompts" max={100} hasKey />
        <FilterText
          field="version"
          value={props.version}
          name="Version"
          max={64}
          isWrong={props.version !== '' && !isVersion(props.version)}
        />
        <LabelFilter value={props.label} />
      </span>
      <SavedViews screen="runs" />
    </div>
  );
}

/** With `onCancel`, a run that has not ended has a button for it. */
function columnsFor(
  tenant: string,
  rows: readonly RunSummary[] | undefined,
  onCancel: ((run: RunSummary) => void) | undefined,
): readonly Column<RunSummary>[] {
  return [
    { title: 'Status', cell: (run) => <Status of={shownState(run)} /> },
    {
      title: 'Agent',
      optional: true,
      class: 'clip name-cell',
      cell: (run) => <span title={run.agent_name}>{run.agent_name}</span>,
    },
    {
      title: 'Prompt',
      class: 'clip widest-cell',
      cell: (run) => (
        <a class="row-link clip" data-row href={addressOf('run', { tenant, run: run.id })}>
          {run.error_code !== undefined && (
            <code class="failed optional-small">{`${run.error_code} `}</code>
          )}
          <span class="narrow-only muted">{`${run.agent_name}: `}</span>
          {run.preview || '(no prompt)'}
          <span class="small-only muted small">
            <Time at={run.created_at} />
          </span>
        </a>
      ),
    },
    ...labelColumns(rows, ({ labels }) => labels),
    {
      title: 'Started',
      optional: 'small',
      class: 'muted',
      cell: (run) => <Time at={run.created_at} />,
    },
    {
      title: 'Duration',
      optional: true,
      class: 'number muted',
      cell: (run) => <Took from={run.started_at} to={run.ended_at} />,
    },
    ...(rows?.some(({ usage }) => usage !== undefined) === true ? [tokensColumn] : []),
    {
      title: 'Started by',
      optional: 'wide',
      class: 'muted clip name-cell',
      cell: ({ created_by: by }) =>
        by === undefined ? '' : <span title={`${actorName(by)} ${by.id}`}>{actorName(by)}</span>,
    },
    ...(onCancel === undefined ? [] : [cancelColumn(onCancel)]),
  ];
}

const tokensColumn: Column<RunSummary> = {
  title: 'Tokens',
  optional: 'wide',
  class: 'number muted',
  cell: ({ usage }) =>
    usage === undefined ? '–' : short(usage.input_tokens + usage.output_tokens),
};

function cancelColumn(onCancel: (run: RunSummary) => void): Column<RunSummary> {
  return {
    title: 'Actions',
    optional: 'small',
    class: 'number nowrap',
    cell: (run) =>
      canCancel(run) && (
        <span class="buttons end">
          <Button
            size="small"
            kind="quiet"
            ariaLabel={`Cancel ${nameOf(run)}`}
            onClick={() => onCancel(run)}
          >
            Cancel
          </Button>
        </span>
      ),
  };
}

function NoRuns(): JSX.Element {
  const tenant = useTenant();
  const { tenantId, organizationId } = tenant;
  const agents = useResource(`${tenantId}/agents`, () => listAgents(tenant));
  const name = bestToTry(agents.data.value ?? [])?.name ?? 'demo';
  const command = [
    `curl -N ${baseUrl()}/v1/agents/${name}/runs \\`,
    `  -H "Authorization: Bearer $CONVOKE_TOKEN" \\`,
    `  -H "X-Organization-ID: ${organizationId}" \\`,
    `  -H "X-Workspace-Tenant-ID: ${tenantId}" \\`,
    `  -H "Content-Type: application/json" -d '{"input":{"prompt":"Hello"}}'`,
  ].join('\n');
  return (
    <Empty title="No runs yet.">
      <span>
        <a href={addressOf('agents', { tenant: tenantId })}>Try an agent</a>, or start one with
        curl:
      </span>
      <CodeBlock text={command} label="the command" />
      <span>
        <code>$CONVOKE_TOKEN</code> is the access token of an automation client.{' '}
        <a href={addressOf('clients', { org: organizationId })}>Get a token</a>
      </span>
    </Empty>
  );
}
