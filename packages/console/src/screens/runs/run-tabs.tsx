import type { RunRecord } from '@convoke/sdk';
import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { eventName } from '../../data/events/event-names.ts';
import { jsonText } from '../../data/json-text.ts';
import { remedyOf } from '../../data/problems.ts';
import { plural, stopwatch } from '../../data/formats.ts';
import { hasEnded } from '../../data/run-rows.ts';
import type { RunStore } from '../../data/run-store.ts';
import { type TimelineRow, rowAt, timelineRows } from '../../data/events/timeline.ts';
import type { TranscriptItem } from '../../data/transcript.ts';
import { Button } from '../../parts/button.tsx';
import { Conversation } from '../../parts/conversation.tsx';
import { CopyButton, download } from '../../parts/copy.tsx';
import { FollowedLog } from '../../parts/followed-log.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { Card } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { announce } from '../../parts/toast.tsx';
import { addressWith, navigate, place } from '../../page/router.ts';
import { OpenEvent, usedBy } from './open-event.tsx';
import { useShortcuts } from '../../page/shortcuts.ts';

const names = ['conversation', 'timeline', 'data', 'raw'] as const;
type TabName = (typeof names)[number];
const titles = {
  conversation: 'Conversation',
  timeline: 'Timeline',
  data: 'Input and output',
  raw: 'Raw',
} as const;

export function RunTabs(props: { readonly store: RunStore; readonly run: RunRecord }): JSX.Element {
  const { store, run } = props;
  const asked = place.value.query.get('tab');
  const tab: TabName = names.find((name) => name === asked) ?? 'conversation';
  const step = (by: number) => {
    const next = names[(names.indexOf(tab) + by + names.length) % names.length];
    navigate(addressWith({ tab: next }), { replace: true });
  };
  const errors = store.view.value.items.filter(isError).length;
  useShortcuts({ '[': () => step(-1), ']': () => step(1), '.': showNextError });
  const follow = useSignal(!hasEnded(run));
  const tabs = names.map((name) => ({
    name: titles[name],
    href: addressWith({ tab: name }),
    isCurrent: name === tab,
    count: name === 'raw' ? store.view.value.events.length : undefined,
  }));
  return (
    <div class="stack">
      <Tabs label="Run" tabs={tabs}>
        <span class="buttons">
          {errors > 0 && tab !== 'data' && tab !== 'raw' && (
            <Button size="small" kind="quiet" onClick={showNextError} title="Next error: key .">
              <span class="failed">{`✕ ${plural(errors, 'error')}`}</span>
            </Button>
          )}
          {tab === 'conversation' && !store.view.value.hasEnded && <FollowButton on={follow} />}
        </span>
      </Tabs>
      {tab === 'conversation' && <Talk store={store} run={run} follow={follow} />}
      {tab === 'timeline' && <Timeline store={store} />}
      {tab === 'data' && <Data run={run} store={store} />}
      {tab === 'raw' && <Raw store={store} run={run} />}
    </div>
  );
}

/** Keeps its end in view while the run talks, until the reader scrolls up. */
function Talk(props: {
  readonly store: RunStore;
  readonly run: RunRecord;
  readonly follow: Signal<boolean>;
}): JSX.Element {
  const { store, run, follow } = props;
  const { items, hasEnded } = store.view.value;
  return (
    <FollowedLog follow={follow} isLive={run.status === 'running'}>
      <Conversation run={run} items={items} hasEnded={hasEnded} />
      {run.status === 'failed' && !hasFailure(items) && (
        <p class="note failed-note">{`${run.error_message ?? ''} ${remedyOf(run.error_code)}`}</p>
      )}
    </FollowedLog>
  );
}

/** Whether the page stays at the end of the conversation while the run talks. */
function FollowButton({ on }: { readonly on: Signal<boolean> }): JSX.Element {
  return (
    <Button
      size="small"
      kind="quiet"
      pressed={on.value}
      onClick={() => (on.value = !on.value)}
      title="Keep the latest output in view"
    >
      {on.value ? '●' : '○'} follow <kbd>f</kbd>
    </Button>
  );
}

function isError(item: TranscriptItem): boolean {
  return item.kind === 'failure' || (item.kind === 'tool' && item.ok === false);
}

