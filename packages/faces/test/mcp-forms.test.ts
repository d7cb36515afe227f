// What a person reads and fills in where an assistant asks them, and what a model reads of a run (D-219, D-220, D-607).
import { describe, expect, test } from 'vitest';
import {
  type AskItem,
  type JsonObject,
  McpRun,
  answerIn,
  connectLinkOf,
  errorResult,
  formOf,
  replyTo,
  resultOf,
} from '../src/index.ts';
import { logOf, said } from './written-events.ts';

const permissionOf = (toolInput: unknown, data: JsonObject = {}): AskItem => ({
  kind: 'ask',
  about: 'permission',
  id: '1',
  key: 'int_1',
  call: 'c',
  name: 'pay\u202e',
  input: toolInput as JsonObject,
  isNew: true,
  data,
});
const questionOf = (question: string, details: JsonObject = {}) =>
  ({ kind: 'ask', about: 'question', id: '1', key: 'int_1', question, details }) as const;

const colours = { options: [{ label: 'red' }, { label: 'blue', description: 'like the sea' }] };
const several = { ...colours, multiple: true };
const connect = { about: { kind: 'connection_missing', url: 'https://convoke.example/c' } };
const free = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
};
const chosen = (...labels: string[]) => ({
  type: 'object',
  properties: {
    answer: { type: 'string', title: 'Answer', enum: labels },
    own_words: { type: 'string', title: 'Or in your own words' },
  },
});

describe('the form', () => {
  test.each<readonly [string, JsonObject, string]>([
    ['without rules', {}, ''],
    ['with a reason', { rules: [{ reason: 'Money.' }, { name: 'x' }] }, '\nMoney.'],
    ['with rules in no list', { rules: 'Money.' }, ''],
  ])('of a permission shows the input and why a person is asked: %s', (_, data, why) => {
    const form = formOf(permissionOf({ sum: 3 }, data), 'said before');
    expect(form?.message).toBe(
      `The agent asks for permission to run pay⟨U+202E⟩ with this input:\n{\n  "sum": 3\n}${why}`,
    );
    expect(form?.requestedSchema).toMatchObject({
      properties: { decision: { enum: ['allow', 'deny'] }, message: {} },
      required: ['decision'],
    });
  });

  test('there is none where it could not show all of the input', () => {
    expect(formOf(permissionOf('x'.repeat(7998)), '')).not.toBe(undefined);
    expect(formOf(permissionOf('x'.repeat(7999)), '')).toBe(undefined);
    const about = { tool_name: 'pay', tool_input: 'x'.repeat(7999) };
    expect(formOf(questionOf('Again?', { about }), '')).toBe(undefined);
  });

  test.each<readonly [string, ReturnType<typeof questionOf>, string, string, JsonObject]>([
    ['no options', questionOf('Which?'), '', 'Which?', free],
    ['options that are no list', questionOf('Which?', { options: 'red' }), '', 'Which?', free],
    [
      'options without labels',
      questionOf('Which?', { options: [null, ['red'], 'red', { label: 1 }] }),
      '',
      'Which?',
      free,
    ],
    [
      'options',
      questionOf('Which?', colours),
      ' Hm. ',
      'Hm.\n\nWhich?\n- red\n- blue: like the sea',
      chosen('red', 'blue'),
    ],
    [
      'a description that is no text',
      questionOf('Which?', { options: [{ label: 'red', description: 7 }] }),
      '',
      'Which?\n- red',
      chosen('red'),
    ],
    [
      'several to choose',
      questionOf('Which?', several),
      '',
      'Which?\n- red\n- blue: like the sea\nSeveral, separated by commas.',
      free,
    ],
    ['several of none', questionOf('Which?', { multiple: true }), '', 'Which?', free],
    [
      'several that is no truth',
      questionOf('Which?', { ...colours, multiple: 1 }),
      '',
      'Which?\n- red\n- blue: like the sea',
      chosen('red', 'blue'),
    ],
    [
      'a call that it is about',
      questionOf('Again?', { about: { tool_name: 'pay', tool_input: { sum: 3 } } }),
      '',
      'pay {\n  "sum": 3\n}\n\nAgain?',
      free,
    ],
    [
      'a call without an input',
      questionOf('Again?', { about: { tool_name: 'pay' } }),
      '',
      'pay \n\nAgain?',
      free,
    ],
    [
      'a subject without a call',
      questionOf('Again?', { about: { kind: 'x', tool_input: 3 } }),
      '',
      'Again?',
      free,
    ],
    [
      'a long text before',
      questionOf('Which?'),
      'x'.repeat(601),
      `${'x'.repeat(600)}\n\nWhich?`,
      free,
    ],
  ])('of a question with %s', (_, ...[ask, before, message, requestedSchema]) => {
    expect(formOf(ask, before)).toEqual({ message, requestedSchema });
  });
});

