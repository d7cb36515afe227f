import type { Json, TranscriptEvent } from '../src/index.ts';
import { logOf } from './written-events.ts';

/** An event of the log, or the end of what is there for now. */
type Written = readonly [string, object] | 'pause';

/** What an encoder sends for a log whose events come in these batches. */
export interface Story<Options> {
  readonly title: string;
  readonly options?: Partial<Options>;
  readonly batches: readonly (readonly Written[])[];
  /** One for each event of the protocol: the number of the batch, the type and the fields. */
  readonly lines: readonly string[];
}

interface Sent {
  readonly type: string;
}

interface Encoder {
  take(event: TranscriptEvent, isFollowed: boolean): readonly Sent[];
  pause(): readonly Sent[];
}

export function sentLines(encoder: Encoder, batches: Story<object>['batches']): string[] {
  const log = logOf(...batches.flat().filter((written) => written !== 'pause'));
  let taken = 0;
  return batches.flatMap((batch, number) =>
    batch.flatMap((written, index) => {
      const event = written === 'pause' ? undefined : log[taken++];
      const sent =
        event === undefined ? encoder.pause() : encoder.take(event, index < batch.length - 1);
      return sent.map((each) => `${number + 1} ${lineOf(each)}`);
    }),
  );
}

/** An event of a protocol: its type and its fields. */
export function lineOf({ type, ...fields }: Sent): string {
  const named = Object.entries(fields as Readonly<Record<string, Json>>).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [type, ...named].join(' ');
}

/** One batch for each event. */
export const apart = (...events: readonly Written[]) => events.map((event) => [event]);

export const began = ['run_started', {}] as const;
export const read = [
  'claude.tool_call',
  { tool_call_id: 'c', name: 'Read', input: { path: 'a' } },
] as const;
export const readResult = ['claude.tool_result', { tool_call_id: 'c', content: 'text' }] as const;
export const thought = (text: string) => ['claude.thought', { text }] as const;
export const question = ['user_question', { interaction_key: 'q', question: 'Which?' }] as const;
export const resolved = (outcome: object) =>
  ['permission_resolved', { interaction_key: 'key_1', ...outcome }] as const;
export const interrupted = (from?: string) =>
  [
    'run_interrupted',
    { reason: 'worker_lost', ...(from !== undefined && { discard_from_event_id: from }) },
  ] as const;
export const completed = ['run_completed', {}] as const;
export const failed = ['error', { message: 'broken', error_code: 'agent_error' }] as const;
