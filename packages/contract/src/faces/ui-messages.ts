import { UiStream, type UiStreamOptions } from './ai-sdk.ts';
import { voidTextIn } from './speech.ts';
import type { TurnEvent } from './turn.ts';
import type { UiMetadata } from './ui-chunks.ts';
import { type UiPart, applyChunk } from './ui-parts.ts';

/** A message as the AI SDK's UI keeps it. */
export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly metadata?: UiMetadata | undefined;
  readonly parts: readonly UiPart[];
}

/** The assistant message of a run, equal to the one that the library builds from a stream of the same events. */
export function assistantMessage(
  run: Pick<UiStreamOptions, 'sessionId' | 'runId' | 'isTruncated' | 'usage'>,
  events: readonly TurnEvent[],
): UiMessage {
  const stream = new UiStream({ ...run, voids: voidTextIn(events), hasEnded: true });
  const parts: UiPart[] = [];
  const chunks = [...events.flatMap((event) => stream.take(event, true)), ...stream.pause()];
  for (const chunk of chunks) applyChunk(parts, chunk);
  const end = chunks.findLast((chunk) => chunk.type === 'finish');
  const metadata = end?.messageMetadata ?? stream.metadata();
  return { id: run.runId, role: 'assistant', metadata, parts };
}
