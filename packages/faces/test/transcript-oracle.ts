import { RunTranscript, type TranscriptEvent, type TranscriptItem } from '../src/index.ts';

/** What is known of a run from elsewhere. */
export interface KnownRun {
  /** Null where the run has no text, or more than its field holds. */
  readonly outputText: string | null;
  /** Keys of the interactions that are pending. */
  readonly pending: readonly string[];
}

/** What the items of a run must never say, one line for each violation (D-191). */
export function transcriptProblems(
  events: readonly TranscriptEvent[],
  run: KnownRun,
): readonly string[] {
  const transcript = new RunTranscript();
  const items = events.flatMap((event) => transcript.take(event));
  const text = textOf(items);
  const waiting = transcript.waiting.map(({ key }) => key);
  const introduced = items.flatMap((item) => ('isNew' in item && item.isNew ? [item.call] : []));
  const mentioned = items.flatMap((item) => ('call' in item ? [item.call] : []));
  const ended = items.flatMap((item) => (item.kind === 'result' ? [item.call] : []));
  const asked = items.flatMap((item) => (item.kind === 'ask' ? [item.key] : []));
  const claims: readonly [boolean, string][] = [
    [run.outputText === null || run.outputText === text, `the text is ${text}`],
    [sorted(waiting) === sorted(run.pending), `${sorted(waiting)} wait`],
    [isUnique(introduced), `a call is shown twice: ${introduced.join()}`],
    [mentioned.every((id) => introduced.includes(id)), 'a call is never introduced'],
    [isUnique(ended), `a call ends twice: ${ended.join()}`],
    [isUnique(asked), `a request is shown twice: ${asked.join()}`],
    [
      items.every((item) => item.kind !== 'settled' || item.ask !== undefined),
      'an answer to nothing',
    ],
  ];
  return claims.flatMap(([holds, what]) => (holds ? [] : [what]));
}

/** The answer that a reader of items has joined. */
function textOf(items: readonly TranscriptItem[]): string {
  let said: readonly { readonly id: string; readonly text: string }[] = [];
  for (const item of items) {
    if (item.kind === 'text') said = [...said, item];
    if (item.kind !== 'interrupted' || item.discardFrom === undefined) continue;
    const from = item.discardFrom;
    said = said.filter(({ id }) => id < from);
  }
  return said.map(({ text }) => text).join('');
}

function isUnique(ids: readonly string[]): boolean {
  return new Set(ids).size === ids.length;
}

function sorted(keys: readonly string[]): string {
  return keys.toSorted((a, b) => (a < b ? -1 : 1)).join();
}
