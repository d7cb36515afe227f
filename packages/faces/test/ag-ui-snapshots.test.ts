// When a client gets a snapshot, exactly: once after a batch that changes what it shows, and where it catches up.
import { expect, test } from 'vitest';
import { AgUiStream, type AgUiStreamOptions, snapshotBounds } from '../src/index.ts';
import {
  type Story,
  apart,
  began,
  completed,
  interrupted,
  resolved,
  sentLines,
  thought,
} from './stories.ts';
import { permission, said, shownThenAsked } from './written-events.ts';

const names = { threadId: 't', runId: 'r', run: { sessionId: 'sess_1', runId: 'run_1' } };
const before = [{ id: 'm1', role: 'user', content: 'hi' }] as const;

const stories: readonly Story<AgUiStreamOptions>[] = [
  {
    title: 'begins with the messages before, where the run has no event yet',
    options: { after: '', before },
    batches: apart(began, said('Hello')),
    lines: [
      '1 MESSAGES_SNAPSHOT messages=[{"id":"m1","role":"user","content":"hi"}]',
      '2 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
      '2 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=Hello',
    ],
  },

  {
    title: 'shows edited arguments in place of the old ones, and continues the text after them',
    options: { before },
    batches: [
      [...shownThenAsked],
      [resolved({ decision: 'allow', updated_input: { path: 'b' } }), said('more ')],
      [said('words')],
    ],
    lines: [
      '1 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
      '1 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=I write. ',
      '1 TEXT_MESSAGE_END messageId=run_1-2',
      '1 TOOL_CALL_START toolCallId=run_1-call-toolu_1 toolCallName=Write',
      '1 TOOL_CALL_ARGS toolCallId=run_1-call-toolu_1 delta={"path":"a"}',
      '1 TOOL_CALL_END toolCallId=run_1-call-toolu_1',
      '2 TEXT_MESSAGE_START messageId=run_1-6 role=assistant',
      '2 TEXT_MESSAGE_CONTENT messageId=run_1-6 delta=more ',
      '2 TEXT_MESSAGE_END messageId=run_1-6',
      '2 MESSAGES_SNAPSHOT messages=[{"id":"m1","role":"user","content":"hi"},{"id":"run_1-2","role":"assistant","content":"I write. "},{"id":"run_1-call-toolu_1","role":"assistant","toolCalls":[{"id":"run_1-call-toolu_1","type":"function","function":{"name":"Write","arguments":"{\\"path\\":\\"b\\"}"}}]},{"id":"run_1-6","role":"assistant","content":"more "}]',
      '3 TEXT_MESSAGE_START messageId=run_1-6 role=assistant',
      '3 TEXT_MESSAGE_CONTENT messageId=run_1-6 delta=words',
    ],
  },

  {
    title: 'shows edited arguments before its end',
    batches: [
      [...shownThenAsked],
      [resolved({ decision: 'allow', updated_input: { path: 'b' } }), completed],
    ],
    lines: [
      '1 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
      '1 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=I write. ',
      '1 TEXT_MESSAGE_END messageId=run_1-2',
      '1 TOOL_CALL_START toolCallId=run_1-call-toolu_1 toolCallName=Write',
      '1 TOOL_CALL_ARGS toolCallId=run_1-call-toolu_1 delta={"path":"a"}',
      '1 TOOL_CALL_END toolCallId=run_1-call-toolu_1',
      '2 TOOL_CALL_RESULT messageId=run_1-result-toolu_1 toolCallId=run_1-call-toolu_1 content=No result was reported. role=tool metadata={"convoke":{"outcome":"unknown"}}',
      '2 MESSAGES_SNAPSHOT messages=[{"id":"run_1-2","role":"assistant","content":"I write. "},{"id":"run_1-call-toolu_1","role":"assistant","toolCalls":[{"id":"run_1-call-toolu_1","type":"function","function":{"name":"Write","arguments":"{\\"path\\":\\"b\\"}"}}]},{"id":"run_1-result-toolu_1","toolCallId":"run_1-call-toolu_1","content":"No result was reported.","role":"tool","metadata":{"convoke":{"outcome":"unknown"}}}]',
      '2 RUN_FINISHED threadId=t runId=r outcome={"type":"success"} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"completed","waiting":[],"last_event_id":"000000000006"}}',
    ],
  },

  {
    title: 'takes void text out once, after the batch, and keeps thoughts',
    options: { before },
    batches: [
      [began, thought('Hm. '), said('kept '), said('void ')],
      [interrupted('000000000004'), said('again '), interrupted('000000000006')],
      [said('and again')],
    ],
    lines: [
      '1 REASONING_START messageId=run_1-2',
      '1 REASONING_MESSAGE_START messageId=run_1-2 role=reasoning',
      '1 REASONING_MESSAGE_CONTENT messageId=run_1-2 delta=Hm. ',
      '1 REASONING_MESSAGE_END messageId=run_1-2',
      '1 REASONING_END messageId=run_1-2',
      '1 TEXT_MESSAGE_START messageId=run_1-3 role=assistant',
      '1 TEXT_MESSAGE_CONTENT messageId=run_1-3 delta=kept ',
      '1 TEXT_MESSAGE_CONTENT messageId=run_1-3 delta=void ',
      '2 TEXT_MESSAGE_END messageId=run_1-3',
      '2 TEXT_MESSAGE_START messageId=run_1-6 role=assistant',
      '2 TEXT_MESSAGE_CONTENT messageId=run_1-6 delta=again ',
      '2 TEXT_MESSAGE_END messageId=run_1-6',
      '2 MESSAGES_SNAPSHOT messages=[{"id":"m1","role":"user","content":"hi"},{"id":"run_1-2","role":"reasoning","content":"Hm. "},{"id":"run_1-3","role":"assistant","content":"kept "}]',
      '3 TEXT_MESSAGE_START messageId=run_1-8 role=assistant',
      '3 TEXT_MESSAGE_CONTENT messageId=run_1-8 delta=and again',
    ],
  },

  {
    title: 'takes a whole text out',
    batches: [[began, said('void ')], [interrupted('000000000002')], [said('again')]],
    lines: [
      '1 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
      '1 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=void ',
      '2 TEXT_MESSAGE_END messageId=run_1-2',
      '2 MESSAGES_SNAPSHOT messages=[]',
      '3 TEXT_MESSAGE_START messageId=run_1-4 role=assistant',
      '3 TEXT_MESSAGE_CONTENT messageId=run_1-4 delta=again',
    ],
  },

  {
    title: 'never shows text that is known to be void, but the thoughts of that time',
    options: { voids: [{ from: '000000000002', to: '000000000004' }] },
    batches: apart(
      began,
      said('void '),
      thought('Hm. '),
      interrupted('000000000002'),
      said('again'),
    ),
    lines: [
      '3 REASONING_START messageId=run_1-3',
      '3 REASONING_MESSAGE_START messageId=run_1-3 role=reasoning',
      '3 REASONING_MESSAGE_CONTENT messageId=run_1-3 delta=Hm. ',
      '4 REASONING_MESSAGE_END messageId=run_1-3',
      '4 REASONING_END messageId=run_1-3',
      '5 TEXT_MESSAGE_START messageId=run_1-5 role=assistant',
      '5 TEXT_MESSAGE_CONTENT messageId=run_1-5 delta=again',
    ],
  },

  {
    title: 'begins with a snapshot where the client got to',
    options: { after: '000000000003', before },
    batches: apart(began, said('one '), said('two '), said('three'), completed),
    lines: [
      '3 MESSAGES_SNAPSHOT messages=[{"id":"m1","role":"user","content":"hi"},{"id":"run_1-2","role":"assistant","content":"one two "}]',
      '4 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
      '4 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=three',
      '5 TEXT_MESSAGE_END messageId=run_1-2',
      '5 RUN_FINISHED threadId=t runId=r outcome={"type":"success"} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"completed","waiting":[],"last_event_id":"000000000005"}}',
    ],
  },

  {
    title: 'begins with a snapshot after the event that the client has, also in a batch',
    options: { after: '000000000003' },
    batches: [[began, said('one '), said('two '), said('three')], ['pause']],
    lines: [
      '1 MESSAGES_SNAPSHOT messages=[{"id":"run_1-2","role":"assistant","content":"one two "}]',
      '1 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
      '1 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=three',
    ],
  },

  {
    title: 'ends after its snapshot where the run ended before what the client has',
    options: { after: '000000000009', hasEnded: true },
    batches: [[began, said('one '), completed]],
    lines: [
      '1 MESSAGES_SNAPSHOT messages=[{"id":"run_1-2","role":"assistant","content":"one "}]',
      '1 RUN_FINISHED threadId=t runId=r outcome={"type":"success"} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"completed","waiting":[],"last_event_id":"000000000003"}}',
    ],
  },

  {
    title:
      'has one snapshot where arguments were edited and the run ended before what the client has',
    options: { after: '000000000009', hasEnded: true },
    batches: [
      [...shownThenAsked, resolved({ decision: 'allow', updated_input: { path: 'b' } }), completed],
    ],
    lines: [
      '1 MESSAGES_SNAPSHOT messages=[{"id":"run_1-2","role":"assistant","content":"I write. "},{"id":"run_1-call-toolu_1","role":"assistant","toolCalls":[{"id":"run_1-call-toolu_1","type":"function","function":{"name":"Write","arguments":"{\\"path\\":\\"b\\"}"}}]},{"id":"run_1-result-toolu_1","toolCallId":"run_1-call-toolu_1","content":"No result was reported.","role":"tool","metadata":{"convoke":{"outcome":"unknown"}}}]',
      '1 RUN_FINISHED threadId=t runId=r outcome={"type":"success"} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"completed","waiting":[],"last_event_id":"000000000006"}}',
    ],
  },

  {
    title: 'asks after its snapshot where the log ends before what the client has',
    options: { after: '000000000009' },
    batches: apart(...shownThenAsked, 'pause'),
    lines: [
      '5 MESSAGES_SNAPSHOT messages=[{"id":"run_1-2","role":"assistant","content":"I write. "},{"id":"run_1-call-toolu_1","role":"assistant","toolCalls":[{"id":"run_1-call-toolu_1","type":"function","function":{"name":"Write","arguments":"{\\"path\\":\\"a\\"}"}}]}]',
      '5 RUN_FINISHED threadId=t runId=r outcome={"type":"interrupt","interrupts":[{"id":"key_1","reason":"tool_call","message":"Allow the call of Write?","toolCallId":"run_1-call-toolu_1","responseSchema":{"type":"object","properties":{"approved":{"type":"boolean"},"message":{"type":"string"}},"required":["approved"]}}]} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"waiting","waiting":["key_1"],"last_event_id":"000000000004"}}',
    ],
  },

  {
    title: 'sends nothing while the client is ahead',
    options: { after: '000000000009' },
    batches: apart(began, said('one '), 'pause'),
    lines: [],
  },
];

