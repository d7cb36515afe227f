import type { InteractionRecord } from '@convoke/sdk';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { askOfRecord, askTitle, outcomeText } from '../../data/ask.ts';
import { addressOf } from '../../data/routes.ts';
import { addressWith, place, setQuery } from '../../page/router.ts';
import { AskCard } from '../../parts/ask/ask-card.tsx';
import { Labels } from '../../parts/list/labels.tsx';
import { Await } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { announce } from '../../parts/toast.tsx';
import { findInteraction } from '../../session/api.ts';
import { useRefreshOnNotice } from '../../session/live.ts';
import { useResource, useTenant, useTitle } from '../../session/use.ts';
import type { Inbox } from './inbox.ts';
import { LastMessage } from './last-message.tsx';
import { Queue } from './queue.tsx';

/**
 * Everything that waits for a person in the tenant, oldest first. The list never moves under the pointer: what is new
 * joins at the end, when the person says so. After a decision the next request is shown.
 */
export function ApprovalsScreen(): JSX.Element {
  useTitle('Approvals');
  const inbox: Inbox = {
    open: useSignal<readonly string[]>([]),
    answered: useSignal<ReadonlyMap<string, InteractionRecord>>(new Map()),
  };
  const { query } = place.value;
  const chosen = query.get('item') ?? undefined;
  return (
    <div class={`inbox ${chosen === undefined ? '' : 'chosen'}`}>
      <h1 class="hidden-text" tabIndex={-1}>
        Approvals
      </h1>
      <Queue chosen={chosen} inbox={inbox} />
      <div class="detail" data-scroller>
        {chosen !== undefined ? (
          <Detail key={chosen} interaction={chosen} inbox={inbox} />
        ) : inbox.open.value.length > 0 ? (
          <Empty title="Select a request to review it." />
        ) : null}
      </div>
    </div>
  );
}

function Detail(props: { readonly interaction: string; readonly inbox: Inbox }): JSX.Element {
  const { interaction, inbox } = props;
  const tenant = useTenant();
  const found = useResource(`${tenant.tenantId}/interaction/${interaction}`, () =>
    findInteraction(tenant, interaction),
  );
  // The answer of this page is the record that it was given: only an answer from elsewhere is read.
  useRefreshOnNotice(
    ({ type, data }) =>
      (type === 'interaction_answered' || type === 'interaction_approved') &&
      data.interaction_key === interaction &&
      found.data.peek()?.status === 'pending',
    () => found.refresh(),
  );
  const at = inbox.open.value.indexOf(interaction);
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
                <a href={addressOf('run', params)}>View run</a>
                <span class="clip">{record.preview}</span>
                {at >= 0 && (
                  <span class="nowrap end">{`${at + 1} of ${inbox.open.value.length}`}</span>
                )}
              </p>
              <Labels of={record.run_labels} list="approvals" />
              <LastMessage record={record} />
              <AskCard
                ask={askOfRecord(record)}
                hasFocus
                onAnswered={(answered, isLate) => {
                  found.set({ ...record, ...answered });
                  settle(inbox, answered, isLate);
                }}
              />
            </>
          );
        }}
      </Await>
    </div>
  );
}

/**
 * Stores the recorded answer and shows the next request, unless another person answered first: then it shows their
 * answer.
 */
function settle({ open, answered }: Inbox, record: InteractionRecord, isLate: boolean): void {
  const { interaction_key: key } = record;
  const waiting = open.peek();
  const after = [...waiting.slice(waiting.indexOf(key) + 1), ...waiting];
  const next = after.find((other) => other !== key && !answered.peek().has(other));
  answered.value = new Map([...answered.peek(), [key, record]]);
  if (isLate || next === undefined) return;
  const { outcome, ...ask } = askOfRecord(record);
  const words =
    outcome === undefined ? 'Allowed, and waits for another person' : outcomeText(outcome).words;
  announce(`${words}: ${askTitle(ask)}`);
  setQuery({ item: next });
}
