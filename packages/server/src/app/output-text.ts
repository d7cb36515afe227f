import type { Run } from '../domain/run.ts';
import type { Store } from '../ports/store.ts';

/** Longer answers are read from the events; the run's own field stays bounded, and is absent rather than cut. */
export const outputTextMaxCharacters = 1024 * 1024;

/** As `message_delta` was written. */
interface Delta {
  readonly data: { readonly text: string };
}

/** The answer as the log has it: the deltas joined in order (spec §6). Undefined when it is too long to keep. */
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
