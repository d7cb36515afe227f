import type { Json, JsonObject, RunEvent } from '@convoke/sdk';
import { eventLine } from './event-lines.ts';
import { jsonSummary } from '../json-text.ts';
import { money } from '../usage.ts';

/** A row of the timeline. Pieces of text that follow each other are one row. */
export interface TimelineRow {
  readonly id: string;
  readonly at: string;
  readonly type: string;
  readonly summary: string;
  readonly data: Json;
  /** The usage of the model's answer to which this belongs, if its framework reports it (D-341). */
  readonly tokens?: StepTokens | undefined;
  /** What came of a tool call or a request: the event that ended it. */
  readonly outcome?: { readonly type: string; readonly data: Json } | undefined;
}

export interface StepTokens {
  readonly input: number;
  readonly output: number;
  /** As people write it; absent where the model has no price. */
  readonly cost: string | undefined;
}

export function timelineRows(events: readonly RunEvent[]): TimelineRow[] {
  const rows: TimelineRow[] = [];
  let stretch: { text: string; count: number } | undefined;
  for (const event of events) {
    if (event.type === 'message_delta') {
      const last = rows.at(-1);
      if (stretch !== undefined && last !== undefined) {
        stretch = { text: stretch.text + event.data.text, count: stretch.count + 1 };
        rows[rows.length - 1] = textRow(last, stretch);
      } else {
        stretch = { text: event.data.text, count: 1 };
        rows.push(textRow({ id: event.id, at: event.created_at }, stretch));
      }
      continue;
    }
    stretch = undefined;
    const data = event.data as unknown as Json;
    rows.push({
      id: event.id,
      at: event.created_at,
      type: event.type,
      summary: eventLine(event) ?? jsonSummary(withoutIds(data), 160),
      data,
    });
  }
  return withOutcomes(withTokens(rows));
}

/** The row that an event is part of. */
export function rowAt(rows: readonly TimelineRow[], eventId: string): TimelineRow | undefined {
  return rows.findLast(({ id }) => id <= eventId);
}

/** Ids that tie events to each other say nothing in a line; the opened event has them. */
const tyingIds = new Set(['run_id', 'tool_call_id', 'interaction_key', 'request_id']);

function withoutIds(data: Json): Json {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data;
  return Object.fromEntries(Object.entries(data).filter(([key]) => !tyingIds.has(key)));
}

/** Of two events with the same id, the first one began what the last one ended. */
function withOutcomes(rows: readonly TimelineRow[]): TimelineRow[] {
  const ends = new Map<string, TimelineRow>();
  return rows
    .toReversed()
    .map((row) => {
      const id = tieOf(row);
      if (id === undefined) return row;
      const end = ends.get(id);
      const isEnd = endings.test(row.type);
      if (isEnd) ends.set(id, row);
      return isEnd || end === undefined
        ? row
        : { ...row, outcome: { type: end.type, data: end.data } };
    })
    .toReversed();
}

const endings = /^(permission_resolved|user_answered|.+\.tool_result)$/;
const beginnings = /^(permission_request|user_question|.+\.tool_call)$/;

/** A request may name the tool call that it is about: its own key ties it to its answer. */
function tieOf({ type, data }: TimelineRow): string | undefined {
  if (!endings.test(type) && !beginnings.test(type)) return undefined;
  const { tool_call_id: call, interaction_key: key } = data as JsonObject;
  return [key, call].find((id) => typeof id === 'string');
}

/** The report of an answer follows its words and tool calls; nothing else is between them. */
function withTokens(rows: readonly TimelineRow[]): TimelineRow[] {
  let tokens: StepTokens | undefined;
  return rows
    .toReversed()
    .map((row) => {
      const reported = tokensOf(row);
      const isOfAnswer = row.type === 'message_delta' || row.type.endsWith('.tool_call');
      if (reported !== undefined || !isOfAnswer) tokens = reported;
      return tokens === undefined ? row : { ...row, tokens };
    })
    .toReversed();
}

function tokensOf({ type, data }: TimelineRow): StepTokens | undefined {
  if (!type.endsWith('.model_usage') || typeof data !== 'object' || data === null) return undefined;
  const { input_tokens: input, output_tokens: output, cost, currency } = data as JsonObject;
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  // A program can write an event of this name, too.
  const isPriced =
    typeof cost === 'number' && typeof currency === 'string' && /^[A-Z]{3}$/.test(currency);
  return { input, output, cost: isPriced ? money(cost, currency) : undefined };
}

function textRow(
  { id, at }: Pick<TimelineRow, 'id' | 'at'>,
  { text, count }: { readonly text: string; readonly count: number },
): TimelineRow {
  const data = { text, events: count };
  return { id, at, type: 'message_delta', summary: jsonSummary(text, 160), data };
}
