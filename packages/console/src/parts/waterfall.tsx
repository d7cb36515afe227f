import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { compactly, duration, plural } from '../data/formats.ts';
import type { Spans } from '../data/spans/spans.ts';
import {
  type TimeScale,
  durationPlace,
  isSilentOnPhone,
  phoneDurationPlace,
  timeScale,
} from '../data/spans/time-scale.ts';

type DrawnSpan = Spans['spans'][number];

/** More lanes than this are shown on request: a run with hundreds of tool calls stays a picture. */
const maxLanes = 14;

/** Where the time of a run went. Waiting is drawn broken, so that seconds of work stay readable. */
export function Waterfall(props: {
  readonly spans: Spans;
  /** Shows the event that began a stretch. */
  readonly onOpen?: ((eventId: string) => void) | undefined;
}): JSX.Element {
  const { spans, onOpen } = props;
  const [isWhole, setWhole] = useState(false);
  const frame = useRef<HTMLElement>(null);
  const scale = timeScale(spans);
  const lanes = lanesOf(spans.spans);
  const shown = isWhole ? lanes : lanes.slice(0, maxLanes);
  return (
    <figure
      class="waterfall"
      aria-label={summaryOf(spans)}
      ref={frame}
      onKeyDown={(event) => moveInBars(event, frame.current)}
    >
      <div class="axis" aria-hidden="true">
        {scale.ticks.map(({ x, label, fitsNarrow }) => (
          <span
            key={label}
            class={fitsNarrow ? undefined : 'wide-only'}
            style={{ left: `${x * 100}%` }}
          >
            {label === 0 ? '0 s' : duration(label).replace('.0 ', ' ')}
          </span>
        ))}
      </div>
      {shown.map((lane) => (
        <Lane key={lane.key} {...{ lane, scale, onOpen }} reached={spans.spans[0]} />
      ))}
      <div class="breaks" aria-hidden="true">
        {scale.breaks.map(({ from, to, ms }) => (
          <div
            key={from}
            class="break"
            style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
          >
            <span title={`Paused for ${duration(ms)}`}>
              <span class="paused">paused </span>
              {compactly(ms)}
            </span>
          </div>
        ))}
      </div>
      {lanes.length > maxLanes && (
        <div class="more-lanes">
          <button type="button" class="button quiet small" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Fewer lines' : `${lanes.length - maxLanes} more lines`}
          </button>
        </div>
      )}
    </figure>
  );
}

interface LaneOfSpans {
  readonly key: string;
  /** A longer name, used if there is room. */
  readonly prefix: string;
  readonly name: string;
  readonly isSub: boolean;
  readonly spans: readonly DrawnSpan[];
}

/** One lane for the queue, the legs and the text each; one per tool, per thing asked and per wait. */
function lanesOf(spans: readonly DrawnSpan[]): LaneOfSpans[] {
  const lanes = new Map<
    string,
    { key: string; prefix: string; name: string; isSub: boolean; spans: DrawnSpan[] }
  >();
  for (const span of spans) {
    const key =
      span.kind === 'tool' || span.kind === 'ask' || span.kind === 'wait'
        ? `${span.kind} ${span.label}`
        : span.kind;
    const prefix = span.kind === 'ask' ? 'Waiting: ' : (span.prefix ?? '');
    const name = span.kind === 'leg' ? 'Working' : span.label;
    const isSub = span.kind !== 'queue' && span.kind !== 'leg';
    const lane = lanes.get(key) ?? { key, prefix, name, isSub, spans: [] };
    lane.spans.push(span);
    lanes.set(key, lane);
  }
  return [...lanes.values()];
}

interface BarProps {
  readonly span: DrawnSpan;
  readonly scale: TimeScale;
  /** The one bar that the Tab key reaches; the arrows lead to the others. */
  readonly isReached: boolean;
  /** The shares of the width to the neighbours in the lane, or to its ends. */
  readonly room: { readonly before: number; readonly after: number };
  readonly onOpen: ((eventId: string) => void) | undefined;
}

