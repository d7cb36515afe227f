import { RunText } from '@convoke/faces';
import { expect, test } from 'vitest';
import { RunView } from '../../src/data/run-view.ts';
import { durationPlace } from '../../src/data/spans/time-scale.ts';
import { oneOpenQuestion } from '../../src/data/transcript.ts';
import { EventScript, startedAt } from './run-events.ts';

const createdAt = new Date(startedAt).toISOString();

function viewOf(script: EventScript): RunView {
  const view = new RunView(createdAt);
  for (const event of script.events) view.take(event);
  return view;
}

test('text, tools and asks appear in the order in which they happened', () => {
  const script = new EventScript();
  script.add('run_started', 10, { run_id: 'run_1' });
  script.say(20, 'Let me ');
  script.say(30, 'look. ');
  script.add('ai-sdk.tool_call', 40, { tool_call_id: 'c1', name: 'read', input: { path: 'a' } });
  script.add('ai-sdk.tool_result', 90, { tool_call_id: 'c1', name: 'read', ok: true, output: 'A' });
  script.say(100, 'Found it.');
  const asked = {
    interaction_key: 'k1',
    request_id: 'r',
    tool_name: 'write',
    tool_input: { a: 1 },
  };
  script.add('permission_request', 110, asked);
  const view = viewOf(script);
  expect(view.snapshot().items.map(({ kind }) => kind)).toEqual(['text', 'tool', 'text', 'ask']);
  expect(view.snapshot().items[1]).toMatchObject({ name: 'read', ok: true, output: 'A' });
  expect(view.snapshot().text).toBe('Let me look. Found it.');
});

test('a message answers a question only while that is the one open request (D-723)', () => {
  const script = new EventScript();
  script.add('run_started', 10, { run_id: 'run_1' });
  script.add('user_question', 20, { interaction_key: 'k1', question: 'Which?' });
  const answered = () => oneOpenQuestion([viewOf(script).snapshot()])?.key;
  expect(answered()).toBe('k1');
  script.add('permission_request', 30, { interaction_key: 'k2', tool_name: 'write' });
  expect(answered()).toBeUndefined();
  script.add('user_answered', 40, { interaction_key: 'k1', answer: 'this' });
  expect(answered()).toBeUndefined();
  script.add('permission_resolved', 50, { interaction_key: 'k2', decision: 'deny' });
  script.add('user_question', 60, { interaction_key: 'k3', question: 'Done?', about: {} });
  expect(answered()).toBeUndefined();
  script.add('user_answered', 70, { interaction_key: 'k3', answer: 'yes' });
  script.add('user_question', 80, { interaction_key: 'k4', question: 'And now?' });
  expect(answered()).toBe('k4');
  script.add('run_cancelled', 90);
  expect(answered()).toBeUndefined();
});

test('what an interruption discards leaves the text, and the text equals that of the SDK (D-87)', () => {
  const script = new EventScript();
  script.add('run_started', 10);
  script.say(20, 'kept ');
  script.add('ai-sdk.tool_call', 25, { tool_call_id: 'c', name: 'x', input: {} });
  script.add('ai-sdk.tool_result', 26, { tool_call_id: 'c', name: 'x', ok: true });
  const from = script.say(30, 'lost ');
  script.say(40, 'too ');
  script.add('run_interrupted', 50, {
    attempt: 1,
    reason: 'worker_lost',
    discard_from_event_id: from,
  });
  script.add('run_resumed', 900, { attempt: 2, reason: 'worker_lost' });
  script.say(910, 'said again');
  script.add('run_completed', 920);
  const joined = new RunText();
  for (const event of script.events) joined.take(event);
  const view = viewOf(script);
  expect(view.snapshot().text).toBe('kept said again');
  expect(view.snapshot().text).toBe(joined.text);
  expect(view.snapshot().items.map(({ kind }) => kind)).toEqual([
    'text',
    'tool',
    'note',
    'note',
    'text',
  ]);
  expect(view.snapshot().items[2]).toMatchObject({ note: 'interrupted', hasCut: true });
});

