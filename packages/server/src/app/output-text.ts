import type { Run } from '../domain/run.ts';
import type { Store } from '../ports/store.ts';

/** A longer answer is read from the events; the run's field is then absent, not truncated. */
export const outputTextMaxCharacters = 1024 * 1024;

/** Body of a `message_delta` event. */
interface Delta {
  readonly data: { readonly text: string };
}

/** Joins the text of the run's deltas in order (spec §6). Undefined when it is too long to store. */
export async function readOutputText(store: Store, run: Run): Promise<string | undefined> {
  let text = '';
  let after = 0;
  for (;;) {
    const { events, isCut } = await store.read.runEvents.after(run.id, after, {
      limit: 1000,
      maxBytes: 1024 * 1024,
    });
    for (const event of events) {
      if (event.type === 'message_delta') text += (JSON.parse(event.body) as Delta).data.text;
    }
    if (text.length > outputTextMaxCharacters) return undefined;
    if (!isCut) return text;
    after = events.at(-1)?.seq ?? after;
  }
}
