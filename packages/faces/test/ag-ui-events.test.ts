// Each event of a response, exactly: what a client shows is the sum of them, and nothing else is sent.
import { expect, test } from 'vitest';
import { AgUiStream, type AgUiStreamOptions } from '../src/index.ts';
import {
  type Story,
  agUiShown,
  apart,
  began,
  completed,
  failed,
  interrupted,
  lineOf,
  question,
  read,
  readResult,
  resolved,
  sentLines,
  wholeRun,
} from './stories.ts';
import { permission, said, shownThenAsked } from './written-events.ts';

const names = { threadId: 't', runId: 'r', run: { sessionId: 'sess_1', runId: 'run_1' } };
const usage = { input_tokens: 3, output_tokens: 4 };
const started = 'RUN_STARTED threadId=t runId=r';
const ids = '"session_id":"sess_1","run_id":"run_1"';

const stories: readonly Story<AgUiStreamOptions>[] = [
  {
    title:
      'sends thoughts, text, a call and its first result, and nothing for what is empty or repeated',
    options: { usage: () => usage },
    batches: apart(...wholeRun),
    lines: [
      '2 REASONING_START messageId=run_1-2',
      '2 REASONING_MESSAGE_START messageId=run_1-2 role=reasoning',
      '2 REASONING_MESSAGE_CONTENT messageId=run_1-2 delta=Hm. ',
      '3 REASONING_MESSAGE_CONTENT messageId=run_1-2 delta=Well. ',
      '5 REASONING_MESSAGE_END messageId=run_1-2',
      '5 REASONING_END messageId=run_1-2',
      '5 TEXT_MESSAGE_START messageId=run_1-5 role=assistant',
      '5 TEXT_MESSAGE_CONTENT messageId=run_1-5 delta=I ',
      '6 TEXT_MESSAGE_CONTENT messageId=run_1-5 delta=read. ',
      '7 TEXT_MESSAGE_END messageId=run_1-5',
      '7 TOOL_CALL_START toolCallId=run_1-call-c toolCallName=Read',
      '7 TOOL_CALL_ARGS toolCallId=run_1-call-c delta={"path":"a"}',
      '7 TOOL_CALL_END toolCallId=run_1-call-c',
      '9 TOOL_CALL_RESULT messageId=run_1-result-c toolCallId=run_1-call-c content=text role=tool',
      '10 CUSTOM name=convoke.event value={"type":"claude.tool_result","data":{"tool_call_id":"c","content":"text"}}',
      '11 TEXT_MESSAGE_START messageId=run_1-11 role=assistant',
      '11 TEXT_MESSAGE_CONTENT messageId=run_1-11 delta=Done.',
      '13 TEXT_MESSAGE_END messageId=run_1-11',
      '13 RUN_FINISHED threadId=t runId=r result={"sum":3} outcome={"type":"success"} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"completed","waiting":[],"last_event_id":"000000000013","usage":{"input_tokens":3,"output_tokens":4}}}',
    ],
  },

  {
    title: 'sends what it does not know as a note',
    batches: apart(began, ['context_file_loaded', { path: 'a' }], ['other.step', { n: 1 }]),
    lines: [
      '2 CUSTOM name=convoke.event value={"type":"context_file_loaded","data":{"path":"a"}}',
      '3 CUSTOM name=convoke.event value={"type":"other.step","data":{"n":1}}',
    ],
  },

  {
    title: 'ends with its requests when it waits, and not while it does not',
    options: { mayEdit: true },
    batches: apart(...shownThenAsked, question, 'pause', 'pause', said('late')),
    lines: [
      ...agUiShown,
      '5 TOOL_CALL_START toolCallId=run_1-call-q toolCallName=ask_user',
      '5 TOOL_CALL_ARGS toolCallId=run_1-call-q delta={"question":"Which?"}',
      '5 TOOL_CALL_END toolCallId=run_1-call-q',
      '6 RUN_FINISHED threadId=t runId=r outcome={"type":"interrupt","interrupts":[{"id":"key_1","reason":"tool_call","message":"Allow the call of Write?","toolCallId":"run_1-call-toolu_1","responseSchema":{"type":"object","properties":{"approved":{"type":"boolean"},"editedArgs":{"type":"object","description":"Replaces all arguments of the call."},"message":{"type":"string"}},"required":["approved"]}},{"id":"q","reason":"input_required","message":"Which?","responseSchema":{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}}]} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"waiting","waiting":["key_1","q"],"last_event_id":"000000000005"}}',
    ],
  },

  {
    title: 'may not change arguments unless it is told so',
    batches: [[began, ['permission_request', permission], 'pause']],
    lines: [
      '1 TOOL_CALL_START toolCallId=run_1-call-toolu_1 toolCallName=Write',
      '1 TOOL_CALL_ARGS toolCallId=run_1-call-toolu_1 delta={"path":"a"}',
      '1 TOOL_CALL_END toolCallId=run_1-call-toolu_1',
      '1 RUN_FINISHED threadId=t runId=r outcome={"type":"interrupt","interrupts":[{"id":"key_1","reason":"tool_call","message":"Allow the call of Write?","toolCallId":"run_1-call-toolu_1","responseSchema":{"type":"object","properties":{"approved":{"type":"boolean"},"message":{"type":"string"}},"required":["approved"]}}]} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"waiting","waiting":["key_1"],"last_event_id":"000000000002"}}',
    ],
  },

  {
    title: 'asks in a conversation without a run',
    options: { run: undefined },
    batches: [[began, ['permission_request', permission], 'pause']],
    lines: [
      '1 TOOL_CALL_START toolCallId=-call-toolu_1 toolCallName=Write',
      '1 TOOL_CALL_ARGS toolCallId=-call-toolu_1 delta={"path":"a"}',
      '1 TOOL_CALL_END toolCallId=-call-toolu_1',
      '1 RUN_FINISHED threadId=t runId=r outcome={"type":"interrupt","interrupts":[{"id":"key_1","reason":"tool_call","message":"Allow the call of Write?","toolCallId":"-call-toolu_1","responseSchema":{"type":"object","properties":{"approved":{"type":"boolean"},"message":{"type":"string"}},"required":["approved"]}}]} metadata={"convoke":{"status":"waiting","waiting":["key_1"],"last_event_id":"000000000002"}}',
    ],
  },
  {
    title: 'continues where nothing waits',
    batches: apart(began, said('a'), 'pause'),
    lines: [
      '2 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
      '2 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=a',
    ],
  },

  {
    title: 'shows an answer, and one that was declined',
    batches: apart(
      began,
      question,
      ['user_answered', { interaction_key: 'q', answer: ['a', 'b'] }],
      ['user_question', { interaction_key: 'q2', question: 'And?' }],
      ['user_answered', { interaction_key: 'q2', message: 'no' }],
      ['user_answered', { interaction_key: 'unknown', answer: 'x' }],
      'pause',
    ),
    lines: [
      '2 TOOL_CALL_START toolCallId=run_1-call-q toolCallName=ask_user',
      '2 TOOL_CALL_ARGS toolCallId=run_1-call-q delta={"question":"Which?"}',
      '2 TOOL_CALL_END toolCallId=run_1-call-q',
      '3 TOOL_CALL_RESULT messageId=run_1-result-q toolCallId=run_1-call-q content=["a","b"] role=tool',
      '4 TOOL_CALL_START toolCallId=run_1-call-q2 toolCallName=ask_user',
      '4 TOOL_CALL_ARGS toolCallId=run_1-call-q2 delta={"question":"And?"}',
      '4 TOOL_CALL_END toolCallId=run_1-call-q2',
      '5 TOOL_CALL_RESULT messageId=run_1-result-q2 toolCallId=run_1-call-q2 content={"declined":true,"message":"no"} role=tool',
    ],
  },

  {
    title: 'shows a denial with its reason',
    batches: apart(
      ...shownThenAsked,
      resolved({ decision: 'deny', message: 'too dear' }),
      readResult,
    ),
    lines: [
      ...agUiShown,
      '5 TOOL_CALL_RESULT messageId=run_1-result-toolu_1 toolCallId=run_1-call-toolu_1 content=A person denied this call: too dear role=tool metadata={"convoke":{"outcome":"denied"}}',
      '6 TOOL_CALL_START toolCallId=run_1-call-c toolCallName=tool',
      '6 TOOL_CALL_ARGS toolCallId=run_1-call-c delta={}',
      '6 TOOL_CALL_END toolCallId=run_1-call-c',
      '6 TOOL_CALL_RESULT messageId=run_1-result-c toolCallId=run_1-call-c content=text role=tool',
    ],
  },

  {
    title: 'shows a denial without a reason',
    batches: apart(...shownThenAsked, resolved({ decision: 'deny', message: '' })),
    lines: [
      ...agUiShown,
      '5 TOOL_CALL_RESULT messageId=run_1-result-toolu_1 toolCallId=run_1-call-toolu_1 content=A person denied this call. role=tool metadata={"convoke":{"outcome":"denied"}}',
    ],
  },

  {
    title: 'shows a denial whose reason is no text',
    batches: apart(...shownThenAsked, resolved({ decision: 'deny', message: 3 })),
    lines: [
      ...agUiShown,
      '5 TOOL_CALL_RESULT messageId=run_1-result-toolu_1 toolCallId=run_1-call-toolu_1 content=A person denied this call. role=tool metadata={"convoke":{"outcome":"denied"}}',
    ],
  },

  {
    title: 'sends nothing for what is allowed as it was',
    batches: apart(...shownThenAsked, said('still '), resolved({ decision: 'allow' })),
    lines: [
      ...agUiShown,
      '5 TEXT_MESSAGE_START messageId=run_1-5 role=assistant',
      '5 TEXT_MESSAGE_CONTENT messageId=run_1-5 delta=still ',
    ],
  },

  {
    title: 'shows a failed call, and one that is asked about without having been shown',
    batches: apart(began, ['permission_request', permission], resolved({ decision: 'allow' }), [
      'claude.tool_result',
      { tool_call_id: 'toolu_1', is_error: true, content: { why: 'no' } },
    ]),
    lines: [
      '2 TOOL_CALL_START toolCallId=run_1-call-toolu_1 toolCallName=Write',
      '2 TOOL_CALL_ARGS toolCallId=run_1-call-toolu_1 delta={"path":"a"}',
      '2 TOOL_CALL_END toolCallId=run_1-call-toolu_1',
      '4 TOOL_CALL_RESULT messageId=run_1-result-toolu_1 toolCallId=run_1-call-toolu_1 content={"why":"no"} role=tool metadata={"convoke":{"outcome":"failed"}}',
    ],
  },

  {
    title: 'sends nothing again for an interruption that discards nothing that was shown',
    batches: apart(began, said('kept '), interrupted(), interrupted('000000000009'), said('more')),
    lines: [
      '2 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
      '2 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=kept ',
      '3 TEXT_MESSAGE_END messageId=run_1-2',
      '5 TEXT_MESSAGE_START messageId=run_1-5 role=assistant',
      '5 TEXT_MESSAGE_CONTENT messageId=run_1-5 delta=more',
    ],
  },

  {
    title: 'fails',
    batches: apart(began, said('a'), read, failed),
    lines: [
      '2 TEXT_MESSAGE_START messageId=run_1-2 role=assistant',
      '2 TEXT_MESSAGE_CONTENT messageId=run_1-2 delta=a',
      '3 TEXT_MESSAGE_END messageId=run_1-2',
      '3 TOOL_CALL_START toolCallId=run_1-call-c toolCallName=Read',
      '3 TOOL_CALL_ARGS toolCallId=run_1-call-c delta={"path":"a"}',
      '3 TOOL_CALL_END toolCallId=run_1-call-c',
      '4 TOOL_CALL_RESULT messageId=run_1-result-c toolCallId=run_1-call-c content=The run ended first. role=tool metadata={"convoke":{"outcome":"unknown"}}',
      '4 RUN_ERROR message=broken code=agent_error metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"failed","waiting":[],"last_event_id":"000000000004","error_code":"agent_error","error_message":"broken"}}',
    ],
  },

  {
    title: 'fails without a code or a message',
    batches: apart(began, ['error', {}]),
    lines: [
      '2 RUN_ERROR message=The run ended first. metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"failed","waiting":[],"last_event_id":"000000000002"}}',
    ],
  },

  {
    title: 'has failed before',
    options: { hasEnded: true, isTruncated: true },
    batches: apart(began, failed),
    lines: [
      '2 RUN_FINISHED threadId=t runId=r outcome={"type":"success"} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","truncated":true,"status":"failed","waiting":[],"last_event_id":"000000000002","error_code":"agent_error","error_message":"broken"}}',
    ],
  },

  {
    title: 'is cancelled while a person is asked',
    batches: apart(...shownThenAsked, question, ['run_cancelled', {}]),
    lines: [
      ...agUiShown,
      '5 TOOL_CALL_START toolCallId=run_1-call-q toolCallName=ask_user',
      '5 TOOL_CALL_ARGS toolCallId=run_1-call-q delta={"question":"Which?"}',
      '5 TOOL_CALL_END toolCallId=run_1-call-q',
      '6 TOOL_CALL_RESULT messageId=run_1-result-toolu_1 toolCallId=run_1-call-toolu_1 content=The run ended first. role=tool metadata={"convoke":{"outcome":"unknown"}}',
      '6 TOOL_CALL_RESULT messageId=run_1-result-q toolCallId=run_1-call-q content=The run ended first. role=tool metadata={"convoke":{"outcome":"unknown"}}',
      '6 RUN_FINISHED threadId=t runId=r outcome={"type":"cancelled"} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"cancelled","waiting":[],"last_event_id":"000000000006"}}',
    ],
  },

  {
    title: 'completes with a call that has no result',
    batches: apart(began, read, completed),
    lines: [
      '2 TOOL_CALL_START toolCallId=run_1-call-c toolCallName=Read',
      '2 TOOL_CALL_ARGS toolCallId=run_1-call-c delta={"path":"a"}',
      '2 TOOL_CALL_END toolCallId=run_1-call-c',
      '3 TOOL_CALL_RESULT messageId=run_1-result-c toolCallId=run_1-call-c content=No result was reported. role=tool metadata={"convoke":{"outcome":"unknown"}}',
      '3 RUN_FINISHED threadId=t runId=r outcome={"type":"success"} metadata={"convoke":{"session_id":"sess_1","run_id":"run_1","status":"completed","waiting":[],"last_event_id":"000000000003"}}',
    ],
  },

  {
    title: 'shows nothing of the run in a conversation without one',
    options: { run: undefined, usage: () => undefined },
    batches: apart(began, said('a'), read, completed),
    lines: [
      '2 TEXT_MESSAGE_START messageId=-2 role=assistant',
      '2 TEXT_MESSAGE_CONTENT messageId=-2 delta=a',
      '3 TEXT_MESSAGE_END messageId=-2',
      '3 TOOL_CALL_START toolCallId=-call-c toolCallName=Read',
      '3 TOOL_CALL_ARGS toolCallId=-call-c delta={"path":"a"}',
      '3 TOOL_CALL_END toolCallId=-call-c',
      '4 TOOL_CALL_RESULT messageId=-result-c toolCallId=-call-c content=No result was reported. role=tool metadata={"convoke":{"outcome":"unknown"}}',
      '4 RUN_FINISHED threadId=t runId=r outcome={"type":"success"} metadata={"convoke":{"status":"completed","waiting":[],"last_event_id":"000000000004"}}',
    ],
  },
];

