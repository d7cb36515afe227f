import type { RunMetadata } from '../run-metadata.ts';
import { voidTextIn } from '../speech.ts';
import type { TranscriptEvent } from '../transcript.ts';
import { type UiPart, applyChunk } from './parts.ts';
import { UiStream, type UiStreamOptions } from './stream.ts';

/** A message as the AI SDK's UI keeps it. */
export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly metadata?: RunMetadata | undefined;
  readonly parts: readonly UiPart[];
}

/** The assistant message of a run, equal to the one that the library builds from a stream of the same events. */
export function assistantMessage(
  run: Pick<UiStreamOptions, 'sessionId' | 'runId' | 'isTruncated' | 'usage' | 'mayAllow'>,
  events: readonly TranscriptEvent[],
): UiMessage {
  const stream = new UiStream({ ...run, voids: voidTextIn(events), hasEnded: true });
  const parts: UiPart[] = [];
  const chunks = [...events.flatMap((event) => stream.take(event, true)), ...stream.pause()];
  let metadata: RunMetadata | undefined;
  for (const chunk of chunks) {
    applyChunk(parts, chunk);
    if (chunk.type === 'finish') metadata = chunk.messageMetadata;
  }
  metadata ??= stream.metadata();
  return { id: run.runId, role: 'assistant', metadata, parts };
}
