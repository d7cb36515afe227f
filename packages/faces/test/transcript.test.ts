import { describe, expect, test } from 'vitest';
import { RunTranscript, type TranscriptItem } from '../src/index.ts';
import { runLogs } from './run-logs.ts';
import { transcriptProblems } from './transcript-oracle.ts';
import { logOf } from './written-events.ts';

/** The items of events that are given as type and data. */
function itemsOf(...events: readonly (readonly [string, object])[]): readonly TranscriptItem[] {
  const transcript = new RunTranscript();
  return logOf(...events).flatMap((event) => transcript.take(event));
}

const calls = (items: readonly TranscriptItem[]) =>
  items.flatMap((item) => ('call' in item ? [`${item.kind} ${item.call}`] : []));

describe.each(runLogs())('a log of $framework: $name', ({ events, outputText, pending }) => {
  test('has the text of the run, shows each call once and knows what is pending (D-191)', () => {
    expect(transcriptProblems(events, { outputText, pending })).toEqual([]);
  });

  test('is read alike at every moment', () => {
    const transcript = new RunTranscript();
    for (const [index, event] of events.entries()) {
      transcript.take(event);
      const seen = events.slice(0, index + 1);
      const waiting = transcript.waiting.map(({ key }) => key);
      expect(transcriptProblems(seen, { outputText: null, pending: waiting })).toEqual([]);
    }
  });
});

test('a call that is asked about is the one that its result names, whatever the request is called', () => {
  const request = { request_id: 'call-1-1', interaction_key: 'k', tool_name: 'write' };
  const items = itemsOf(
    ['permission_request', { ...request, tool_input: { a: 1 }, tool_call_id: 'toolu_1' }],
    ['permission_resolved', { interaction_key: 'k', decision: 'allow' }],
    ['ai-sdk.tool_result', { tool_call_id: 'toolu_1', name: 'write', ok: true, output: 'done' }],
  );
  expect(calls(items)).toEqual(['ask toolu_1', 'result toolu_1']);
  expect(items.at(-1)).toMatchObject({ name: 'write', ok: true, output: 'done' });
});

test('a call that was shown before it is asked about stays one call', () => {
  const request = { request_id: 'toolu_1', interaction_key: 'k', tool_name: 'Write' };
  const items = itemsOf(
    ['claude.tool_call', { tool_call_id: 'toolu_1', name: 'Write', input: {} }],
    ['permission_request', { ...request, tool_input: {}, tool_call_id: 'toolu_1' }],
    ['permission_request', { ...request, tool_input: {}, replayed: true }],
    ['permission_resolved', { interaction_key: 'k', decision: 'allow' }],
    ['claude.tool_result', { tool_call_id: 'toolu_1', is_error: true, content: 'no' }],
  );
  expect(calls(items)).toEqual(['call toolu_1', 'ask toolu_1', 'result toolu_1']);
  expect(items.at(-1)).toMatchObject({ ok: false, output: 'no' });
});

test('a provider that repeats an id makes another call of it (D-192)', () => {
  const call = { tool_call_id: 'call_0', name: 'read', input: {} };
  const result = { tool_call_id: 'call_0', name: 'read', ok: true, output: 'x' };
  const items = itemsOf(
    ['ai-sdk.tool_call', call],
    ['ai-sdk.tool_result', result],
    ['ai-sdk.tool_call', call],
    ['ai-sdk.tool_result', result],
    ['ai-sdk.tool_call', { ...call, tool_call_id: 'call_0#2' }],
  );
  expect(calls(items)).toEqual([
    'call call_0',
    'result call_0',
    'call call_0#2',
    'result call_0#2',
    'call call_0#2#2',
  ]);
});

test('a result without an id belongs to the oldest open call of its name', () => {
  const items = itemsOf(
    ['stdio.tool_call', { name: 'read', input: 1 }],
    ['stdio.tool_call', { name: 'write', input: 2 }],
    ['stdio.tool_call', { name: 'read', input: 3 }],
    ['stdio.tool_result', { name: 'read', output: 'one' }],
    ['stdio.tool_result', { name: 'read', output: 'three' }],
    ['stdio.tool_result', { output: 'of a call that was not shown' }],
  );
  const [first, , third] = items.flatMap((item) => (item.kind === 'call' ? [item.call] : []));
  const results = items.filter((item) => item.kind === 'result');
  expect(results.map(({ call }) => call).slice(0, 2)).toEqual([first, third]);
  expect(items.at(-2)).toMatchObject({ kind: 'call', name: 'tool', isNew: true });
});

