import { expect, test } from 'vitest';
import {
  type EventType,
  eventTypes,
  isTerminalEventType,
  runEvent,
  terminalEventTypes,
} from '../src/index.ts';

// Spec §6
test('the event types are exactly those of the specification, those of D-87, D-516, D-523, D-566 and D-852', () => {
  expect(Object.keys(eventTypes).sort()).toEqual(
    [
      'run_started',
      'run_completed',
      'run_cancelled',
      'error',
      'message_delta',
      'permission_request',
      'permission_resolved',
      'permission_approved',
      'call_decided',
      'user_question',
      'user_answered',
      'context_file_loaded',
      'context_file_changed',
      'claude_md_loaded',
      'claude_md_changed',
      'agent_skills_loaded',
      'run_interrupted',
      'run_resumed',
      'run_output',
      'wait_started',
      'wait_ended',
      'connection_used',
    ].sort(),
  );
});

// Spec §6 rules 4 and 5
test('exactly three types are terminal, and an unknown type is not', () => {
  const flagged = Object.entries(eventTypes).flatMap(([type, { terminal }]) =>
    terminal ? [type] : [],
  );
  expect([...terminalEventTypes]).toEqual(['run_completed', 'run_cancelled', 'error']);
  expect(flagged.sort()).toEqual([...terminalEventTypes].sort());
  for (const type of flagged) expect(isTerminalEventType(type)).toBe(true);
  for (const type of ['run_started', 'acp.plan', 'constructor', '']) {
    expect(isTerminalEventType(type)).toBe(false);
  }
});

test('a type of an agent framework passes in the same envelope', () => {
  const event = {
    id: '000000000007',
    type: 'acp.plan',
    session_id: 'sess_1',
    run_id: 'run_1',
    created_at: '2026-01-15T09:30:00.000Z',
    data: { entries: [1, null, { deep: true }] },
  };
  expect(runEvent.parse(event)).toEqual(event);
});

// D-39: events of interactions among them.
test.each<[EventType, object]>([
  ['run_started', { run_id: 'run_1' }],
  ['run_cancelled', { run_id: 'run_1', recovered: true }],
  ['error', { message: 'lost', error_code: 'worker_lost', recovered: true }],
  ['error', { message: 'no code applies' }],
  ['message_delta', { text: ' hi', framework: 'scripted', model: 'scripted' }],
  [
    'permission_request',
    { request_id: 'r', interaction_key: 'k', tool_name: 't', tool_input: null },
  ],
  ['permission_resolved', { interaction_key: 'k', decision: 'deny', message: 'no' }],
  [
    'user_question',
    {
      request_id: 'r',
      interaction_key: 'k',
      question: 'Which?',
      options: [{ label: 'a' }],
      multiple: true,
      replayed: true,
    },
  ],
  ['user_answered', { interaction_key: 'k', answer: ['a', 'b'] }],
  ['user_answered', { interaction_key: 'k', declined: true }],
  ['context_file_changed', { path: 'a', sha256: 'x', size_bytes: 0, previous_sha256: 'y' }],
  [
    'agent_skills_loaded',
    {
      skills: [{ name: 'n', description: 'd', path: 'p' }],
      warnings: [{ directory: 'x', reason: 'y' }],
    },
  ],
])('%s carries %j', (type, data) => {
  expect(eventTypes[type].data.parse(data)).toEqual(data);
});