/** Goes to the error after the one that has the focus; after the last one, to the first. */
function showNextError(): void {
  const errors = [...document.querySelectorAll<HTMLElement>('[data-error]')];
  const at = errors.findIndex((element) => element.contains(document.activeElement));
  const next = errors[(at + 1) % errors.length];
  if (next === undefined) return announce('No errors.');
  next.scrollIntoView({ block: 'center' });
  next.focus({ preventScroll: true });
}

function hasFailure(items: readonly TranscriptItem[]): boolean {
  return items.some(({ kind }) => kind === 'failure');
}

function Timeline({ store }: { readonly store: RunStore }): JSX.Element {
  const [count, setCount] = useState(200);
  const { events } = store.view.value;
  const rows = timelineRows(events);
  const asked = place.value.query.get('event');
  const chosen = asked === null ? undefined : rowAt(rows, asked)?.id;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const row = list.current?.querySelector<HTMLElement>('[data-chosen] > summary');
    row?.scrollIntoView({ block: 'center' });
    row?.focus({ preventScroll: true });
  }, [chosen]);
  const first = Date.parse(events[0]?.created_at ?? '');
  if (rows.length === 0) return <Empty title="No events yet." />;
  const shown = Math.max(count, rows.findIndex(({ id }) => id === chosen) + 1);
  return (
    <div class="card timeline" ref={list}>
      {rows.slice(0, shown).map((row) => (
        <TimelineEntry key={row.id} row={row} first={first} isChosen={row.id === chosen} />
      ))}
      {rows.length > shown && (
        <div class="list-more">
          <Button kind="quiet" size="small" onClick={() => setCount(shown + 500)}>
            {`${rows.length - shown} more`}
          </Button>
        </div>
      )}
    </div>
  );
}

/** An event in words; its name on the wire is in the tooltip and in its data. */
function TimelineEntry(props: {
  readonly row: TimelineRow;
  readonly first: number;
  readonly isChosen: boolean;
}): JSX.Element {
  const { row, first, isChosen } = props;
  return (
    <details open={isChosen || undefined} data-chosen={isChosen ? '' : undefined}>
      <summary data-error={isBad(row) ? '' : undefined}>
        <span class="muted" title={row.at}>{`+${offset(Date.parse(row.at) - first)}`}</span>
        <span class={isBad(row) ? 'failed' : ''} title={row.type}>
          {eventName(row.type)}
        </span>
        <span class="clip muted">{row.summary}</span>
        {row.tokens !== undefined && <span class="muted nowrap">{usedBy(row.tokens)}</span>}
      </summary>
      <OpenEvent row={row} />
    </details>
  );
}

function isBad({ type, data }: TimelineRow): boolean {
  const isRefused =
    typeof data === 'object' && data !== null && 'ok' in data && data['ok'] === false;
  return type === 'error' || isRefused;
}

function offset(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(2)} s` : stopwatch(ms);
}

function Data(props: { readonly run: RunRecord; readonly store: RunStore }): JSX.Element {
  const { run, store } = props;
  const output = run.output_text ?? store.view.value.text;
  // What the run returned stands above the tabs.
  const isTyped = run.output !== undefined;
  return (
    <div class="columns">
      <Card title="Input" aside={<CopyButton text={jsonText(run.input)} label="Copy the input" />}>
        <div class="card-body">
          <JsonTree value={run.input} name="input" />
        </div>
      </Card>
      <Card
        title={isTyped ? 'Text' : 'Output'}
        aside={<CopyButton text={output} label={`Copy the ${isTyped ? 'text' : 'output'}`} />}
      >
        <div class="card-body">
          {output === '' ? <p class="muted">No messages</p> : <Markdown text={output} />}
        </div>
      </Card>
    </div>
  );
}

/** Events that are drawn as text; the download has all of them. */
const maxRaw = 300;

function Raw(props: { readonly store: RunStore; readonly run: RunRecord }): JSX.Element {
  const { store, run } = props;
  const { events } = store.view.value;
  const lines = (count: number) =>
    events
      .slice(0, count)
      .map((event) => JSON.stringify(event))
      .join('\n');
  return (
    <div class="stack tight">
      <div class="buttons">
        <Button size="small" onClick={() => download(`${run.id}.jsonl`, lines(events.length))}>
          Download all events
        </Button>
        {events.length > maxRaw && (
          <span class="muted">{`showing the first ${maxRaw} of ${events.length}`}</span>
        )}
      </div>
      <div class="code-block">
        <pre tabIndex={0} role="region" aria-label="Events as JSON">
          {lines(maxRaw)}
        </pre>
      </div>
    </div>
  );
}
