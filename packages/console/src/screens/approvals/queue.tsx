import type { InteractionRecord, NoticeRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { summaryOutcome, summaryTitle } from '../../data/ask.ts';
import { nameWithCaller } from '../../data/calls.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { NoMatch } from '../../parts/list/filter-field.tsx';
import { LabelFilter } from '../../parts/list/labels.tsx';
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
import { personName } from '../../session/session.ts';
import { RequestTitle } from '../request-title.tsx';
import { DenySeveral, nameOf } from './deny-several.tsx';
import type { Inbox } from './inbox.ts';
import { useStableRows } from './stable-rows.ts';

/** Open requests, or answered ones. Several can be selected, to be denied together. */
export function Queue(props: {
  readonly chosen: string | undefined;
  readonly inbox: Inbox;
}): JSX.Element {
  const { chosen, inbox } = props;
  const tenant = useTenant();
  const { query } = place.value;
  const status = query.get('status') === 'answered' ? 'answered' : 'pending';
  const kind = query.get('kind') ?? '';
  const agent = query.get('agent') ?? '';
  const label = query.get('label') ?? '';
  const mayAnswer = useRight('interactions:write');
  const isForMe = mayAnswer && status === 'pending' && query.get('for') !== 'all';
  const filters = JSON.stringify([status, kind, agent, label, isForMe]);
  const list = usePages(
    [tenant.tenantId, status, kind, agent, label, String(isForMe)],
    (cursor) => listInteractions(tenant, { status, kind, agent, label, isForMe }, cursor),
    ({ interaction_key: key }) => key,
  );
  useRefreshOnNotice(
    (notice) => changesList(notice, list.rows.peek() ?? [], inbox),
    () => list.refresh(),
  );
  const answered = inbox.answered.value;
  const { rows, gone, fresh, admit } = useStableRows(list.rows.value, {
    filters,
    isPending: status === 'pending',
  });
  const agents = [...new Set((rows ?? []).map((row) => row.agent_name))];
  const open = (rows ?? []).filter(
    ({ status: state, interaction_key: key }) =>
      state === 'pending' && !gone.has(key) && !answered.has(key),
  );
  const openKeys = open.map(({ interaction_key: key }) => key).join(' ');
  useEffect(() => {
    inbox.open.value = openKeys === '' ? [] : openKeys.split(' ');
  }, [openKeys]);
  return (
    <div class="queue">
      <Filters {...{ status, kind, agent, agents, label, isForMe, mayAnswer }} />
      {list.error.value !== undefined && (
        <ProblemNote error={list.error.value} retry={() => list.refresh()} />
      )}
      {rows === undefined && list.error.value === undefined && <Skeleton />}
      {rows?.length === 0 &&
        ([kind, agent, label].some((value) => value !== '') ? (
          <NoMatch of="requests" all={addressWith({ kind: '', agent: '', label: '' })} />
        ) : (
          <Nothing status={status} isForMe={isForMe} />
        ))}
      <Rows {...{ rows: rows ?? [], open, chosen, answered, isForMe }} key={filters}>
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

const ends: ReadonlySet<string> = new Set(['run_completed', 'run_failed', 'run_cancelled']);

/**
 * Whether a notice changes the open requests: a run has asked, another person has answered, or a run with an open row
 * has ended. The answers of this page are known already.
 */
function changesList(
  { type, run_id: run, data }: NoticeRecord,
  rows: readonly InteractionSummary[],
  inbox: Inbox,
): boolean {
  if (type === 'run_waiting' || type === 'interaction_approved') return true;
  if (type === 'interaction_answered') {
    return !inbox.answered.peek().has(data.interaction_key ?? '');
  }
  return ends.has(type) && rows.some((row) => row.run_id === run && row.status === 'pending');
}

function Nothing(props: { readonly status: string; readonly isForMe: boolean }): JSX.Element {
  return props.status === 'pending' ? (
    <Empty title="You’re all caught up.">
      <span>Questions and approval requests appear here as agents ask them.</span>
      {props.isForMe && <a href={addressWith({ for: 'all' })}>Show those that others may allow</a>}
    </Empty>
  ) : (
    <Empty title="No answers yet." />
  );
}

function Rows(props: {
  readonly rows: readonly InteractionSummary[];
  /** Those that still wait. */
  readonly open: readonly InteractionSummary[];
  readonly isForMe: boolean;
  readonly chosen: string | undefined;
  readonly answered: ReadonlyMap<string, InteractionRecord>;
  readonly children: JSX.Element | false;
}): JSX.Element {
  const { isForMe, rows, open, chosen, answered } = props;
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
              row={withAnswer(row, answered.get(row.interaction_key))}
              isChosen={row.interaction_key === chosen}
              isForMe={isForMe}
              isGone={
                row.status === 'pending' &&
                !open.includes(row) &&
                !answered.has(row.interaction_key)
              }
            />
          </li>
        ))}
        {props.children}
      </ul>
      <DenySelected selection={selection} />
    </>
  );
}