test('an event that arrives twice is shown once', () => {
  const script = new EventScript();
  script.add('run_started', 10);
  script.say(20, 'once');
  const view = viewOf(script);
  expect(script.events.map((event) => view.take(event))).toEqual([false, false]);
  expect(view.snapshot().text).toBe('once');
  expect(view.snapshot().events).toHaveLength(2);
});

test('an ask that is announced again after a restart is one ask, and takes its answer', () => {
  const script = new EventScript();
  script.add('run_started', 10);
  const ask = { interaction_key: 'k1', request_id: 'r', question: 'Which?' };
  script.add('user_question', 20, ask);
  script.add('user_question', 30, { ...ask, replayed: true });
  script.add('user_answered', 40, { interaction_key: 'k1', answer: 'blue' });
  const asks = viewOf(script)
    .snapshot()
    .items.filter(({ kind }) => kind === 'ask');
  expect(asks).toHaveLength(1);
  expect(asks[0]).toMatchObject({ key: 'k1', resolution: { answer: 'blue' } });
});

test('legs end where only answers follow, and waiting is not counted as work', () => {
  const script = new EventScript();
  script.add('run_started', 40);
  script.say(1000, 'May I? ');
  const ask = { interaction_key: 'k', request_id: 'r', tool_name: 'write_file', tool_input: {} };
  script.add('permission_request', 2040, ask);
  script.add('permission_resolved', 242_040, { interaction_key: 'k', decision: 'allow' });
  script.add('scripted.tool_result', 242_100, { name: 'write_file' });
  script.add('run_completed', 243_040);
  const spans = viewOf(script)
    .snapshot()
    .spansAt(startedAt + 999_999);
  expect(spans.queuedMs).toBe(40);
  expect(spans.executedMs).toBe(3000);
  expect(spans.waitedMs).toBe(240_000);
  expect(spans.spans.map(({ kind }) => kind)).toEqual([
    'queue',
    'leg',
    'text',
    'ask',
    'leg',
    'tool',
  ]);
  expect(spans.to).toBe(startedAt + 243_040);
});

test('an interrupted leg says so, and the next one begins when the run continues', () => {
  const script = new EventScript();
  script.add('run_started', 0);
  script.add('ai-sdk.tool_call', 100, { tool_call_id: 'c', name: 'pay', input: {} });
  script.add('run_interrupted', 5000, { attempt: 1, reason: 'worker_lost', calls_in_doubt: 1 });
  script.add('run_resumed', 9000, { attempt: 2, reason: 'worker_lost' });
  const { spans } = viewOf(script)
    .snapshot()
    .spansAt(startedAt + 10_000);
  const legs = spans.filter(({ kind }) => kind === 'leg');
  expect(legs.map(({ end, isOpen }) => [end, isOpen])).toEqual([
    ['interrupted', false],
    [undefined, true],
  ]);
  expect(spans.find(({ kind }) => kind === 'tool')?.to).toBe(startedAt + 5000);
});

test('a run that continues after an answer says nothing of it, after an interruption it does', () => {
  const script = new EventScript();
  script.add('run_started', 0);
  script.add('user_question', 10, { interaction_key: 'k', request_id: 'r', question: 'Which?' });
  script.add('user_answered', 20, { interaction_key: 'k', answer: 'blue' });
  script.add('run_resumed', 21, { attempt: 1, reason: 'answered' });
  script.say(30, 'Blue. ');
  script.add('run_interrupted', 40, { attempt: 1, reason: 'worker_lost' });
  script.add('run_resumed', 50, { attempt: 2, reason: 'worker_lost', agent_changed: true });
  const notes = viewOf(script)
    .snapshot()
    .items.flatMap((item) => (item.kind === 'note' ? [item.note] : []));
  expect(notes).toEqual(['interrupted', 'resumed with a changed agent']);
});