describe('an answer', () => {
  test.each<readonly [string, AskItem, JsonObject, JsonObject | undefined]>([
    ['an allow', permissionOf({}), { decision: 'allow' }, { decision: 'allow' }],
    [
      'a denial',
      permissionOf({}),
      { decision: 'deny', message: 'no' },
      { decision: 'deny', message: 'no' },
    ],
    ['an empty message', permissionOf({}), { decision: 'deny', message: '' }, { decision: 'deny' }],
    [
      'a message that is no text',
      permissionOf({}),
      { decision: 'deny', message: 7 },
      { decision: 'deny' },
    ],
    ['no decision', permissionOf({}), { answer: 'allow' }, undefined],
    ['another decision', permissionOf({}), { decision: 'perhaps' }, undefined],
    ['a label', questionOf('?', colours), { answer: 'BLUE' }, { answer: 'blue' }],
    [
      'own words',
      questionOf('?', colours),
      { answer: 'blue', own_words: 'green' },
      { answer: 'green' },
    ],
    [
      'own words that are blank',
      questionOf('?', colours),
      { answer: 'blue', own_words: ' ' },
      { answer: 'blue' },
    ],
    [
      'own words that are no text',
      questionOf('?', colours),
      { answer: 'blue', own_words: 7 },
      { answer: 'blue' },
    ],
    ['several', questionOf('?', several), { answer: '2, red' }, { answer: ['blue', 'red'] }],
    ['no text', questionOf('?', colours), { answer: 7 }, undefined],
    ['a number of none', questionOf('?', colours), { answer: '7' }, undefined],
    ['nothing', questionOf('?', colours), {}, undefined],
  ])('of a form that has %s', (_, ...[ask, content, body]) => {
    expect(answerIn(ask, content)).toStrictEqual(body);
  });

  test('of a model is read alike', () => {
    expect(replyTo(questionOf('?', colours), '1')).toEqual({ answer: 'red' });
    expect(replyTo(questionOf('?'), ' ')).toBe(undefined);
  });
});

test.each<readonly [string, AskItem, object | undefined]>([
  [
    'a question about an account',
    questionOf('Connect\u202e!', connect),
    { url: 'https://convoke.example/c', message: 'Connect⟨U+202E⟩!' },
  ],
  ['a question without a subject', questionOf('?'), undefined],
  ['a subject in a list', questionOf('?', { about: [connect.about] }), undefined],
  ['another subject', questionOf('?', { about: { ...connect.about, kind: 'call' } }), undefined],
  ['no address', questionOf('?', { about: { kind: 'connection_missing' } }), undefined],
  ['a permission', permissionOf({}, connect), undefined],
])('an account is connected at the link of its question: %s', (_, ask, link) => {
  expect(connectLinkOf(ask)).toEqual(link);
});

type Written = readonly [string, object];
const asked = (key: string, details: object = {}) =>
  ['user_question', { interaction_key: key, question: 'Which?', ...details }] as const;
const permission = (data: object = {}) =>
  [
    'permission_request',
    { interaction_key: 'p', tool_name: 'pay', tool_input: {}, ...data },
  ] as const;

