import { expect, test } from 'vitest';
import { timelineRows } from '../../src/data/events/timeline.ts';
import { EventScript } from './run-events.ts';

test('the words and tool calls of an answer have its tokens; what a person or a tool said has none (D-341)', () => {
  const script = new EventScript();
  script.add('run_started', 0);
  script.say(10, 'Let me ');
  script.say(11, 'look.');
  script.add('ai-sdk.tool_call', 12, { tool_call_id: 'a', name: 'read_file' });
  script.add('ai-sdk.model_usage', 13, { input_tokens: 100, output_tokens: 10 });
  script.add('ai-sdk.tool_result', 14, { tool_call_id: 'a', ok: true });
  script.say(15, 'Done.');
  script.add('ai-sdk.model_usage', 16, { input_tokens: 120, output_tokens: 4 });
  script.say(17, 'cut');
  script.add('run_cancelled', 18);
  const rows = timelineRows(script.events).map(({ type, tokens }) => [type, tokens?.input]);
  expect(rows).toEqual([
    ['run_started', undefined],
    ['message_delta', 100],
    ['ai-sdk.tool_call', 100],
    ['ai-sdk.model_usage', 100],
    ['ai-sdk.tool_result', undefined],
    ['message_delta', 120],
    ['ai-sdk.model_usage', 120],
    ['message_delta', undefined],
    ['run_cancelled', undefined],
  ]);
});

test('an answer of a model with a price has its cost; a currency that is none is not shown', () => {
  const script = new EventScript();
  const used = { input_tokens: 100, output_tokens: 10, cost: 4500 };
  script.say(10, 'Done.');
  script.add('ai-sdk.model_usage', 11, { ...used, currency: 'USD' });
  script.add('stdio.model_usage', 12, { ...used, currency: 'free of charge' });
  const rows = timelineRows(script.events).map(({ tokens }) => tokens?.cost);
  expect(rows).toEqual(['0.0045 USD', '0.0045 USD', undefined]);
});

test('a tool call and a request have what came of them; ids are in the opened event only', () => {
  const script = new EventScript();
  script.add('ai-sdk.tool_call', 10, { tool_call_id: 'a', name: 'read_file', input: {} });
  script.add('ai-sdk.tool_call', 11, { tool_call_id: 'b', name: 'pay', input: {} });
  script.add('permission_request', 12, { interaction_key: 'int_1', tool_call_id: 'b' });
  script.add('ai-sdk.tool_result', 13, { tool_call_id: 'a', ok: true, output: 'text' });
  script.add('permission_resolved', 14, { interaction_key: 'int_1', decision: 'deny' });
  const rows = timelineRows(script.events);
  expect(rows.map(({ outcome }) => outcome?.type)).toEqual([
    'ai-sdk.tool_result',
    undefined,
    'permission_resolved',
    undefined,
    undefined,
  ]);
  expect(rows[0]?.outcome?.data).toMatchObject({ output: 'text' });
  expect(rows[4]?.summary).toBe('decision: deny');
});

test('what rules decided, why a person is asked and why a run resumed are said in words', () => {
  const script = new EventScript();
  const rule = { source: 'organization', name: 'no-prod', reason: 'Read-only.' };
  script.add('call_decided', 1, { tool_name: 'sql', effect: 'deny', by: 'rule', rules: [rule] });
  const mine = { source: 'agent', name: 'notes' };
  script.add('call_decided', 2, { tool_name: 'w', effect: 'allow', by: 'memory', rules: [mine] });
  const watched = { tool_name: 'w', effect: 'ask', by: 'rule', rules: [mine], observed: true };
  script.add('call_decided', 3, watched);
  script.add('permission_request', 4, {
    interaction_key: 'k',
    tool_name: 'sql',
    rules: [mine, rule],
  });
  script.add('run_resumed', 5, { attempt: 1, reason: 'answered' });
  expect(timelineRows(script.events).map(({ summary }) => summary)).toEqual([
    'denied sql · rule no-prod of the organization',
    'remembered: w · rule notes',
    'would ask about w · rule notes',
    'sql · Read-only.',
    'what it waited for has come',
  ]);
});

test('a tool call reads as its name and what tells it from others, without braces', () => {
  const script = new EventScript();
  const order = { name: 'find_order', tool_call_id: 'a' };
  script.add('code.tool_call', 10, { ...order, input: { number: 7, by: ['ann', 'bob'] } });
  script.add('code.tool_result', 11, { ...order, ok: true, output: { total: 20, of: { a: 1 } } });
  script.add('code.tool_result', 12, { ...order, ok: false, output: 'no such order' });
  expect(timelineRows(script.events).map(({ summary }) => summary)).toEqual([
    'find_order number: 7, by: 2 items',
    'find_order total: 20, of: …',
    'failed: find_order no such order',
  ]);
});