test('an agent that reports the state of its calls has them once, with their end', () => {
  const id = { tool_call_id: 'c' };
  const items = itemsOf(
    ['acp.tool_call', { ...id, title: 'Edit a.txt', kind: 'edit', status: 'pending' }],
    ['acp.tool_call_update', { ...id, status: 'in_progress' }],
    ['acp.tool_call_update', { ...id, status: 'failed', content: ['no'] }],
    ['acp.tool_call_update', { ...id, status: 'failed' }],
    ['acp.tool_call_update', { tool_call_id: 'd', title: 'Read', status: 'completed' }],
  );
  expect(calls(items)).toEqual(['call c', 'result c', 'call d', 'result d']);
  expect(items.find(({ kind }) => kind === 'result')).toMatchObject({ ok: false, output: ['no'] });
});

test('a step that is carried out once more after an interruption is not shown as another one', () => {
  const call = { tool_call_id: 'pay', name: 'pay', input: {} };
  const items = itemsOf(
    ['code.tool_call', call],
    ['run_interrupted', { attempt: 1, reason: 'worker_lost' }],
    ['run_resumed', { attempt: 2, reason: 'worker_lost' }],
    ['code.tool_call', call],
    ['code.tool_result', { tool_call_id: 'pay', name: 'pay', ok: true, output: null }],
  );
  expect(items.flatMap((item) => ('isNew' in item ? [item.isNew] : []))).toEqual([true, false]);
  expect(calls(items)).toEqual(['call pay', 'call pay', 'result pay']);
});

test('payloads of any shape are read without a throw', () => {
  for (const data of [
    {},
    { text: 3 },
    { tool_call_id: {}, name: [], status: 1 },
    { input: null },
  ]) {
    for (const type of ['x.tool_call', 'x.tool_result', 'x.thought', 'error', 'user_question']) {
      expect(() => itemsOf([type, data], [type, data])).not.toThrow();
    }
  }
});

type Written = readonly [string, object];
const call = (data: object): Written => ['x.tool_call', data];
const result = (data: object): Written => ['x.tool_result', data];

test.each<readonly [string, object, object]>([
  ['message_delta', {}, { kind: 'text', text: '' }],
  ['run_interrupted', {}, { kind: 'interrupted', reason: '', discardFrom: undefined }],
  ['run_interrupted', { reason: 'drain' }, { kind: 'interrupted', reason: 'drain' }],
  ['run_output', {}, { kind: 'output', output: null }],
  ['run_output', { output: 0 }, { kind: 'output', output: 0 }],
  ['error', { message: 'no', error_code: 'x' }, { kind: 'end', message: 'no', code: 'x' }],
  ['run_cancelled', {}, { kind: 'end', outcome: 'cancelled' }],
  ['x.thought', { text: 'Hm.' }, { kind: 'thought', text: 'Hm.' }],
  ['x.agent_thought_chunk', { text: 'Hm.' }, { kind: 'thought', text: 'Hm.' }],
  ['x.thought', { text: '' }, { kind: 'note', type: 'x.thought' }],
  ['x.words', { text: 'Hm.' }, { kind: 'note', type: 'x.words' }],
  ['x.words', { status: 'completed' }, { kind: 'note', type: 'x.words' }],
  ['thought', { text: 'Hm.' }, { kind: 'note', type: 'thought' }],
  ['permission_request', {}, { key: '', name: 'tool', input: null, isNew: true }],
  ['permission_request', { request_id: 'r' }, { call: 'r' }],
  ['user_question', {}, { key: '', question: '', details: {} }],
  [
    'user_question',
    { question: 'Q?', options: [], multiple: false, about: null },
    { question: 'Q?', details: { options: [], multiple: false, about: null } },
  ],
  ['user_answered', {}, { kind: 'settled', key: '' }],
  ['x.tool_call', {}, { call: 'call-000000000001', name: 'tool', input: null }],
  ['x.tool_call', { name: '', title: 'Read', raw_input: 1 }, { name: 'Read', input: 1 }],
  ['x.tool_call', { kind: 'edit', input: 2, raw_input: 1 }, { name: 'edit', input: 2 }],
  ['x.tool_call', { name: 7, title: 'Read' }, { name: 'Read' }],
])('%s with %o is exactly one item', (type, data, item) => {
  const items = itemsOf([type, data]);
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject(item);
  if ('details' in item) expect(items[0]).toHaveProperty('details', item.details);
});

test.each([
  ['permission_approved'],
  ['call_decided'],
  ['wait_started'],
  ['wait_ended'],
  ['connection_used'],
  ['context_file_loaded'],
  ['context_file_changed'],
  ['claude_md_loaded'],
  ['claude_md_changed'],
  ['agent_skills_loaded'],
])('%s is a note with all that it says', (type) => {
  const id = '000000000001';
  expect(itemsOf([type, { a: 1 }])).toEqual([{ kind: 'note', id, type, data: { a: 1 } }]);
});

