import { StreamResponse, Task, TaskState } from '@a2a-js/sdk';
import type * as legacy from 'a2a-v03';
import { describe, expect, test } from 'vitest';
import {
  A2aStream,
  type A2aStreamOptions,
  type A2aUpdate,
  type TranscriptEvent,
  legacyUpdate,
} from '../src/index.ts';
import { runLogs } from './run-logs.ts';
import { logOf, said } from './written-events.ts';

type Legacy = legacy.Task | legacy.TaskStatusUpdateEvent | legacy.TaskArtifactUpdateEvent;
// The compiler proves that the types of version 0.3 take our responses.
const legacyOf = (update: A2aUpdate): Legacy => legacyUpdate(update);

const run = { sessionId: 'sess_1', runId: 'run_1', endsAtWait: false };

/** The updates of a stream that is opened when `known` events have happened. */
function updatesOf(
  events: readonly TranscriptEvent[],
  known: number,
  options: Partial<A2aStreamOptions> = {},
) {
  const upTo = known === 0 ? undefined : events[known - 1]?.id;
  const stream = new A2aStream({ ...run, upTo, ...options });
  const updates = [...stream.start()];
  // Every event is a batch of its own, as in a run that is slow.
  for (const [index, event] of events.entries()) {
    updates.push(...stream.take(event));
    if (index + 1 >= known) updates.push(...stream.pause());
  }
  return { updates, stream };
}

/** What the agent returned has an artifact of its own. */
const isAnswer = ({ artifactId }: { readonly artifactId: string }) => artifactId !== 'output';

/** The text of the artifact, as a client of the protocol joins it. */
function textOf(updates: readonly A2aUpdate[]): string {
  let text = '';
  for (const update of updates) {
    // Through the SDK and back: what it does not know would be lost.
    const { payload } = StreamResponse.fromJSON(JSON.parse(JSON.stringify(update)));
    const artifact =
      payload?.$case === 'task'
        ? payload.value.artifacts.find(isAnswer)
        : payload?.$case === 'artifactUpdate'
          ? payload.value.artifact
          : undefined;
    if (artifact === undefined || !isAnswer(artifact)) continue;
    const part = artifact.parts
      .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
      .join('');
    text = payload?.$case === 'artifactUpdate' && payload.value.append ? text + part : part;
  }
  return text;
}

const stateOf = (update: A2aUpdate | undefined) =>
  update !== undefined && 'statusUpdate' in update
    ? update.statusUpdate.status.state
    : update !== undefined && 'task' in update
      ? update.task.status.state
      : undefined;

describe.each(runLogs())('a log of $framework: $name', ({ events, outputText, pending }) => {
  test('has the text of the run in its artifact, whenever the stream is opened (D-235)', () => {
    for (let known = 0; known <= events.length; known += 1) {
      const { updates, stream } = updatesOf(events, known);
      const text = textOf(updates);
      if (outputText !== null) expect([known, text]).toEqual([known, outputText]);
      const artifact = stream.task().artifacts?.find(isAnswer);
      const [part] = artifact?.parts ?? [{ text: '' }];
      expect(part).toEqual({ text });
    }
  });

  test('begins with the task, and says each state once', () => {
    const { updates, stream } = updatesOf(events, 0);
    expect(Object.keys(updates[0] ?? {})).toEqual(['task']);
    expect(updates.slice(1).filter((update) => 'task' in update)).toEqual([]);
    const states = updates.flatMap((update) => stateOf(update) ?? []);
    const again = states.filter(
      (state, index) => state === states[index - 1] && state !== 'TASK_STATE_INPUT_REQUIRED',
    );
    expect(again).toEqual([]);
    const { status } = stream.task();
    expect(TaskState[status.state]).toBe(Task.fromJSON(stream.task()).status?.state);
    expect(status.state === 'TASK_STATE_INPUT_REQUIRED').toBe(pending.length > 0);
    const asked = JSON.stringify(status.message ?? {});
    expect(pending.filter((key) => !asked.includes(key))).toEqual([]);
  });

  test('survives the SDK, and says the same in version 0.3', () => {
    for (const update of updatesOf(events, 0).updates) {
      const sent: unknown = JSON.parse(JSON.stringify(update));
      const read = StreamResponse.toJSON(StreamResponse.fromJSON(sent));
      // The SDK leaves out what has its default.
      expect(sent).toMatchObject(read as object);
      const old = legacyOf(update);
      const kinds = {
        task: 'task',
        statusUpdate: 'status-update',
        artifactUpdate: 'artifact-update',
      };
      expect(old.kind).toBe(kinds[Object.keys(update)[0] as keyof typeof kinds]);
      if (old.kind !== 'artifact-update') {
        const name = old.status.state.toUpperCase().replaceAll('-', '_');
        expect(`TASK_STATE_${name}`).toBe(stateOf(update));
      }
    }
  });

  test('ends where a person is asked, if it is the response to a message', () => {
    const first = events.findIndex(
      ({ type }) => type === 'permission_request' || type === 'user_question',
    );
    if (first === -1) return;
    const { updates, stream } = updatesOf(events, 0, { endsAtWait: true });
    expect([stream.isOver, stateOf(updates.at(-1))]).toEqual([true, 'TASK_STATE_INPUT_REQUIRED']);
  });
});

