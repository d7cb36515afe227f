import { RunText, type TextEvent } from '@convoke/faces';
import type { Run } from '../../domain/run/run.ts';
import type { Store } from '../../ports/store.ts';

/** A longer answer is read from the events; the run's field is then absent, not truncated. */
export const outputTextMaxCharacters = 1024 * 1024;

/**
 * Joins the text of the run's deltas in order (spec §6), without what interruptions discarded (D-87). Reads up to the
 * event `until`. Undefined when the text is too long to store.
 */
export async function readOutputText(
  store: Store,
  run: Pick<Run, 'id'>,
  until = Number.POSITIVE_INFINITY,
): Promise<string | undefined> {
  const joined = new RunText();
  for await (const event of textEvents(store, { run, after: 0, until })) {
    joined.take(event);
    if (joined.text.length > outputTextMaxCharacters) return undefined;
  }
  return joined.text;
}

/** A `message_delta` that the last recovery point does not cover. */
export interface CutDelta {
  readonly id: string;
  readonly text: string;
}

/**
 * The text after the run's last recovery point, as far as it belongs to the answer: a leg that resumes continues after
 * it, or says it again. Undefined when it is longer than an answer can be stored.
 */
export async function readCutDeltas(
  store: Store,
  run: Run,
  pointSeq: number,
): Promise<readonly CutDelta[] | undefined> {
  let deltas: CutDelta[] | undefined = [];
  let first: string | undefined;
  let characters = 0;
  for await (const { id, type, data } of textEvents(store, { run, after: pointSeq })) {
    if (type === 'message_delta') {
      const { text } = data as { readonly text: string };
      first ??= id;
      characters += text.length;
      if (characters > outputTextMaxCharacters) deltas = undefined;
      deltas?.push({ id, text });
      continue;
    }
    const { discard_from_event_id: from } = data as { readonly discard_from_event_id?: string };
    if (from === undefined || first === undefined) continue;
    // Everything is discarded, however long it was.
    if (from <= first) [deltas, first] = [[], undefined];
    else deltas = deltas?.filter((delta) => delta.id < from);
    characters = deltas?.reduce((sum, { text }) => sum + text.length, 0) ?? characters;
  }
  return deltas;
}

export function joined(deltas: readonly CutDelta[]): string {
  return deltas.map(({ text }) => text).join('');
}

interface TextRange {
  readonly run: Pick<Run, 'id'>;
  readonly after: number;
  readonly until?: number;
}

/** The events on which the text of a run depends, page by page. */
async function* textEvents(
  store: Store,
  { run, after, until = Number.POSITIVE_INFINITY }: TextRange,
): AsyncGenerator<TextEvent, void> {
  let last = after;
  for (;;) {
    const { events, isCut } = await store.read.runEvents.after(run.id, last, {
      limit: 1000,
      maxBytes: 1024 * 1024,
    });
    for (const { seq, type, body } of events) {
      if (seq <= until && isPartOfText(type)) yield JSON.parse(body) as TextEvent;
    }
    last = events.at(-1)?.seq ?? last;
    if (!isCut || last >= until) return;
  }
}

function isPartOfText(type: string): boolean {
  return type === 'message_delta' || type === 'run_interrupted';
}