test.each<readonly [string, readonly Written[], readonly string[]]>([
  [
    'is another one under another name',
    [call({ tool_call_id: 'c', name: 'a' }), call({ tool_call_id: 'c', name: 'b' })],
    ['call c', 'call c#2'],
  ],
  [
    'is the same one without a name',
    [
      call({ tool_call_id: 'c', name: 'a' }),
      call({ tool_call_id: 'c' }),
      result({ tool_call_id: 'c' }),
    ],
    ['call c', 'call c', 'result c'],
  ],
  [
    'begins with an update that nothing came before',
    [['x.tool_call_update', { tool_call_id: 'c', status: 'pending' }]],
    ['call c'],
  ],
  [
    'may begin and end at once',
    [
      call({ tool_call_id: 'c', status: 'completed' }),
      call({ tool_call_id: 'd', status: 'failed' }),
    ],
    ['call c', 'result c', 'call d', 'result d'],
  ],
  [
    'with an id takes a result without one',
    [call({ tool_call_id: 'c', name: 'a' }), result({ name: 'a' })],
    ['call c', 'result c'],
  ],
  [
    'with an id takes no result with another id',
    [call({ tool_call_id: 'c', name: 'a' }), result({ tool_call_id: 'z', name: 'a' })],
    ['call c', 'call z', 'result z'],
  ],
  [
    'without an id takes a result with any',
    [call({ name: 'a' }), result({ tool_call_id: 'z', name: 'a' })],
    ['call call-000000000001', 'result call-000000000001'],
  ],
  [
    'that was asked about without its id takes a result with any',
    [
      ['permission_request', { request_id: 'r', interaction_key: 'k', tool_name: 'a' }],
      result({ tool_call_id: 'z', name: 'a' }),
    ],
    ['ask r', 'result r'],
  ],
  [
    'that was asked about by its id takes no result with another id',
    [
      ['permission_request', { tool_call_id: 'c', interaction_key: 'k', tool_name: 'a' }],
      result({ tool_call_id: 'z', name: 'a' }),
    ],
    ['ask c', 'call z', 'result z'],
  ],
  [
    'that is over is asked about as another one',
    [
      call({ tool_call_id: 'c', name: 'a' }),
      result({ tool_call_id: 'c' }),
      ['permission_request', { tool_call_id: 'c', interaction_key: 'k', tool_name: 'a' }],
    ],
    ['call c', 'result c', 'ask c#2'],
  ],
  [
    'gets an id that no other call has',
    [
      call({ tool_call_id: 'c#2', name: 'a' }),
      call({ tool_call_id: 'c', name: 'b' }),
      call({ tool_call_id: 'c', name: 'd' }),
      call({ tool_call_id: 'c', name: 'e' }),
    ],
    ['call c#2', 'call c', 'call c#3', 'call c#4'],
  ],
])('a call %s', (_, events, expected) => {
  expect(calls(itemsOf(...events))).toEqual(expected);
});

test.each<readonly [object, boolean, unknown]>([
  [{}, true, null],
  [{ name: 'a', kind: 'x', locations: [], input: 1 }, true, null],
  [{ ok: false, is_error: false, status: 'completed', output: 1, content: 2 }, false, 1],
  [{ ok: true, is_error: true, status: 'failed', content: 2, raw_output: 3 }, true, 2],
  [{ ok: 'no', is_error: true, raw_output: 3 }, false, 3],
  [{ is_error: false, status: 'failed', output: null, content: 2 }, true, null],
  [{ is_error: 'no', status: 'failed' }, false, null],
  [{ status: 'completed', lines: 3 }, true, { lines: 3 }],
])('the result %o is %s with the output %o', (data, ok, output) => {
  const items = itemsOf(call({ tool_call_id: 'c' }), result({ tool_call_id: 'c', ...data }));
  expect(items[1]).toEqual(expect.objectContaining({ kind: 'result', ok, output }));
});

test('an event without a payload has no fields', () => {
  for (const data of [null, undefined, 'text', 7]) {
    const items = new RunTranscript().take({ id: '000000000001', type: 'call_decided', data });
    expect(items).toEqual([{ kind: 'note', id: '000000000001', type: 'call_decided', data: {} }]);
  }
});

test.each(['run_completed', 'run_cancelled', 'error'])('nothing waits after %s', (end) => {
  const transcript = new RunTranscript();
  const [asked, ended] = logOf(['user_question', { interaction_key: 'k' }], [end, {}]);
  if (asked === undefined || ended === undefined) throw new Error('no events');
  transcript.take(asked);
  expect(transcript.waiting.map(({ key }) => key)).toEqual(['k']);
  transcript.take(ended);
  expect(transcript.waiting).toEqual([]);
});
