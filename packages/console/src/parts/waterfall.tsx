import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { duration, plural, roughly } from '../data/formats.ts';
import { type Spans, type TimeScale, timeScale } from '../data/spans.ts';

type DrawnSpan = Spans['spans'][number];

/** More lanes than this are shown on request: a run with hundreds of tool calls stays a picture. */
const maxLanes = 14;

/** Where the time of a run went. Waiting is drawn broken, so that seconds of work stay readable. */
export function Waterfall({ spans }: { readonly spans: Spans }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const scale = timeScale(spans);
  const lanes = lanesOf(spans.spans);
  const shown = isWhole ? lanes : lanes.slice(0, maxLanes);
  return (
    <figure class="waterfall" aria-label={summaryOf(spans)}>
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
        <Lane key={lane.key} lane={lane} scale={scale} />
      ))}
      <div class="breaks" aria-hidden="true">
        {scale.breaks.map(({ from, to, ms }) => (
          <div
            key={from}
            class="break"
            style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
          >
            <span title={`${duration(ms)} without work`}>{roughly(ms)}</span>
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
  readonly name: string;
  readonly isSub: boolean;
  readonly spans: readonly DrawnSpan[];
}

/** One lane for the queue, the legs and the text each; one per tool, and one per thing asked. */
function lanesOf(spans: readonly DrawnSpan[]): LaneOfSpans[] {
  const lanes = new Map<
    string,
    { key: string; name: string; isSub: boolean; spans: DrawnSpan[] }
  >();
  for (const span of spans) {
    const key =
      span.kind === 'tool' || span.kind === 'ask' ? `${span.kind} ${span.label}` : span.kind;
    const name =
      span.kind === 'leg' ? 'legs' : span.kind === 'ask' ? `ask ${span.label}` : span.label;
    const isSub = span.kind !== 'queue' && span.kind !== 'leg';
    const lane = lanes.get(key) ?? { key, name, isSub, spans: [] };
    lane.spans.push(span);
    lanes.set(key, lane);
  }
  return [...lanes.values()];
}

function Lane(props: { readonly lane: LaneOfSpans; readonly scale: TimeScale }): JSX.Element {
  const { lane, scale } = props;
  return (
    <div class={`lane ${lane.isSub ? 'sub' : ''}`}>
      <span class="name" title={lane.name}>
        {lane.name}
      </span>
      <div class="track">
        {lane.spans.map((span, index) => {
          const left = scale.x(span.from);
          const width = Math.max(0, scale.x(span.to) - left);
          const end = span.end === 'failed' ? 'bad' : (span.end ?? '');
          return (
            <span
              key={index}
              class={`span ${span.kind} ${end} ${span.isOpen ? 'open' : ''}`}
              style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
              title={`${span.label} ${duration(span.to - span.from)}${span.end === undefined ? '' : ` (${span.end})`}`}
            />
          );
        })}
      </div>
    </div>
  );
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
