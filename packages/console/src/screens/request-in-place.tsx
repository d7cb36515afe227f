import type { InteractionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { askOfRecord } from '../data/ask.ts';
import { addressOf } from '../data/routes.ts';
import { AskCard } from '../parts/ask/ask-card.tsx';
import { Await } from '../parts/page.tsx';
import { findInteraction } from '../session/api.ts';
import { useResource, useTenant } from '../session/use.ts';

/** The whole card of a request below its row. It loads when the first one is opened. */
export function InPlace(props: {
  readonly interaction: string;
  readonly onRecorded: (record: InteractionRecord) => void;
}): JSX.Element {
  const { interaction } = props;
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
              onAnswered={(answered) => {
                found.set({ ...record, ...answered });
                props.onRecorded(answered);
              }}
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
