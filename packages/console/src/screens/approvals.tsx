import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { askOfRecord, summaryTitle } from '../data/ask.ts';
import { visible } from '../data/formats.ts';
import { addressOf } from '../data/routes.ts';
import { AskCard } from '../parts/ask-card.tsx';
import { Button } from '../parts/button.tsx';
import { Select } from '../parts/field.tsx';
import { Shown } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { moveInRows } from '../parts/table.tsx';
import { Segments } from '../parts/tabs.tsx';
import { Time } from '../parts/time.tsx';
import { type InteractionSummary, findInteraction, listInteractions } from '../session/api.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import { usePages, useResource, useTenant, useTitle } from '../session/use.ts';
import { addressWith, place, setQuery } from '../shell/router.ts';
import { SaidBefore } from './said-before.tsx';

/**
 * Everything that waits for a person in the tenant, oldest first. The list never moves under the pointer: what is new
 * joins at the end, when the person says so.
 */
export function ApprovalsScreen(): JSX.Element {
  useTitle('Approvals');
  const { query } = place.value;
  const chosen = query.get('item') ?? undefined;
  return (
    <div class={`inbox ${chosen === undefined ? '' : 'chosen'}`}>
      <Queue chosen={chosen} />
      <div class="detail">
        {chosen === undefined ? (
          <Empty title="Choose something on the left.">
            <span>It shows the whole input before you decide.</span>
          </Empty>
        ) : (
          <Detail key={chosen} interaction={chosen} />
        )}
      </div>
    </div>
  );
}

function Queue({ chosen }: { readonly chosen: string | undefined }): JSX.Element {
  const tenant = useTenant();
  const { query } = place.value;
  const status = query.get('status') === 'answered' ? 'answered' : 'pending';
  const kind = query.get('kind') ?? '';
  const agent = query.get('agent') ?? '';
  const list = usePages(
    [tenant.tenantId, status, kind, agent],
    (cursor) => listInteractions(tenant, { status, kind, agent }, cursor),
    ({ interaction_key: key }) => key,
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('interaction_') || type.startsWith('run_'),
    () => list.refresh(),
  );
  const { rows, gone, fresh, admit } = useStillRows(list.rows.value, status);
  const frame = useRef<HTMLUListElement>(null);
  const agents = [...new Set((rows ?? []).map((row) => row.agent_name))];
  return (
    <div class="queue">
      <h1 class="hidden-text" tabIndex={-1}>
        Approvals
      </h1>
      <Filters status={status} kind={kind} agent={agent} agents={agents} />
      {list.error.value !== undefined && (
        <ProblemNote error={list.error.value} retry={() => list.refresh()} />
      )}
      {rows === undefined && list.error.value === undefined && <Skeleton />}
      {rows?.length === 0 && (
        <Empty
          title={status === 'pending' ? 'Nothing waits for you.' : 'Nothing was answered yet.'}
        >
          {status === 'pending' && (
            <span>When an agent asks or needs an approval, it appears here at once.</span>
          )}
        </Empty>
      )}
      <ul ref={frame} onKeyDown={(event) => moveInRows(event, frame.current)}>
        {rows?.map((row) => (
          <li key={row.interaction_key}>
            <QueueItem
              row={row}
              isChosen={row.interaction_key === chosen}
              isGone={gone.has(row.interaction_key)}
            />
          </li>
        ))}
        {list.hasMore.value && (
          <li class="more">
            <Button kind="quiet" size="small" onClick={() => list.more()}>
              More
            </Button>
          </li>
        )}
      </ul>
      {fresh > 0 && (
        <button type="button" class="new-ones" onClick={admit}>
          {`↓ ${fresh} new`}
        </button>
      )}
    </div>
  );
}

