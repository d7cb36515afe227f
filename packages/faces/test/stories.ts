import type { Json, TranscriptEvent } from '../src/index.ts';
import { logOf, said } from './written-events.ts';

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

/** A run of thoughts, text, a call with two results and an output; what comes after its end is late. */
export const wholeRun = [
  began,
  thought('Hm. '),
  thought('Well. '),
  said(''),
  said('I '),
  said('read. '),
  read,
  read,
  readResult,
  readResult,
  said('Done.'),
  ['run_output', { output: { sum: 3 } }],
  completed,
  said('late'),
  'pause',
] as const;

/** What a page of the AI SDK gets of `shownThenAsked` before the request, one batch for each event. */
export const uiShown = [
  '1 start-step',
  '2 text-start id=t000000000002',
  '2 text-delta id=t000000000002 delta=I write. ',
  '3 text-end id=t000000000002',
  '3 tool-input-available toolCallId=toolu_1 dynamic=true providerExecuted=true toolName=Write input={"path":"a"}',
];

/** The same with the request, for version 7: the call leaves its step. */
export const uiAsked = [
  ...uiShown,
  '4 reset-step',
  '4 text-start id=t000000000002',
  '4 text-delta id=t000000000002 delta=I write. ',
  '4 text-end id=t000000000002',
  '4 finish-step',
  '4 start-step',
  '4 tool-input-available toolCallId=toolu_1 dynamic=true providerExecuted=true toolName=Write input={"path":"a"}',
  '4 tool-approval-request approvalId=key_1 toolCallId=toolu_1',
];

/** What a client of AG-UI gets of `shownThenAsked` before the request. */
export const agUiShown = [
  '2 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
  '2 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=I write. ',
  '3 TEXT_MESSAGE_END messageId=run_1-2',
  '3 TOOL_CALL_START toolCallId=run_1-call-toolu_1 toolCallName=Write',
  '3 TOOL_CALL_ARGS toolCallId=run_1-call-toolu_1 delta={"path":"a"}',
  '3 TOOL_CALL_END toolCallId=run_1-call-toolu_1',
];
