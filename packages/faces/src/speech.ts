import { RunTranscript, type TranscriptEvent } from './transcript.ts';

export type SpeechKind = 'text' | 'reasoning';

/** Text or thoughts of an agent without a break: one part of its message. */
export interface Speech {
  readonly kind: SpeechKind;
  readonly id: string;
  readonly deltas: { readonly id: string; readonly text: string }[];
}

/** The last delta of text; undefined for reasoning, which is never void. */
export function lastIdIn({ kind, deltas }: Speech): string | undefined {
  return kind === 'text' ? deltas.at(-1)?.id : undefined;
}

/** Text that an interruption discarded: from one event to another, both included. */
export interface VoidText {
  readonly from: string;
  readonly to: string;
}

/** The void text of a log. A replay that knows it never shows any. */
export function voidTextIn(events: readonly TranscriptEvent[]): readonly VoidText[] {
  const transcript = new RunTranscript();
  return events.flatMap((event) =>
    transcript.take(event).flatMap((item) => {
      if (item.kind !== 'interrupted' || item.discardFrom === undefined) return [];
      return [{ from: item.discardFrom, to: item.id }];
    }),
  );
}

/** Whether the text of this event was discarded. */
export function isVoid(voids: readonly VoidText[] | undefined, id: string): boolean {
  return voids?.some(({ from, to }) => from <= id && id <= to) === true;
}
