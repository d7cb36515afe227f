import type { JSX } from 'preact';
import { askOfRecord } from '../../data/ask.ts';
import { addressOf } from '../../data/routes.ts';
import { AskCard } from '../../parts/ask-card.tsx';
import { Await } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { findInteraction } from '../../session/api.ts';
import { useRefreshOnNotice } from '../../session/live.ts';
import { useResource, useTenant, useTitle } from '../../session/use.ts';
import { addressWith, place } from '../../page/router.ts';
import { Queue } from './queue.tsx';
import { LastMessage } from './last-message.tsx';

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
      <h1 class="hidden-text" tabIndex={-1}>
        Approvals
      </h1>
      <Queue chosen={chosen} />
      <div class="detail">
        {chosen === undefined ? (
          <Empty title="Select a request to review it." />
        ) : (
          <Detail key={chosen} interaction={chosen} />
        )}
      </div>
    </div>
  );
}

function Detail({ interaction }: { readonly interaction: string }): JSX.Element {
  const tenant = useTenant();
  const found = useResource(`${tenant.tenantId}/interaction/${interaction}`, () =>
    findInteraction(tenant, interaction),
  );
  // The answer of this page is the record that it was given: only an answer from elsewhere is read.
  useRefreshOnNotice(
    ({ type, data }) =>
      type === 'interaction_answered' &&
      data.interaction_key === interaction &&
      found.data.peek()?.status === 'pending',
    () => found.refresh(),
  );
  return (
    <div class="stack">
      <div class="buttons back">
        <a class="button quiet small" href={addressWith({ item: undefined })}>
          ← All
        </a>
      </div>
      <Await resource={found}>
        {(record) => {
          const params = { tenant: tenant.tenantId, run: record.run_id, agent: record.agent_name };
          return (
            <>
              <p class="summary-line">
                <a href={addressOf('agent', params)}>{record.agent_name}</a>
                <a href={addressOf('run', params)}>{`${record.run_id.slice(0, 12)}… ↗`}</a>
              </p>
              <LastMessage record={record} />
              <AskCard
                ask={askOfRecord(record)}
                hasFocus
                onAnswered={(answered) => found.set({ ...record, ...answered })}
              />
            </>
          );
        }}
      </Await>
    </div>
  );
}