test('text that an interruption discards is replaced by what is kept of it', () => {
  const events = logOf(
    ['run_started', {}],
    said('kept '),
    said('void '),
    ['run_interrupted', { reason: 'worker_lost', discard_from_event_id: '000000000003' }],
    said('again'),
    ['run_completed', {}],
  );
  const { updates } = updatesOf(events, 0);
  expect(textOf(updates)).toBe('kept again');
  expect(textOf(updatesOf(events, 3).updates)).toBe('kept again');
  expect(updates.filter((update) => 'artifactUpdate' in update)).toMatchObject([
    { artifactUpdate: { append: false, artifact: { parts: [{ text: 'kept ' }] } } },
    { artifactUpdate: { append: true, artifact: { parts: [{ text: 'void ' }] } } },
    { artifactUpdate: { append: false, artifact: { parts: [{ text: 'kept ' }] } } },
    { artifactUpdate: { append: true, artifact: { parts: [{ text: 'again' }] } } },
  ]);
});

test('requests that are open together are one state, and what is left of them another', () => {
  const question = { request_id: 'q', interaction_key: 'key_1', question: 'Which?' };
  const permission = {
    request_id: 'p',
    interaction_key: 'key_2',
    tool_name: 'Write',
    tool_input: { path: 'a' },
  };
  const stream = new A2aStream({ ...run, upTo: undefined });
  stream.start();
  const feed = (events: readonly TranscriptEvent[]) =>
    events.flatMap((event) => stream.take(event));
  const events = logOf(
    ['run_started', {}],
    ['user_question', question],
    ['permission_request', permission],
    ['user_answered', { interaction_key: 'key_1', answer: 'red' }],
    ['permission_resolved', { interaction_key: 'key_2', decision: 'allow' }],
  );
  feed(events.slice(0, 3));
  expect(stream.pause()).toMatchObject([
    {
      statusUpdate: {
        status: {
          state: 'TASK_STATE_INPUT_REQUIRED',
          message: {
            parts: [
              { text: 'Which?\n\nThe agent asks for permission to call Write.' },
              { data: { interaction_key: 'key_1', kind: 'question', question: 'Which?' } },
              { data: { interaction_key: 'key_2', kind: 'permission', tool_name: 'Write' } },
            ],
          },
        },
      },
    },
  ]);
  expect(stream.pause()).toEqual([]);
  expect(feed(events.slice(3, 4))).toEqual([]);
  expect(stream.pause()).toMatchObject([
    {
      statusUpdate: {
        status: { message: { parts: [{}, { data: { interaction_key: 'key_2' } }] } },
      },
    },
  ]);
  expect(feed(events.slice(4))).toMatchObject([
    { statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } },
  ]);
});