test('a leg that discards text later adds that to its interruption, and shows no second one (D-473)', () => {
  const script = new EventScript();
  script.add('run_started', 0);
  script.say(10, 'First. ');
  const half = script.say(20, 'half');
  script.add('run_interrupted', 30, { attempt: 1, reason: 'worker_lost' });
  script.add('run_resumed', 40, { attempt: 2, reason: 'worker_lost' });
  script.say(50, '(interrupted)');
  const data = { attempt: 2, reason: 'worker_lost' };
  script.add('run_interrupted', 50, { ...data, discard_from_event_id: half, text_only: true });
  script.add('run_resumed', 50, data);
  script.say(60, 'another');
  const snapshot = viewOf(script).snapshot();
  expect(snapshot.items).toMatchObject([
    { kind: 'text', text: 'First. ' },
    { kind: 'note', note: 'interrupted', hasCut: true },
    { kind: 'note', note: 'resumed' },
    { kind: 'text', text: 'another' },
  ]);
  const legs = snapshot.spansAt(startedAt + 70).spans.filter(({ kind }) => kind === 'leg');
  expect(legs.map(({ end }) => end)).toEqual(['interrupted', undefined]);
});

test('a program that does not yield is named in the conversation (D-479)', () => {
  const script = new EventScript();
  script.add('run_started', 0);
  const message = 'agent.ts has not yielded for 5 s: a loop without await?';
  script.add('code.not_yielding', 6000, { message });
  expect(viewOf(script).snapshot().items).toMatchObject([
    { kind: 'note', note: 'not yielding', reason: message },
  ]);
});

test('a step that was interrupted says so, is run again, and those before it keep their results', () => {
  const script = new EventScript();
  const call = (id: string, at: number) =>
    script.add('code.tool_call', at, { tool_call_id: id, name: id, input: { order: 7 } });
  const result = (id: string, at: number) =>
    script.add('code.tool_result', at, { tool_call_id: id, name: id, ok: true, output: 'yes' });
  script.add('run_started', 0);
  call('find order', 10);
  result('find order', 20);
  call('refund', 30);
  script.add('run_interrupted', 5000, { attempt: 1, reason: 'worker_lost' });
  script.add('run_resumed', 6000, { attempt: 2, reason: 'worker_lost' });
  call('refund', 6010);
  result('refund', 6020);
  const snapshot = viewOf(script).snapshot();
  expect(snapshot.items).toMatchObject([
    { kind: 'tool', name: 'find order', isStep: true, isAgain: false, output: 'yes' },
    { kind: 'tool', name: 'refund', isCut: true, isAgain: false },
    { kind: 'note', note: 'interrupted' },
    { kind: 'note', note: 'resumed', keptSteps: 1 },
    { kind: 'tool', name: 'refund', isAgain: true, isCut: false, output: 'yes' },
  ]);
  const tools = snapshot
    .spansAt(startedAt + 7000)
    .spans.filter(({ kind }) => kind === 'tool')
    .map(({ label, from, to, end, isReplayed = false }) => [label, to - from, end, isReplayed]);
  const [lost] = snapshot.spansAt(startedAt + 7000).spans.filter(({ kind }) => kind === 'leg');
  expect((lost?.lostFrom ?? 0) - startedAt).toBe(30);
  expect(tools).toEqual([
    ['find order', 10, undefined, true],
    ['refund', 4970, 'interrupted', false],
    ['refund', 10, undefined, false],
  ]);
});

test('only the work that an interruption lost is marked: discarded text, or the time since the last event', () => {
  const script = new EventScript();
  script.add('run_started', 0);
  script.say(1000, 'kept ');
  const cut = script.say(4000, 'lost ');
  script.say(4500, 'words');
  const lost = { attempt: 1, reason: 'worker_lost' };
  script.add('run_interrupted', 9000, { ...lost, discard_from_event_id: cut });
  script.add('run_resumed', 9500, { attempt: 2, reason: 'worker_lost' });
  script.say(9600, 'again');
  script.add('run_interrupted', 12_000, { ...lost, attempt: 2 });
  const legs = viewOf(script)
    .snapshot()
    .spansAt(startedAt + 13_000)
    .spans.filter(({ kind }) => kind === 'leg');
  expect(legs.map(({ lostFrom = 0 }) => lostFrom - startedAt)).toEqual([4000, 9600]);
});

