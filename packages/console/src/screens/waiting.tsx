import type { InteractionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { nameWithCaller } from '../data/calls.ts';
import { addressOf } from '../data/routes.ts';
import { Card, Await } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { type InteractionSummary, listInteractions } from '../session/api.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import { RequestTitle } from './request-title.tsx';
import { RowDecision, RowOutcome } from './row-decision.tsx';
import { useResource, useRight, useTenant } from '../session/use.ts';

/**
 * The requests that have waited longest, decided in their rows; a row opens the whole card. Rows keep their places:
 * what was decided here stays, and new requests join at the end, so that no button moves under the pointer.
 */
export function Waiting(): JSX.Element {
  const tenant = useTenant();
  const mayAnswer = useRight('interactions:write');
  const [open, setOpen] = useState<string | undefined>(undefined);
  const [decided, setDecided] = useState<ReadonlyMap<string, InteractionRecord>>(new Map());
  const pending = useResource(`${tenant.tenantId}/home-pending`, () =>
    listInteractions(tenant, { status: 'pending', limit: 6, isForMe: mayAnswer }, undefined),
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('interaction_') || type.startsWith('run_'),
    () => pending.refresh(),
  );
  const kept = useRef<readonly InteractionSummary[]>([]);
  return (
    <Card
      title={mayAnswer ? 'Waiting for you' : 'Waiting'}
      aside={<a href={addressOf('approvals', { tenant: tenant.tenantId })}>View all</a>}
    >
      <Await resource={pending}>
        {({ items }) => {
          kept.current = inTheirPlaces(
            kept.current,
            items,
            (key) => key === open || decided.has(key),
          );
          return kept.current.length === 0 ? (
            <Empty title="You’re all caught up." />
          ) : (
            <div class="list">
              {kept.current.map((row) => (
                <WaitingRow
                  key={row.interaction_key}
                  row={row}
                  record={decided.get(row.interaction_key)}
                  mayAnswer={mayAnswer}
                  isOpen={row.interaction_key === open}
                  onToggle={(isOpen) => setOpen(isOpen ? row.interaction_key : undefined)}
                  onRecorded={(record) =>
                    setDecided((before) => new Map([...before, [row.interaction_key, record]]))
                  }
                />
              ))}
            </div>
          );
        }}
      </Await>
    </Card>
  );
}

/** The rows from before that still wait or are held, then the new ones. */
function inTheirPlaces(
  before: readonly InteractionSummary[],
  now: readonly InteractionSummary[],
  isHeld: (key: string) => boolean,
): readonly InteractionSummary[] {
  const waits = new Set(now.map(({ interaction_key: key }) => key));
  const known = new Set(before.map(({ interaction_key: key }) => key));
  return [
    ...before.filter(({ interaction_key: key }) => waits.has(key) || isHeld(key)),
    ...now.filter(({ interaction_key: key }) => !known.has(key)),
  ];
}

function WaitingRow(props: {
  readonly row: InteractionSummary;
  /** The decision of this row. */
  readonly record: InteractionRecord | undefined;
  readonly mayAnswer: boolean;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
  readonly onRecorded: (record: InteractionRecord) => void;
}): JSX.Element {
  const { row, record, isOpen } = props;
  return (
    <div class="in-place">
      <div class="row-with-actions">
        <button
          type="button"
          class="list-row"
          data-row
          aria-expanded={isOpen}
          onClick={() => props.onToggle(!isOpen)}
        >
          <span class={record === undefined ? 'waiting' : 'muted'} aria-hidden="true">
            ◆
          </span>
          <span class="grow request-line">
            <RequestTitle row={row} />
            <span class="muted small">
              {`${nameWithCaller(row)} · `}
              <Time at={row.created_at} />
            </span>
          </span>
        </button>
        <span class="row-actions">
          {record !== undefined ? (
            <RowOutcome record={record} />
          ) : props.mayAnswer && !isOpen ? (
            <RowDecision
              row={row}
              onOpen={() => props.onToggle(true)}
              onRecorded={props.onRecorded}
            />
          ) : null}
        </span>
      </div>
      {isOpen && <Opened interaction={row.interaction_key} onRecorded={props.onRecorded} />}
    </div>
  );
}

function Opened(props: {
  readonly interaction: string;
  readonly onRecorded: (record: InteractionRecord) => void;
}): JSX.Element {
  const card = useResource('request-in-place', () => import('./request-in-place.tsx'));
  return <Await resource={card}>{({ InPlace }) => <InPlace {...props} />}</Await>;
}