function Filters(props: {
  readonly status: string;
  readonly kind: string;
  readonly agent: string;
  readonly agents: readonly string[];
}): JSX.Element {
  return (
    <div class="filters">
      <Segments
        label="Which"
        tabs={[
          tabOf('Pending', { status: undefined, item: undefined }, props.status === 'pending'),
          tabOf('Answered', { status: 'answered', item: undefined }, props.status === 'answered'),
        ]}
      />
      <Select
        name="Kind"
        value={props.kind}
        choices={[
          { value: '', label: 'All kinds' },
          { value: 'permission', label: 'Permissions' },
          { value: 'question', label: 'Questions' },
        ]}
        onChange={(value) => setQuery({ kind: value, item: undefined })}
      />
      {(props.agents.length > 1 || props.agent !== '') && (
        <Select
          name="Agent"
          value={props.agent}
          choices={[
            { value: '', label: 'All agents' },
            ...[...new Set([...props.agents, ...(props.agent === '' ? [] : [props.agent])])].map(
              (name) => ({
                value: name,
                label: name,
              }),
            ),
          ]}
          onChange={(value) => setQuery({ agent: value, item: undefined })}
        />
      )}
    </div>
  );
}

function tabOf(name: string, change: Record<string, string | undefined>, isCurrent: boolean) {
  return { name, href: addressWith(change), isCurrent };
}

/** Keeps the rows where they are: new ones wait, answered ones stay in their place, dimmed. */
function useStillRows(rows: readonly InteractionSummary[] | undefined, status: string) {
  const [shown, setShown] = useState<readonly InteractionSummary[] | undefined>(undefined);
  const kept = useRef(status);
  const isOther = kept.current !== status;
  useEffect(() => {
    if (rows === undefined) return;
    if (shown === undefined || isOther || shown.length === 0) {
      kept.current = status;
      setShown(rows);
      return;
    }
    // A page that was asked for by the person joins at once.
    if (status !== 'pending') setShown(rows);
  }, [rows, status]);
  const known = new Set((shown ?? []).map(({ interaction_key: key }) => key));
  const present = new Set((rows ?? []).map(({ interaction_key: key }) => key));
  const added = (rows ?? []).filter(({ interaction_key: key }) => !known.has(key));
  const gone = new Set(
    status === 'pending' && rows !== undefined ? [...known].filter((key) => !present.has(key)) : [],
  );
  const admit = () => {
    setShown([...(shown ?? []).filter(({ interaction_key: key }) => !gone.has(key)), ...added]);
  };
  return { rows: isOther ? rows : shown, gone, fresh: isOther ? 0 : added.length, admit };
}

function QueueItem(props: {
  readonly row: InteractionSummary;
  readonly isChosen: boolean;
  readonly isGone: boolean;
}): JSX.Element {
  const { row, isChosen, isGone } = props;
  const isOpen = row.status === 'pending' && !isGone;
  const state = isGone ? 'no longer pending · ' : isOpen ? '' : `${row.status} · `;
  return (
    <a
      class={`item ${isGone ? 'gone' : ''}`}
      href={addressWith({ item: row.interaction_key })}
      aria-current={isChosen ? 'true' : undefined}
    >
      <span class={isOpen ? 'waiting' : 'muted'} aria-hidden="true">
        ◆
      </span>
      <span class={`clip ${row.kind === 'permission' ? 'mono' : ''}`}>
        {visible(summaryTitle(row))}
      </span>
      <span class="muted small">
        <Time at={row.answered_at ?? row.created_at} />
      </span>
      <span class="second clip">
        {`${state}${visible(row.agent_name)} · ${visible(row.preview)}`}
      </span>
    </a>
  );
}

function Detail({ interaction }: { readonly interaction: string }): JSX.Element {
  const tenant = useTenant();
  const found = useResource(`${tenant.tenantId}/interaction/${interaction}`, () =>
    findInteraction(tenant, interaction),
  );
  useRefreshOnNotice(
    ({ type, run_id: run }) => type === 'interaction_answered' && run === found.data.peek()?.run_id,
    () => found.refresh(),
  );
  return (
    <div class="stack">
      <div class="buttons back">
        <a class="button quiet small" href={addressWith({ item: undefined })}>
          ← All
        </a>
      </div>
      <Shown of={found}>
        {(record) => {
          const params = { tenant: tenant.tenantId, run: record.run_id, agent: record.agent_name };
          return (
            <>
              <p class="summary-line">
                <a href={addressOf('agent', params)}>{visible(record.agent_name)}</a>
                <a href={addressOf('run', params)}>{`${record.run_id.slice(0, 12)}… ↗`}</a>
              </p>
              <SaidBefore record={record} />
              <AskCard
                ask={askOfRecord(record)}
                hasFocus
                onAnswered={(answered) => found.set({ ...record, ...answered })}
              />
            </>
          );
        }}
      </Shown>
    </div>
  );
}
