// Each response of a stream, exactly: what a client shows is the sum of them, and nothing else is sent.
import { describe, expect, test } from 'vitest';
import type { A2aEvent } from '../src/a2a/stream.ts';
import { A2aStream, type A2aStreamOptions, type A2aUpdate } from '../src/index.ts';
import { logOf, permission, said } from './written-events.ts';

const ids = { taskId: 'run_1', contextId: 'sess_1' };
const failure = { message: 'The key is missing.', error_code: 'model_error' };

/** A run that talks, asks, is allowed to, and fails. */
const failing = timed(
  ['run_started', {}],
  said('I write. '),
  ['permission_request', permission],
  ['permission_resolved', { interaction_key: 'key_1', decision: 'allow' }],
  said('Written. '),
  ['error', failure],
);

/** Events a second apart. */
function timed(...events: readonly (readonly [string, object])[]): readonly A2aEvent[] {
  return logOf(...events).map((event, index) => ({ ...event, created_at: at(index + 1) }));
}

function at(second: number): string {
  return `2026-01-01T00:00:0${second}.000Z`;
}

function open(options: Partial<A2aStreamOptions> = {}): A2aStream {
  const { contextId: sessionId, taskId: runId } = ids;
  return new A2aStream({ sessionId, runId, upTo: undefined, endsAtWait: false, ...options });
}

/** The updates of events that arrive in these batches. */
function given(stream: A2aStream, ...batches: readonly (readonly A2aEvent[])[]): A2aUpdate[] {
  return [
    ...stream.start(),
    ...batches.flatMap((batch) => [
      ...batch.flatMap((event) => stream.take(event)),
      ...stream.pause(),
    ]),
  ];
}

const task = (status: object, more: object = {}) => ({
  task: { id: 'run_1', contextId: 'sess_1', status, ...more },
});
const update = (status: object, more: object = {}) => ({
  statusUpdate: { ...ids, status, ...more },
});
const text = (words: string, append: boolean) => ({
  artifactUpdate: { ...ids, artifact: { artifactId: 'answer', parts: [{ text: words }] }, append },
});
const artifacts = (words: string) => ({
  artifacts: [{ artifactId: 'answer', parts: [{ text: words }] }],
});
const asked = {
  state: 'TASK_STATE_INPUT_REQUIRED',
  timestamp: at(3),
  message: {
    messageId: expect.stringMatching(/^run_1-./),
    ...ids,
    role: 'ROLE_AGENT',
    parts: [
      { text: 'The agent asks for permission to call Write.' },
      {
        data: {
          interaction_key: 'key_1',
          kind: 'permission',
          tool_name: 'Write',
          tool_input: { path: 'a' },
        },
      },
    ],
  },
};
const failed = {
  state: 'TASK_STATE_FAILED',
  timestamp: at(6),
  message: {
    messageId: 'run_1-end',
    ...ids,
    role: 'ROLE_AGENT',
    parts: [{ text: failure.message }],
  },
};
const code = { metadata: { error_code: 'model_error' } };
const rest = [
  update({ state: 'TASK_STATE_WORKING', timestamp: at(4) }),
  text('Written. ', true),
  update(failed, code),
];

describe('a run that asks and fails', () => {
  test('is the submitted task, and each change of it', () => {
    const stream = open();
    expect(given(stream, ...failing.map((event) => [event]))).toEqual([
      task({ state: 'TASK_STATE_SUBMITTED' }),
      update({ state: 'TASK_STATE_WORKING', timestamp: at(1) }),
      text('I write. ', false),
      update(asked),
      ...rest,
    ]);
    expect(stream.isOver).toBe(true);
    expect(stream.task()).toEqual(
      task(failed, { ...artifacts('I write. Written. '), ...code }).task,
    );
  });

  test.each([
    [
      1,
      task({ state: 'TASK_STATE_WORKING', timestamp: at(1) }),
      [text('I write. ', false), update(asked), ...rest],
    ],
    [
      2,
      task({ state: 'TASK_STATE_WORKING', timestamp: at(1) }, artifacts('I write. ')),
      [update(asked), ...rest],
    ],
    [3, task(asked, artifacts('I write. ')), rest],
    [6, task(failed, { ...artifacts('I write. Written. '), ...code }), []],
  ])('is summed up to its event %d, and continued', (known, first, updates) => {
    const stream = open({ upTo: failing[known - 1]?.id });
    const [past, news] = [failing.slice(0, known), failing.slice(known)];
    expect(given(stream, past, ...news.map((event) => [event]))).toEqual([first, ...updates]);
    expect(stream.isOver).toBe(true);
  });

  test('is summed up where it ends before the event that was known', () => {
    const stream = open({ upTo: '000000000099' });
    const summed = task(failed, { ...artifacts('I write. Written. '), ...code });
    expect(given(stream, failing)).toEqual([summed]);
  });

  test('says nothing after its end, and nothing in a pause before it is summed up', () => {
    const stream = open({ upTo: failing[5]?.id });
    expect(given(stream, failing.slice(0, 2))).toEqual([]);
    given(stream, failing.slice(2));
    expect(given(stream, failing)).toEqual([]);
  });

  test('ends with its request where that is what the client waits for', () => {
    const stream = open({ endsAtWait: true });
    const updates = given(stream, failing.slice(0, 3));
    expect([updates.at(-1), stream.isOver]).toEqual([update(asked), true]);
    expect(given(open({ endsAtWait: true }), failing.slice(0, 2), failing.slice(3))).toHaveLength(
      5,
    );
    expect(stream.take(failing[3] ?? missing)).toEqual([]);
    expect(stream.pause()).toEqual([]);
  });

  test('has its open request in its task while the stream has not paused', () => {
    const stream = open();
    for (const event of failing.slice(0, 3)) stream.take(event);
    expect(stream.task()).toEqual(task(asked, artifacts('I write. ')).task);
  });
});

const missing: A2aEvent = { id: '', type: '', data: {} };

test('an end without words has no message, and a run without text no artifact', () => {
  const events = timed(['run_started', {}], said(''), ['run_completed', {}]);
  const stream = open();
  expect(given(stream, events)).toEqual([
    task({ state: 'TASK_STATE_SUBMITTED' }),
    update({ state: 'TASK_STATE_WORKING', timestamp: at(1) }),
    update({ state: 'TASK_STATE_COMPLETED', timestamp: at(3) }),
  ]);
  expect(stream.task()).toEqual(task({ state: 'TASK_STATE_COMPLETED', timestamp: at(3) }).task);
});

test('a row that stands for deleted events has no time, and neither has the task', () => {
  const [deleted, ...others] = timed(['run_started', {}], ['run_cancelled', {}]);
  const { created_at: _, ...timeless } = deleted ?? missing;
  expect(given(open(), [timeless], others)).toEqual([
    task({ state: 'TASK_STATE_SUBMITTED' }),
    update({ state: 'TASK_STATE_WORKING' }),
    update({ state: 'TASK_STATE_CANCELED', timestamp: at(2) }),
  ]);
});

test('text that is taken back before anything was sent of it is not sent', () => {
  const events = timed(
    ['run_started', {}],
    said('void '),
    ['run_interrupted', { reason: 'worker_lost', discard_from_event_id: '000000000002' }],
    said('again'),
  );
  const working = task({ state: 'TASK_STATE_WORKING', timestamp: at(1) });
  expect(given(open({ upTo: events[2]?.id }), events)).toEqual([working, text('again', false)]);
});
