import type { TranscriptEvent } from './transcript.ts';

/**
 * Events in place of those of an ended run that were deleted (D-195): its text, if it said something. The last event is
 * still there. `width` is the length of the run's event ids.
 */
export function eventsInstead(text: string | undefined, width: number): readonly TranscriptEvent[] {
  const begun = { id: '1'.padStart(width, '0'), type: 'run_started', data: {} };
  const said = { id: '2'.padStart(width, '0'), type: 'message_delta', data: { text } };
  return text === undefined ? [begun] : [begun, said];
}
