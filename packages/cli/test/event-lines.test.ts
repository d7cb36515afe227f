import { Readable } from 'node:stream';
import type { RunEvent } from '@convoke/sdk';
import { expect, test } from 'vitest';
import { collect } from '../src/collect.ts';
import { eventLines } from '../src/terminal/event-lines.ts';

function event(seq: number, type: string, data: object): RunEvent {
  return { id: String(seq).padStart(12, '0'), type, data } as unknown as RunEvent;
}

test('events become lines, and the pieces of an answer one text', async () => {
  const log = [
    event(1, 'run_started', { run_id: 'run_1' }),
    event(2, 'message_delta', { text: 'Hello' }),
    event(3, 'message_delta', { text: ' there\nfriend\n' }),
    event(4, 'user_question', { question: 'Who?', options: [{ label: 'A' }, { label: 'B' }] }),
    event(5, 'user_answered', { answer: ['A', 'B'] }),
    event(6, 'permission_request', { tool_name: 'write', tool_input: { a: 1 } }),
    event(7, 'permission_resolved', { decision: 'deny', message: 'no' }),
    event(8, 'scripted.tool_result', { size: 1 }),
    event(9, 'message_delta', { text: 'Bye' }),
    event(9, 'run_interrupted', {
      reason: 'worker_lost',
      attempt: 1,
      discard_from_event_id: '000000000009',
    }),
    event(9, 'code.not_yielding', { message: 'agent.ts has not yielded for 5 s' }),
    event(10, 'error', { message: 'Broken', error_code: 'agent_error' }),
  ];
  expect(await collect(eventLines(Readable.from(log)))).toEqual([
    '    1  run_started',
    '    3  message               Hello there\n                             friend',
    '    4  user_question         Who? (A, B)',
    '    5  user_answered         A,B',
    '    6  permission_request    write {"a":1}',
    '    7  permission_resolved   deny: no',
    '    8  scripted.tool_result  {"size":1}',
    '    9  message               Bye',
    '    9  run_interrupted       worker_lost, attempt 1, discards the text from 9 on',
    '    9  code.not_yielding     agent.ts has not yielded for 5 s',
    '   10  error                 agent_error: Broken',
  ]);
});
