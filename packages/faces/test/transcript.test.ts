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