/** The selected requests, and the dialog that denies them. */
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
  readonly label: string;
  readonly isForMe: boolean;
  /** Others see all requests, and may allow none. */
  readonly mayAnswer: boolean;
}): JSX.Element {
  const { agents, agent, isForMe, mayAnswer } = props;
  const isPending = props.status === 'pending';
  return (
    <div class="filters">
      <Segments
        label="Status"
        tabs={[
          ...(mayAnswer ? [tabOf('For me', { ...shown, for: undefined }, isForMe)] : []),
          tabOf('All', { ...shown, for: mayAnswer ? 'all' : undefined }, isPending && !isForMe),
          tabOf('Answered', { ...shown, status: 'answered', for: undefined }, !isPending),
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
      {props.label !== '' && <LabelFilter value={props.label} />}
      <SavedViews screen="approvals" />
    </div>
  );
}

const shown = { status: undefined, item: undefined };

function tabOf(name: string, change: Record<string, string | undefined>, isCurrent: boolean) {
  return { name, href: addressWith(change), isCurrent };
}

/** A row of the list, as the answer has left it. */
function withAnswer(
  row: InteractionSummary,
  record: InteractionRecord | undefined,
): InteractionSummary {
  if (record === undefined) return row;
  const { status, decision, answered_by, answered_by_name, answered_at, can_allow } = record;
  return { ...row, status, decision, answered_by, answered_by_name, answered_at, can_allow };
}

/** The title first; the agent and the age in small letters. */
function QueueItem(props: {
  readonly row: InteractionSummary;
  readonly isChosen: boolean;
  /** Only requests that this person may answer are listed. */
  readonly isForMe: boolean;
  readonly isGone: boolean;
}): JSX.Element {
  const { row, isChosen, isForMe, isGone } = props;
  const outcome = summaryOutcome(row);
  const isOpen = outcome === undefined && !isGone;
  const isAnswers = place.value.query.get('status') === 'answered';
  const by =
    row.answered_by === undefined
      ? ''
      : ` by ${row.answered_by_name ?? personName(row.answered_by)}`;
  return (
    <a
      data-row
      class={`inbox-item ${isOpen || isAnswers ? '' : 'gone'}`}
      href={addressWith({ item: row.interaction_key })}
      aria-current={isChosen ? 'true' : undefined}
      data-key={row.interaction_key}
    >
      <span class={outcome?.tone ?? (isOpen ? 'waiting' : 'muted')} aria-hidden="true">
        {outcome?.glyph ?? '◆'}
      </span>
      <RequestTitle row={row} />
      <span class="muted small">
        <Time at={row.answered_at ?? row.created_at} />
      </span>
      <span class="second clip">
        {outcome !== undefined && <span class={outcome.tone}>{`${outcome.words}${by} · `}</span>}
        {isGone && (isForMe ? 'No longer waits for you · ' : 'Resolved · ')}
        {isOpen && row.can_allow === false && 'Waits for another person · '}
        {`${nameWithCaller(row)} · ${row.preview}`}
      </span>
    </a>
  );
}