function Lane(
  props: Omit<BarProps, 'span' | 'isReached' | 'room'> & {
    readonly lane: LaneOfSpans;
    readonly reached: DrawnSpan | undefined;
  },
): JSX.Element {
  const { lane, scale, reached, onOpen } = props;
  const bars = lane.spans.map((span, index) => ({
    span,
    width: widthOf(span, scale),
    room: {
      before: scale.x(span.from) - scale.x(lane.spans[index - 1]?.to ?? -Infinity),
      after: scale.x(lane.spans[index + 1]?.from ?? Infinity) - scale.x(span.to),
    },
  }));
  const isSilent = bars.some(({ width, room }) => isSilentOnPhone(width, room));
  const total = lane.spans.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    <div class={`lane ${lane.isSub ? 'sub' : ''}`}>
      <span class="name" title={`${lane.prefix}${lane.name}`}>
        <span class="lane-name">
          {lane.prefix !== '' && <span class="wide-only">{lane.prefix}</span>}
          {lane.name}
        </span>
        {isSilent && <span class="lane-took">{compactly(total)}</span>}
      </span>
      <div class="track">
        {bars.map(({ span, room }, index) => (
          <Bar key={index} {...{ span, scale, onOpen, room }} isReached={span === reached} />
        ))}
      </div>
    </div>
  );
}

function widthOf({ from, to }: DrawnSpan, scale: TimeScale): number {
  return Math.max(0, scale.x(to) - scale.x(from));
}

/** A stretch of time: it says how long it took, and opens its event. */
function Bar({ span, scale, isReached, room, onOpen }: BarProps): JSX.Element {
  const left = scale.x(span.from);
  const width = widthOf(span, scale);
  const isPartlyLost = span.lostFrom !== undefined;
  const end = span.end === 'failed' ? 'bad' : isPartlyLost ? '' : (span.end ?? '');
  const kept = isPartlyLost && width > 0 ? (scale.x(span.lostFrom ?? 0) - left) / width : 1;
  const place = { inside: '', after: 'outside', before: 'outside before' }[
    durationPlace(width, room)
  ];
  const onPhone = place === '' ? phoneDurationPlace(room) : undefined;
  const ended = span.isOpen ? ', still open' : span.end === undefined ? '' : `, ${span.end}`;
  const name = `${span.kind === 'ask' ? 'Waiting: ' : (span.prefix ?? '')}${span.label}`;
  const took = compactly(span.to - span.from);
  const replayed = span.isReplayed === true ? ', replayed' : '';
  const label = `${name}: ${took}${ended}${replayed}`;
  const { eventId } = span;
  return (
    <button
      type="button"
      data-bar={span.from}
      tabIndex={isReached ? 0 : -1}
      class={`span ${span.kind} ${end} ${span.isOpen ? 'open' : ''} ${place} ${onPhone === undefined ? '' : `phone-${onPhone}`}`}
      style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
      title={label}
      aria-label={label}
      onClick={() => eventId !== undefined && onOpen?.(eventId)}
    >
      {isPartlyLost && <span class="lost" style={{ left: `${kept * 100}%` }} />}
      <span class="took" aria-hidden="true">
        {took}
      </span>
    </button>
  );
}

/** The arrows lead from bar to bar, in the order of time. */
function moveInBars(event: KeyboardEvent, frame: HTMLElement | null): void {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step === undefined || frame === null) return;
  const bars = [...frame.querySelectorAll<HTMLElement>('[data-bar]')].toSorted(
    (a, b) => Number(a.dataset['bar']) - Number(b.dataset['bar']),
  );
  const at = bars.findIndex((bar) => bar === document.activeElement);
  if (at < 0) return;
  event.preventDefault();
  bars[Math.min(bars.length - 1, Math.max(0, at + step))]?.focus();
}

/** The picture in words, for those who do not see it. */
function summaryOf({ spans, queuedMs, executedMs, waitedMs }: Spans): string {
  const legs = spans.filter(({ kind }) => kind === 'leg');
  const lost = legs.filter(({ end }) => end === 'interrupted').length;
  const parts = [
    `queued ${duration(queuedMs)}`,
    `ran ${duration(executedMs)} in ${plural(legs.length, 'leg')}`,
    `waited ${duration(waitedMs)}`,
    ...(lost === 0 ? [] : [lost === 1 ? 'interrupted once' : `interrupted ${lost} times`]),
  ];
  return `Time of the run: ${parts.join(', ')}`;
}
