import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { askOfRecord } from '../data/ask.ts';
import { addressOf } from '../data/routes.ts';
import { AskCard } from '../parts/ask/ask-card.tsx';
import { Card, Await } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { type InteractionSummary, findInteraction, listInteractions } from '../session/api.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import { RequestTitle } from './request-title.tsx';
import { useResource, useRight, useTenant } from '../session/use.ts';

/**
 * The requests that have waited longest, answered in place: a row opens the whole card. While one is open the rows keep their places, so
 * that no button moves under the pointer.
 */
export function Waiting(): JSX.Element {
  const tenant = useTenant();
  const mayAnswer = useRight('interactions:write');
  const [open, setOpen] = useState<string | undefined>(undefined);
  const pending = useResource(`${tenant.tenantId}/home-pending`, () =>
    listInteractions(tenant, { status: 'pending', limit: 6 }, undefined),
  );
  useRefreshOnNotice(
    ({ type }) => type.startsWith('interaction_') || type.startsWith('run_'),
    () => pending.refresh(),
  );
  const still = useRef<readonly InteractionSummary[]>([]);
  return (
    <Card
      title={mayAnswer ? 'Waiting for you' : 'Waiting'}
      aside={<a href={addressOf('approvals', { tenant: tenant.tenantId })}>View all</a>}
    >
      <Await resource={pending}>
        {({ items }) => {
          if (open === undefined) still.current = items;
          const rows = still.current;
          return rows.length === 0 ? (
            <Empty title="You’re all caught up." />
          ) : (
            <div class="list">
              {rows.map((row) => (
                <WaitingRow
                  key={row.interaction_key}
                  row={row}
                  isOpen={row.interaction_key === open}
                  onToggle={(isOpen) => setOpen(isOpen ? row.interaction_key : undefined)}
                />
              ))}
            </div>
          );
        }}
      </Await>
    </Card>
  );
}

function WaitingRow(props: {
  readonly row: InteractionSummary;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}): JSX.Element {
  const { row, isOpen } = props;
  return (
    <div class="in-place">
      <button
        type="button"
        class="list-row"
        aria-expanded={isOpen}
        onClick={() => props.onToggle(!isOpen)}
      >
        <span class="waiting" aria-hidden="true">
          ◆
        </span>
        <RequestTitle row={row} />
        <span class="grow clip muted">{row.preview}</span>
        <span class="muted nowrap optional">{row.agent_name}</span>
        <span class="muted small">
          <Time at={row.created_at} />
        </span>
      </button>
      {isOpen && <InPlace interaction={row.interaction_key} />}
    </div>
  );
}

function InPlace({ interaction }: { readonly interaction: string }): JSX.Element {
  const tenant = useTenant();
  const found = useResource(`${tenant.tenantId}/interaction/${interaction}`, () =>
    findInteraction(tenant, interaction),
  );
  return (
    <div class="card-body stack">
      <Await resource={found}>
        {(record) => (
          <>
            <AskCard
              ask={askOfRecord(record)}
              hasFocus
              onAnswered={(answered) => found.set({ ...record, ...answered })}
            />
            <p>
              <a href={addressOf('run', { tenant: tenant.tenantId, run: record.run_id })}>
                View run
              </a>
            </p>
          </>
        )}
      </Await>
    </div>
  );
}
