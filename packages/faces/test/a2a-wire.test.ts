// What version 0.3 of the protocol says differently, exactly.
import { expect, test } from 'vitest';
import { type A2aMessage, type A2aState, legacyTask, legacyUpdate } from '../src/index.ts';

const ids = { taskId: 'run_1', contextId: 'sess_1' };

test.each([
  ['TASK_STATE_SUBMITTED', 'submitted', false],
  ['TASK_STATE_WORKING', 'working', false],
  ['TASK_STATE_INPUT_REQUIRED', 'input-required', true],
  ['TASK_STATE_COMPLETED', 'completed', true],
  ['TASK_STATE_CANCELED', 'canceled', true],
  ['TASK_STATE_FAILED', 'failed', true],
] as const satisfies readonly (readonly [A2aState, string, boolean])[])(
  'a status %s is %s, and whether a client may stop reading after it: %s',
  (state, old, final) => {
    const update = legacyUpdate({ statusUpdate: { ...ids, status: { state } } });
    expect(update).toEqual({ kind: 'status-update', ...ids, status: { state: old }, final });
  },
);

test('messages, parts and artifacts have kinds, in a task and in its status', () => {
  const parts = [{ text: 'Which?' }, { data: { kind: 'question' } }];
  const message = (role: A2aMessage['role']) => ({ messageId: 'm', ...ids, role, parts });
  const old = [
    { kind: 'text', text: 'Which?' },
    { kind: 'data', data: { kind: 'question' } },
  ];
  const oldMessage = { kind: 'message', messageId: 'm', ...ids, parts: old };
  const state = 'TASK_STATE_INPUT_REQUIRED';
  expect(
    legacyTask({
      id: 'run_1',
      contextId: 'sess_1',
      status: { state, message: message('ROLE_AGENT') },
      artifacts: [{ artifactId: 'answer', parts }],
      history: [message('ROLE_USER')],
    }),
  ).toEqual({
    kind: 'task',
    id: 'run_1',
    contextId: 'sess_1',
    status: { state: 'input-required', message: { ...oldMessage, role: 'agent' } },
    artifacts: [{ artifactId: 'answer', parts: old }],
    history: [{ ...oldMessage, role: 'user' }],
  });
});

test.each([
  [{ a: 1 }, { a: 1 }],
  [[{ a: 1 }], { value: [{ a: 1 }] }],
  [null, { value: null }],
  ['x', { value: 'x' }],
  [0, { value: 0 }],
])('data that is %j is the object %j', (data, object) => {
  const artifact = { artifactId: 'output', name: 'output', parts: [{ data }] };
  expect(legacyUpdate({ artifactUpdate: { ...ids, artifact, append: false } })).toEqual({
    kind: 'artifact-update',
    ...ids,
    artifact: { artifactId: 'output', name: 'output', parts: [{ kind: 'data', data: object }] },
    append: false,
  });
});
