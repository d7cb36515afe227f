import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { summaryTitle } from '../../data/ask.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { SavedViews } from '../../parts/list/saved-views.tsx';
import {
  RowCheckbox,
  SelectionBar,
  type Selection,
  selectByKey,
  useSelection,
} from '../../parts/list/selection.tsx';
import { moveInRows, useRowKeys } from '../../parts/list/table.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Empty, Skeleton } from '../../parts/states.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { Time } from '../../parts/time.tsx';
import { type InteractionSummary, listInteractions } from '../../session/api.ts';
import { useRefreshOnNotice } from '../../session/live.ts';
import { usePages, useRight, useTenant } from '../../session/use.ts';
import { addressWith, place, setQuery } from '../../page/router.ts';
import { useShortcuts } from '../../page/shortcuts.ts';
import { DenySeveral, nameOf } from './deny-several.tsx';
import { useStableRows } from './stable-rows.ts';

/** Everything that waits, or what was answered. Several can be selected, to be denied together. */
export function Queue({ chosen }: { readonly chosen: string | undefined }): JSX.Element {
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
  const { rows, gone, fresh, admit } = useStableRows(list.rows.value, status);
  const agents = [...new Set((rows ?? []).map((row) => row.agent_name))];
  const open = (rows ?? []).filter(
    (row) => row.status === 'pending' && !gone.has(row.interaction_key),
  );
  return (
    <div class="queue">
      <Filters status={status} kind={kind} agent={agent} agents={agents} />
      {list.error.value !== undefined && (
        <ProblemNote error={list.error.value} retry={() => list.refresh()} />
      )}
      {rows === undefined && list.error.value === undefined && <Skeleton />}
      {rows?.length === 0 && <Nothing status={status} />}
      <Rows rows={rows ?? []} open={open} chosen={chosen} key={`${status} ${kind} ${agent}`}>
        {list.hasMore.value && (
          <li class="list-more">
            <Button kind="quiet" size="small" onClick={() => list.more()}>
              More
            </Button>
          </li>
        )}
      </Rows>
      {fresh > 0 && (
        <button type="button" class="new-ones" onClick={admit}>
          {`↓ ${fresh} new`}
        </button>
      )}
    </div>
  );
}

function Nothing({ status }: { readonly status: string }): JSX.Element {
  return status === 'pending' ? (
    <Empty title="You’re all caught up.">
      <span>Questions and approval requests appear here as agents ask them.</span>
    </Empty>
  ) : (
    <Empty title="No answers yet." />
  );
}

function Rows(props: {
  readonly rows: readonly InteractionSummary[];
  /** Those that still wait. */
  readonly open: readonly InteractionSummary[];
  readonly chosen: string | undefined;
  readonly children: JSX.Element | false;
}): JSX.Element {
  const { rows, open, chosen } = props;
  const frame = useRef<HTMLUListElement>(null);
  const mayAnswer = useRight('interactions:write');
  const selection = useSelection(mayAnswer ? open : [], ({ interaction_key: key }) => key);
  const press = (event: KeyboardEvent) => {
    moveInRows(event, frame.current);
    selectByKey(event, selection);
  };
  useRowKeys(frame);
  useShortcuts({
    Escape: () => {
      if (!focusRow(frame.current)) selection.clear();
    },
  });
  return (
    <>
      <ul ref={frame} onKeyDown={press}>
        {rows.map((row) => (
          <li key={row.interaction_key} class="entry">
            {selection.accepts(row.interaction_key) && (
              <RowCheckbox
                name={`Select ${summaryTitle(row)} of ${row.agent_name}`}
                isSelected={selection.has(row.interaction_key)}
                onToggle={() => selection.toggle(row.interaction_key)}
              />
            )}
            <QueueItem
              row={row}
              isChosen={row.interaction_key === chosen}
              isGone={row.status === 'pending' && !open.includes(row)}
            />
          </li>
        ))}
        {props.children}
      </ul>
      <DenySelected selection={selection} />
    </>
  );
}

/** What is selected, and the dialog that denies it. */
function DenySelected(props: { readonly selection: Selection<InteractionSummary> }): JSX.Element {
  const { selection } = props;
  const [denied, setDenied] = useState<readonly InteractionSummary[] | undefined>(undefined);
  return (
    <>
      <SelectionBar
        selection={selection}
        action={nameOf(selection.selected)}
        onAct={() => setDenied(selection.selected)}
      />
      {denied !== undefined && (
        <DenySeveral
          rows={denied}
          onClose={() => setDenied(undefined)}
          onSettled={selection.drop}
        />
      )}
    </>
  );
}

/** From the card back to its row; returns whether the focus was elsewhere. */
function focusRow(frame: HTMLElement | null): boolean {
  if (frame === null || frame.contains(document.activeElement)) return false;
  const row = frame.querySelector<HTMLElement>('[data-row][aria-current]');
  row?.focus();
  return row !== null;
}

function Filters(props: {
  readonly status: string;
  readonly kind: string;
  readonly agent: string;
  readonly agents: readonly string[];
}): JSX.Element {
  const { agents, agent } = props;
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
      {(agents.length > 1 || agent !== '') && (
        <Select
          name="Agent"
          value={agent}
          choices={[
            { value: '', label: 'All agents' },
            ...[...new Set([...agents, ...(agent === '' ? [] : [agent])])].map((name) => ({
              value: name,
              label: name,
            })),
          ]}
          onChange={(value) => setQuery({ agent: value, item: undefined })}
        />
      )}
      <SavedViews screen="approvals" />
    </div>
  );
}

function tabOf(name: string, change: Record<string, string | undefined>, isCurrent: boolean) {
  return { name, href: addressWith(change), isCurrent };
}

function QueueItem(props: {
  readonly row: InteractionSummary;
  readonly isChosen: boolean;
  readonly isGone: boolean;
}): JSX.Element {
  const { row, isChosen, isGone } = props;
  const isOpen = row.status === 'pending' && !isGone;
  const state = isGone ? 'resolved · ' : isOpen ? '' : `${row.status} · `;
  return (
    <a
      data-row
      class={`inbox-item ${isGone ? 'gone' : ''}`}
      href={addressWith({ item: row.interaction_key })}
      aria-current={isChosen ? 'true' : undefined}
      data-key={row.interaction_key}
    >
      <span class={isOpen ? 'waiting' : 'muted'} aria-hidden="true">
        ◆
      </span>
      <span class={`clip ${row.kind === 'permission' ? 'mono' : ''}`}>{summaryTitle(row)}</span>
      <span class="muted small">
        <Time at={row.answered_at ?? row.created_at} />
      </span>
      <span class="second clip">{`${state}${row.agent_name} · ${row.preview}`}</span>
    </a>
  );
}