test('a step whose output is what it said shows its text once', () => {
  const script = new EventScript();
  const call = { tool_call_id: 's', name: 'write' };
  script.add('run_started', 0);
  script.add('code.tool_call', 10, { ...call, input: {} });
  script.say(20, 'Dear ');
  script.say(30, 'Ann.');
  script.add('code.tool_result', 40, { ...call, ok: true, output: 'Dear Ann.' });
  script.add('code.tool_call', 50, { tool_call_id: 't', name: 'count', input: {} });
  script.say(60, 'Counting.');
  script.add('code.tool_result', 70, { tool_call_id: 't', name: 'count', ok: true, output: '9' });
  const tools = viewOf(script)
    .snapshot()
    .items.flatMap((item) => (item.kind === 'tool' ? [[item.name, item.isSpoken]] : []));
  expect(tools).toEqual([
    ['write', true],
    ['count', false],
  ]);
});

test('a result that comes after an interruption belongs to the call before it', () => {
  const script = new EventScript();
  script.add('run_started', 0);
  script.add('acp.tool_call', 10, { tool_call_id: 'c', name: 'pay', input: {} });
  script.add('run_interrupted', 20, { attempt: 1, reason: 'worker_lost' });
  script.add('acp.tool_result', 30, { tool_call_id: 'c', name: 'pay', ok: true, output: 'paid' });
  const tools = viewOf(script)
    .snapshot()
    .items.filter(({ kind }) => kind === 'tool');
  expect(tools).toMatchObject([{ isStep: false, isCut: false, output: 'paid' }]);
});

test.each([
  [0.5, { before: 0, after: 0 }, 'inside'],
  [0.01, { before: 0.2, after: 0.7 }, 'after'],
  // A phone would cut it.
  [0.01, { before: 0.9, after: 0.09 }, 'before'],
  [0.01, { before: 0.1, after: 0.09 }, 'after'],
  [0.01, { before: 0.9, after: 0.01 }, 'before'],
  [0.06, { before: 0.01, after: 0.01 }, 'inside'],
])('a bar of %d of the width with %j beside it has its duration %s', (width, room, place) => {
  expect(durationPlace(width, room)).toBe(place);
});

test('a call that needs a permission runs from the answer on, and has no bar while a person is asked', () => {
  const script = new EventScript();
  script.add('run_started', 0, { run_id: 'run_1' });
  const call = { tool_call_id: 'c1', name: 'write_file' };
  script.add('ai-sdk.tool_call', 10, { ...call, input: { path: 'a' } });
  script.add('permission_request', 20, {
    interaction_key: 'k1',
    tool_name: 'write_file',
    tool_call_id: 'c1',
  });
  const bars = () =>
    viewOf(script)
      .snapshot()
      .spansAt(startedAt + 90_000)
      .spans.filter(({ kind }) => kind === 'tool')
      .map(({ from, to }) => [from - startedAt, to - startedAt]);
  const item = () =>
    viewOf(script)
      .snapshot()
      .items.find(({ kind }) => kind === 'tool');
  expect(item()).toMatchObject({ isAsked: true });
  expect(bars()).toEqual([]);
  script.add('permission_resolved', 60_000, { interaction_key: 'k1', decision: 'allow' });
  expect(item()).toMatchObject({ isAsked: false });
  script.add('ai-sdk.tool_result', 60_500, { ...call, ok: true, output: 'done' });
  expect(bars()).toEqual([[60_000, 60_500]]);
  expect(item()).toMatchObject({
    at: new Date(startedAt + 60_000).toISOString(),
    endedAt: new Date(startedAt + 60_500).toISOString(),
  });
});

test('a call that is denied was never carried out: it has no time', () => {
  const script = new EventScript();
  script.add('run_started', 0, { run_id: 'run_1' });
  const call = { tool_call_id: 'c1', name: 'write_file' };
  script.add('ai-sdk.tool_call', 10, { ...call, input: {} });
  const asked = { interaction_key: 'k1', tool_name: 'write_file', tool_call_id: 'c1' };
  script.add('permission_request', 20, asked);
  script.add('permission_resolved', 60_000, { interaction_key: 'k1', decision: 'deny' });
  script.add('ai-sdk.tool_result', 60_000, { ...call, ok: false, output: 'denied' });
  const { spans } = viewOf(script)
    .snapshot()
    .spansAt(startedAt + 90_000);
  const took = spans.filter(({ kind }) => kind === 'tool').map(({ from, to }) => to - from);
  expect(took.every((ms) => ms === 0)).toBe(true);
});
