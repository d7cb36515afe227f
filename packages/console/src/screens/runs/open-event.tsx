import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { eventName } from '../../data/events/event-names.ts';
import { clock, number } from '../../data/formats.ts';
import type { RunStore } from '../../data/run-store.ts';
import {
  type StepTokens,
  type TimelineRow,
  rowAt,
  timelineRows,
} from '../../data/events/timeline.ts';
import { addressWith, place, setQuery } from '../../page/router.ts';
import { Button } from '../../parts/button.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Card } from '../../parts/page.tsx';

/** An event in full, with its outcome. */
export function OpenEvent({ row }: { readonly row: TimelineRow }): JSX.Element {
  return (
    <div class="open-event">
      <p class="muted small">
        {`${clock(row.at)} · ${row.type} · event ${row.id}`}
        {row.tokens !== undefined && ` · this step: ${usedBy(row.tokens)}`}
      </p>
      <JsonTree value={row.data} name={`event-${row.id}`} />
      {row.outcome !== undefined && (
        <>
          <p class="muted small" title={row.outcome.type}>
            {eventName(row.outcome.type)}
          </p>
          <JsonTree value={row.outcome.data} name={`event-${row.id}-outcome`} />
        </>
      )}
    </div>
  );
}

/** The event of a bar, beside the waterfall where there is room, else below it. The bar gets the focus back. */
export function ChosenEvent({ store }: { readonly store: RunStore }): JSX.Element | null {
  const asked = place.value.query.get('event');
  const frame = useRef<HTMLElement>(null);
  const row = asked === null ? undefined : rowAt(timelineRows(store.view.value.events), asked);
  useEffect(() => frame.current?.scrollIntoView({ block: 'nearest' }), [row?.id]);
  if (row === undefined) return null;
  return (
    <section ref={frame} aria-label="Event">
      <Card
        title={eventName(row.type)}
        aside={
          <span class="buttons">
            <a href={addressWith({ tab: 'timeline' })}>Timeline</a>
            <Button size="small" kind="quiet" onClick={() => setQuery({ event: undefined })}>
              Close
            </Button>
          </span>
        }
      >
        <OpenEvent row={row} />
      </Card>
    </section>
  );
}

export function usedBy({ input, output, cost }: StepTokens): string {
  const tokens = `${number(input)} + ${number(output)} tokens`;
  return cost === undefined ? tokens : `${tokens}, ${cost}`;
}