test.each(stories)('a response $title', ({ lines, ...story }) => {
  const stream = new AgUiStream({ ...names, ...story.options });
  expect(sentLines(stream, story.batches)).toEqual(lines);
});

test('a client that has shown nothing yet gets a snapshot at once, and then each event', () => {
  const stream = new AgUiStream({ ...names, before, after: '' });
  expect(stream.start().map(({ type }) => type)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
  const sent = sentLines(stream, [[began], [said('Hello')], ['pause']]);
  expect(sent).toEqual([
    '2 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
    '2 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=Hello',
  ]);
});

const write = (call: string, text = '') =>
  ['claude.tool_call', { tool_call_id: call, name: 'Write', input: { text } }] as const;

test('a call that a snapshot no longer has gets its result, once', () => {
  const stream = new AgUiStream(names);
  const calls = Array.from({ length: snapshotBounds.messages + 1 }, (_, index) =>
    write(`c${index}`),
  );
  const result = ['claude.tool_result', { tool_call_id: 'c0', content: 'written' }] as const;
  const sent = sentLines(stream, [[began, ...calls], [result], [completed]]);
  const of = (lines: readonly string[], call: string) =>
    lines.filter((line) => line.includes(`RESULT messageId=run_1-result-${call} `));
  expect(of(sent, 'c0')).toEqual([expect.stringContaining('content=written role=tool')]);
  expect(of(sent, 'c1')).toEqual([expect.stringContaining('content=No result was reported.')]);
});

test('a snapshot counts the arguments of calls, what is edited, and results', () => {
  const half = 'x'.repeat(snapshotBounds.bytes / 2);
  const kept = (...events: readonly (readonly [string, object])[]) => {
    const stream = new AgUiStream(names);
    sentLines(stream, [[began, ...events]]);
    return stream.messages().map(({ id }) => id);
  };
  const small = write('b');
  const result = (call: string) =>
    ['claude.tool_result', { tool_call_id: call, content: half }] as const;
  expect(kept(write('a', half), small)).toEqual(['run_1-call-a', 'run_1-call-b']);
  expect(kept(write('a', half), small, write('c', half))).not.toContain('run_1-call-a');
  expect(kept(write('a'), result('a'), write('b'), result('b'))).not.toContain('run_1-call-a');
  const asked = ['permission_request', permission] as const;
  const edited = resolved({ decision: 'allow', updated_input: { path: half } });
  expect(kept(small, asked, write('c', half), edited)).not.toContain('run_1-call-b');
});