describe('the result of a call', () => {
  const stateAfter = (...events: readonly Written[]) => {
    const run = new McpRun({ sessionId: 'sess_1', runId: 'run_1' });
    for (const event of logOf(['run_started', {}], ...events)) run.take(event);
    return { run, state: run.state };
  };
  const resultAfter = (events: readonly Written[], link?: string) =>
    resultOf(stateAfter(...events).state, link);
  const then = 'then call convoke_wait with the run_id run_1.';
  const elsewhere = `Tell the user to decide where they answer agents, ${then}`;

  test.each<readonly [string, readonly Written[], string, string]>([
    [
      'that works',
      [said('Hm.')],
      'running',
      'Hm.\n\nThe run has not ended. Call convoke_wait with the run_id run_1 to wait for it.',
    ],
    [
      'that said nothing',
      [],
      'running',
      'The run has not ended. Call convoke_wait with the run_id run_1 to wait for it.',
    ],
    ['that completed', [said('Done.'), ['run_completed', {}]], 'completed', 'Done.'],
    [
      'that asks',
      [said('Hm.'), asked('q', colours)],
      'waiting',
      'Hm.\n\nThe agent asks:\nWhich?\n- red\n- blue: like the sea\nAsk the user, and pass the answer to convoke_answer with the run_id run_1.',
    ],
    [
      'that asks about a call',
      [asked('q', { about: { tool_name: 'pay' } })],
      'waiting',
      `Which?\nOnly a person can answer this. ${elsewhere}`,
    ],
    [
      'that misses an account',
      [asked('q', connect)],
      'waiting',
      'Which?\nGive the user this link. When the account is connected, call convoke_wait with the run_id run_1: the run continues automatically.',
    ],
    [
      'that waits for a permission',
      [permission()],
      'waiting',
      `The agent waits for a person's permission to run pay. You cannot give it. ${elsewhere}`,
    ],
    [
      'that waits for it by a rule',
      [permission({ rules: [{ reason: 'Money.' }] })],
      'waiting',
      `The agent waits for a person's permission to run pay. Money. You cannot give it. ${elsewhere}`,
    ],
  ])('is no error of a run %s', (_, ...[events, status, text]) => {
    const { content, structuredContent, isError } = resultAfter(events);
    expect(content.map((part) => part.text)).toEqual([
      text,
      `session_id: sess_1, run_id: run_1, status: ${status}`,
    ]);
    expect(structuredContent).toMatchObject({ session_id: 'sess_1', run_id: 'run_1', status });
    expect(isError).toBe(undefined);
  });

  test.each<readonly [Written, string, string]>([
    [
      ['error', { message: 'broken', error_code: 'agent_error' }],
      'failed',
      'The run failed: broken (agent_error)',
    ],
    [['error', {}], 'failed', 'The run failed:  ()'],
    [['run_cancelled', {}], 'cancelled', 'The run was cancelled.'],
  ])('is an error after %o', (end, status, text) => {
    const result = resultAfter([said('Hm.'), asked('q'), end]);
    expect(result).toMatchObject({ isError: true, structuredContent: { status, text: 'Hm.' } });
    expect(result.content[0]?.text).toBe(text);
  });

  test.each([null, 'text', ['in a list']])(
    'asks the model where %o is the subject of a question, which is none',
    (about) => {
      expect(resultAfter([asked('q', { about })]).content[0]?.text).toContain('The agent asks:');
    },
  );

  test('leads to the console where there is one', () => {
    const [first] = resultAfter([permission()], 'https://convoke.example/r').content;
    expect(first?.text).toContain(`Tell the user to decide at https://convoke.example/r, ${then}`);
  });

  test('has the output of the agent, also if that is nothing', () => {
    for (const output of [null, { sum: 3 }]) {
      const { content, structuredContent } = resultAfter([
        ['run_output', { output }],
        ['run_completed', {}],
      ]);
      expect(content.map((part) => part.text)[1]).toBe(JSON.stringify(output, null, 2));
      expect(structuredContent).toMatchObject({ output });
    }
    expect(resultAfter([['run_completed', {}]]).structuredContent).not.toHaveProperty('output');
  });

  test('says whether the run is over, and drops the text that an interruption took back', () => {
    const events = [said('One. '), said('Two.')] as const;
    expect(stateAfter(...events).run.isOver).toBe(false);
    const cut = [
      'run_interrupted',
      { reason: 'worker_lost', discard_from_event_id: logOf(...events, events[0])[2]?.id },
    ] as const;
    const { run, state } = stateAfter(...events, cut, ['run_completed', {}]);
    expect([run.isOver, state.text]).toEqual([true, 'One. ']);
    expect(state.outcome).toStrictEqual({ status: 'completed' });
  });

  test('of a call that went wrong is what went wrong', () => {
    expect(errorResult('no')).toEqual({ content: [{ type: 'text', text: 'no' }], isError: true });
  });
});
