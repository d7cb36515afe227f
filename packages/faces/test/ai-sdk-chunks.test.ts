// Each chunk of a response, exactly: what a page shows is the sum of them, and nothing else is sent.
import { expect, test } from 'vitest';
import { UiStream, type UiStreamOptions } from '../src/index.ts';
import {
  type Story,
  apart,
  began,
  completed,
  failed,
  interrupted,
  lineOf,
  question,
  read,
  readResult,
  sentLines,
  thought,
  uiAsked,
  wholeRun,
} from './stories.ts';
import { said, shownThenAsked } from './written-events.ts';

const run = { sessionId: 'sess_1', runId: 'run_1' };
const usage = { input_tokens: 3, output_tokens: 4 };

const stories: readonly Story<UiStreamOptions>[] = [
  {
    title:
      'has thoughts, text, a call and its first result, and nothing for what is empty or repeated',
    options: { usage: () => usage, isTruncated: true },
    batches: apart(...wholeRun),
    lines: [
      '1 start-step',
      '2 reasoning-start id=r000000000002',
      '2 reasoning-delta id=r000000000002 delta=Hm. ',
      '3 reasoning-delta id=r000000000002 delta=Well. ',
      '5 reasoning-end id=r000000000002',
      '5 text-start id=t000000000005',
      '5 text-delta id=t000000000005 delta=I ',
      '6 text-delta id=t000000000005 delta=read. ',
      '7 text-end id=t000000000005',
      '7 tool-input-available toolCallId=c dynamic=true providerExecuted=true toolName=Read input={"path":"a"}',
      '9 tool-output-available toolCallId=c dynamic=true providerExecuted=true output=text',
      '10 data-convoke data={"type":"claude.tool_result","data":{"tool_call_id":"c","content":"text"}} transient=true',
      '11 text-start id=t000000000011',
      '11 text-delta id=t000000000011 delta=Done.',
      '13 text-end id=t000000000011',
      '13 data-output id=output data={"sum":3}',
      '13 finish-step',
      '13 finish finishReason=stop messageMetadata={"session_id":"sess_1","run_id":"run_1","truncated":true,"status":"completed","waiting":[],"last_event_id":"000000000013","usage":{"input_tokens":3,"output_tokens":4}}',
    ],
  },
  {
    title: 'has what it does not know as a note that passes',
    batches: apart(
      began,
      ['context_file_loaded', { path: 'a' }],
      ['other.step', { n: 1 }],
      'pause',
    ),
    lines: [
      '1 start-step',
      '2 data-convoke data={"type":"context_file_loaded","data":{"path":"a"}} transient=true',
      '3 data-convoke data={"type":"other.step","data":{"n":1}} transient=true',
    ],
  },
  {
    title: 'has a failed call, and a result of a call in an earlier step',
    batches: apart(began, read, question, [
      'claude.tool_result',
      { tool_call_id: 'c', is_error: true, content: { why: 'no' } },
    ]),
    lines: [
      '1 start-step',
      '2 tool-input-available toolCallId=c dynamic=true providerExecuted=true toolName=Read input={"path":"a"}',
      '3 finish-step',
      '3 start-step',
      '3 tool-input-available toolCallId=q dynamic=true toolName=ask_user input={"question":"Which?"}',
      '4 tool-output-error toolCallId=c dynamic=true providerExecuted=true errorText={"why":"no"}',
    ],
  },
  {
    title: 'takes void text back, once, after the batch',
    batches: [
      [began, thought('Hm. '), said('kept '), said('void ')],
      [interrupted('000000000004'), said('again '), interrupted('000000000006')],
      [said('and again')],
    ],
    lines: [
      '1 start-step',
      '1 reasoning-start id=r000000000002',
      '1 reasoning-delta id=r000000000002 delta=Hm. ',
      '1 reasoning-end id=r000000000002',
      '1 text-start id=t000000000003',
      '1 text-delta id=t000000000003 delta=kept ',
      '1 text-delta id=t000000000003 delta=void ',
      '2 text-end id=t000000000003',
      '2 reset-step',
      '2 reasoning-start id=r000000000002',
      '2 reasoning-delta id=r000000000002 delta=Hm. ',
      '2 reasoning-end id=r000000000002',
      '2 text-start id=t000000000003',
      '2 text-delta id=t000000000003 delta=kept ',
      '2 text-end id=t000000000003',
      '3 text-start id=t000000000008',
      '3 text-delta id=t000000000008 delta=and again',
    ],
  },
  {
    title: 'has nothing to take back where nothing of it was shown',
    batches: apart(began, said('kept '), interrupted(), interrupted('000000000009'), said('more')),
    lines: [
      '1 start-step',
      '2 text-start id=t000000000002',
      '2 text-delta id=t000000000002 delta=kept ',
      '4 text-end id=t000000000002',
      '5 text-start id=t000000000005',
      '5 text-delta id=t000000000005 delta=more',
    ],
  },
  {
    title: 'is cut where version 6 shows void text',
    options: { sdk: 6 },
    batches: apart(began, said('kept '), said('void '), interrupted('000000000003'), said('again')),
    lines: [
      '1 start-step',
      '2 text-start id=t000000000002',
      '2 text-delta id=t000000000002 delta=kept ',
      '3 text-delta id=t000000000002 delta=void ',
      '4 text-end id=t000000000002',
    ],
  },
  {
    title: 'is not cut by an interruption that voids nothing, for version 6',
    options: { sdk: 6 },
    batches: apart(began, said('kept '), interrupted('000000000009'), said('more')),
    lines: [
      '1 start-step',
      '2 text-start id=t000000000002',
      '2 text-delta id=t000000000002 delta=kept ',
      '3 text-end id=t000000000002',
      '4 text-start id=t000000000004',
      '4 text-delta id=t000000000004 delta=more',
    ],
  },
  {
    title: 'is cut where an earlier step shows void text',
    batches: apart(began, said('void '), question, interrupted('000000000002'), said('again')),
    lines: [
      '1 start-step',
      '2 text-start id=t000000000002',
      '2 text-delta id=t000000000002 delta=void ',
      '3 text-end id=t000000000002',
      '3 finish-step',
      '3 start-step',
      '3 tool-input-available toolCallId=q dynamic=true toolName=ask_user input={"question":"Which?"}',
    ],
  },
  {
    title: 'never has text that is known to be void, but the thoughts of that time',
    options: { voids: [{ from: '000000000002', to: '000000000004' }] },
    batches: apart(
      began,
      said('void '),
      thought('Hm. '),
      interrupted('000000000002'),
      said('again'),
    ),
    lines: [
      '1 start-step',
      '3 reasoning-start id=r000000000003',
      '3 reasoning-delta id=r000000000003 delta=Hm. ',
      '4 reasoning-end id=r000000000003',
      '5 text-start id=t000000000005',
      '5 text-delta id=t000000000005 delta=again',
    ],
  },
  {
    title: 'continues after what the page has, in the middle of a text',
    options: { after: '000000000003' },
    batches: apart(began, said('one '), said('two '), said('three'), completed),
    lines: [
      '4 reset-step',
      '4 text-start id=t000000000002',
      '4 text-delta id=t000000000002 delta=one two three',
      '5 text-end id=t000000000002',
      '5 finish-step',
      '5 finish finishReason=stop messageMetadata={"session_id":"sess_1","run_id":"run_1","status":"completed","waiting":[],"last_event_id":"000000000005"}',
    ],
  },
  {
    title: 'continues after what the page has, for version 6',
    options: { after: '000000000003', sdk: 6 },
    batches: [[began, thought('one '), thought('two '), thought('three')], [completed]],
    lines: [
      '1 reasoning-start id=r000000000002',
      '1 reasoning-delta id=r000000000002 delta=three',
      '2 reasoning-end id=r000000000002',
      '2 finish-step',
      '2 finish finishReason=stop messageMetadata={"session_id":"sess_1","run_id":"run_1","status":"completed","waiting":[],"last_event_id":"000000000005"}',
    ],
  },
  {
    title: 'continues after what the page has, with a new part',
    options: { after: '000000000002' },
    batches: apart(began, read, readResult, said('Done.')),
    lines: [
      '3 tool-output-available toolCallId=c dynamic=true providerExecuted=true output=text',
      '4 text-start id=t000000000004',
      '4 text-delta id=t000000000004 delta=Done.',
    ],
  },
  {
    title: 'continues after void text that the page was told of',
    options: { after: '000000000003' },
    batches: apart(began, said('void '), interrupted('000000000002'), said('again')),
    lines: ['4 text-start id=t000000000004', '4 text-delta id=t000000000004 delta=again'],
  },
  {
    title: 'fails',
    options: { isHeld: true },
    batches: apart(began, read, failed),
    lines: [
      '1 start-step',
      '2 tool-input-available toolCallId=c dynamic=true providerExecuted=true toolName=Read input={"path":"a"}',
      '3 tool-output-error toolCallId=c dynamic=true providerExecuted=true errorText=The run ended first.',
      '3 finish-step',
      '3 message-metadata messageMetadata={"session_id":"sess_1","run_id":"run_1","status":"failed","waiting":[],"last_event_id":"000000000003","error_code":"agent_error","error_message":"broken"}',
      '3 error errorText=broken',
    ],
  },
  {
    title: 'fails without a message',
    batches: apart(began, ['error', {}]),
    lines: [
      '1 start-step',
      '2 finish-step',
      '2 message-metadata messageMetadata={"session_id":"sess_1","run_id":"run_1","status":"failed","waiting":[],"last_event_id":"000000000002"}',
      '2 error errorText=The run ended first.',
    ],
  },
  {
    title: 'has failed before',
    options: { hasEnded: true },
    batches: apart(began, failed),
    lines: [
      '1 start-step',
      '2 finish-step',
      '2 finish finishReason=error messageMetadata={"session_id":"sess_1","run_id":"run_1","status":"failed","waiting":[],"last_event_id":"000000000002","error_code":"agent_error","error_message":"broken"}',
    ],
  },
  {
    title: 'is cancelled while a person is asked',
    batches: apart(...shownThenAsked, question, ['run_cancelled', {}]),
    lines: [
      ...uiAsked,
      '5 tool-input-available toolCallId=q dynamic=true toolName=ask_user input={"question":"Which?"}',
      '6 tool-output-error toolCallId=toolu_1 dynamic=true providerExecuted=true errorText=The run ended first.',
      '6 tool-output-error toolCallId=q dynamic=true errorText=The run ended first.',
      '6 finish-step',
      '6 start-step',
      '6 finish-step',
      '6 abort',
      '6 finish finishReason=other messageMetadata={"session_id":"sess_1","run_id":"run_1","status":"cancelled","waiting":[],"last_event_id":"000000000006"}',
    ],
  },
  {
    title: 'is cancelled while a call runs',
    batches: apart(began, read, ['run_cancelled', {}]),
    lines: [
      '1 start-step',
      '2 tool-input-available toolCallId=c dynamic=true providerExecuted=true toolName=Read input={"path":"a"}',
      '3 tool-output-error toolCallId=c dynamic=true providerExecuted=true errorText=The run ended first.',
      '3 finish-step',
      '3 abort',
      '3 finish finishReason=other messageMetadata={"session_id":"sess_1","run_id":"run_1","status":"cancelled","waiting":[],"last_event_id":"000000000003"}',
    ],
  },
  {
    title: 'completes with a call that has no result',
    batches: apart(began, read, completed),
    lines: [
      '1 start-step',
      '2 tool-input-available toolCallId=c dynamic=true providerExecuted=true toolName=Read input={"path":"a"}',
      '3 finish-step',
      '3 finish finishReason=stop messageMetadata={"session_id":"sess_1","run_id":"run_1","status":"completed","waiting":[],"last_event_id":"000000000003"}',
    ],
  },
  {
    title: 'completes in one batch',
    batches: [[began, said('Hello'), completed]],
    lines: [
      '1 start-step',
      '1 text-start id=t000000000002',
      '1 text-delta id=t000000000002 delta=Hello',
      '1 text-end id=t000000000002',
      '1 finish-step',
      '1 finish finishReason=stop messageMetadata={"session_id":"sess_1","run_id":"run_1","status":"completed","waiting":[],"last_event_id":"000000000003"}',
    ],
  },
  {
    title: 'is not cut by void text that the page was told of, for version 6',
    options: { after: '000000000003', sdk: 6 },
    batches: apart(began, said('void '), interrupted('000000000002'), said('again')),
    lines: ['4 text-start id=t000000000004', '4 text-delta id=t000000000004 delta=again'],
  },
  {
    title: 'keeps the thoughts of a step whose text is void',
    batches: apart(began, said('void '), thought('Hm. '), interrupted('000000000002')),
    lines: [
      '1 start-step',
      '2 text-start id=t000000000002',
      '2 text-delta id=t000000000002 delta=void ',
      '3 text-end id=t000000000002',
      '3 reasoning-start id=r000000000003',
      '3 reasoning-delta id=r000000000003 delta=Hm. ',
      '4 reasoning-end id=r000000000003',
      '4 reset-step',
      '4 reasoning-start id=r000000000003',
      '4 reasoning-delta id=r000000000003 delta=Hm. ',
      '4 reasoning-end id=r000000000003',
    ],
  },
  {
    title: 'is cancelled after a call has its result',
    batches: apart(began, read, readResult, ['run_cancelled', {}]),
    lines: [
      '1 start-step',
      '2 tool-input-available toolCallId=c dynamic=true providerExecuted=true toolName=Read input={"path":"a"}',
      '3 tool-output-available toolCallId=c dynamic=true providerExecuted=true output=text',
      '4 finish-step',
      '4 abort',
      '4 finish finishReason=other messageMetadata={"session_id":"sess_1","run_id":"run_1","status":"cancelled","waiting":[],"last_event_id":"000000000004"}',
    ],
  },
];

test.each(stories)('a message $title', ({ lines, ...story }) => {
  const stream = new UiStream({ ...run, ...story.options });
  expect(sentLines(stream, story.batches)).toEqual(lines);
});

test.each([
  ['', {}, ''],
  [' with text only', { isTruncated: true }, ',"truncated":true'],
])('a response begins%s', (_how, options, more) => {
  expect(lineOf(new UiStream({ ...run, ...options }).start())).toBe(
    `start messageId=run_1 messageMetadata={"session_id":"sess_1","run_id":"run_1"${more},"status":"running","waiting":[]}`,
  );
});

test.each([
  ['continues', [began, said('x')], [false, false]],
  ['has ended', [began, completed], [true, false]],
  ['has to be cut', [began, said('void '), question, interrupted('000000000002')], [false, true]],
  [
    'has to be cut where thoughts follow the void text',
    [began, said('void '), thought('Hm.'), question, interrupted('000000000002')],
    [false, true],
  ],
] as const)('a response says that it %s', (_what, events, flags) => {
  const stream = new UiStream(run);
  sentLines(stream, apart(...events));
  expect([stream.isOver, stream.mustCut]).toEqual(flags);
});
