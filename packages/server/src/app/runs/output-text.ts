import { RunText, type TextEvent } from '@convoke/contract';
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
  run: Run,
  until = Number.POSITIVE_INFINITY,
): Promise<string | undefined> {
  const joined = new RunText();
  let after = 0;
  for (;;) {
    const { events, isCut } = await store.read.runEvents.after(run.id, after, {
      limit: 1000,
      maxBytes: 1024 * 1024,
    });
    for (const { seq, type, body } of events) {
      if (seq <= until && isPartOfText(type)) joined.take(JSON.parse(body) as TextEvent);
    }
    if (joined.text.length > outputTextMaxCharacters) return undefined;
    after = events.at(-1)?.seq ?? after;
    if (!isCut || after >= until) return joined.text;
  }
}

function isPartOfText(type: string): boolean {
  return type === 'message_delta' || type === 'run_interrupted';
}