test.each(stories)('a response $title', ({ lines, ...story }) => {
  const stream = new AgUiStream({ ...names, ...story.options });
  expect(sentLines(stream, story.batches)).toEqual(lines);
});

test.each([
  ['', {}, [`${started} metadata={"convoke":{${ids}}}`]],
  [
    ' for a client of 1.0',
    { hasVersion: true },
    [`${started} protocolVersion=1.0 metadata={"convoke":{${ids}}}`],
  ],
  [' without a run', { run: undefined }, [started]],
  [
    ' with text only',
    { isTruncated: true },
    [`${started} metadata={"convoke":{${ids},"truncated":true}}`],
  ],
  [
    ' and names what is not read',
    { ignored: ['tools'] },
    [`${started} metadata={"convoke":{${ids}}}`, 'CUSTOM name=convoke.ignored value=["tools"]'],
  ],
  [
    ' with the messages before, where the run has no event yet',
    { after: '', before: [{ id: 'm1' }] },
    [`${started} metadata={"convoke":{${ids}}}`, 'MESSAGES_SNAPSHOT messages=[{"id":"m1"}]'],
  ],
])('a response begins%s', (_how, options, lines) => {
  expect(new AgUiStream({ ...names, ...options }).start().map(lineOf)).toEqual(lines);
});

test.each([
  [
    'follows no run',
    (stream: AgUiStream) => stream.finish(),
    'RUN_FINISHED threadId=t runId=r outcome={"type":"success"}',
  ],
  ['is cut', (stream: AgUiStream) => stream.fail('cut', 'gone'), 'RUN_ERROR message=cut code=gone'],
])('a response that %s ends, and sends nothing more', (_how, end, line) => {
  const stream = new AgUiStream(names);
  expect([stream.isOver, lineOf(end(stream)), stream.isOver]).toEqual([false, line, true]);
  expect(sentLines(stream, [[said('late')], [question], ['pause']])).toEqual([]);
});
