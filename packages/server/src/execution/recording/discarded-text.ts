import type { RunId } from '@convoke/contract';
import { interruptedText } from '@convoke/faces';
import type { Agent } from '../../domain/agent.ts';
import type { RunEventDraft } from '../../domain/run/run-event.ts';
import type { InterruptionReason } from '../../domain/run/run-parts.ts';

/**
 * Ends the text that is discarded. It is part of it, so readers that know `run_interrupted` drop it, and it is no part
 * of `output_text`. To any other reader it says why the words before it are repeated.
 */
export function endOfDiscarded(agent: Agent | undefined): RunEventDraft {
  const framework = agent?.framework ?? '';
  const model = agent?.model ?? framework;
  return { type: 'message_delta', data: { text: interruptedText, framework, model } };
}

/** The interruption after which a leg repeats the text of its predecessor. */
export interface InterruptedLeg {
  readonly runId: RunId;
  readonly attempt: number;
  readonly reason: InterruptionReason;
}

/**
 * Takes text back in the middle of a leg, because it says something else: readers see the interruption once more
 * (D-473).
 */
export function discardFrom(
  id: string,
  { runId, attempt, reason }: InterruptedLeg,
  agent: Agent,
): readonly RunEventDraft[] {
  const data = { run_id: runId, attempt, reason };
  return [
    endOfDiscarded(agent),
    { type: 'run_interrupted', data: { ...data, discard_from_event_id: id, text_only: true } },
    { type: 'run_resumed', data },
  ];
}
