import { StreamResponse } from '@a2a-js/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { MessageTranslator } from '../../src/harness/a2a/message-translator.ts';
import { questionsOf } from '../../src/harness/acp/elicitation.ts';
import { eventOf } from '../../src/harness/acp/updates.ts';
import { readMessage, toolResultsIn, toolUsesIn } from '../../src/harness/claude/messages.ts';
import { isShort } from '../../src/harness/shown-value.ts';
import { readLine } from '../../src/harness/stdio/protocol.ts';
import { leastOf, workOf } from '../support/processor-work.ts';

const bytes = 700_000;
const filled = (part: string, length = bytes) => part.repeat(Math.floor(length / part.length));
const members = (count: number) =>
  Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',');
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Values of almost 1 MiB, each the worst for something that reads it. */
const worst = {
  'arrays in an array': `[${filled('[],')}1]`,
  'as many arrays as a line may have': `[${filled('[],', 3 * 199_000)}1]`,
  'objects in an array': `[${filled('{},')}1]`,
  'numbers in an array': `[${filled('1,', 2 * 199_000)}1]`,
  'many members': `{${members(40_000)}}`,
  'objects of many members': `[${filled(`{${members(50)}},`, bytes / 2)}1]`,
  'a long member': `{"${filled('k')}":1}`,
  'a text of quotes': `"${filled('\\"')}"`,
  'many levels': nested(200_000),
};
const shapes = Object.entries(worst);

const parsing = (value: string) =>
  Math.min(...Array.from({ length: 4 }, () => workOf(() => JSON.parse(value))));

/**
 * What JSON.parse takes for a value, or for arrays of the same length. A schema that walks all of it takes thirty times
 * as much.
 */
const parserWork = new Map<string, number>();
beforeAll(() => {
  const arrays = parsing(worst['arrays in an array']);
  for (const [, value] of shapes) parserWork.set(value, Math.max(arrays, parsing(value)));
});
const ratioMax = 6;

/** How many times as much work it is as parsing the value: the least of some tries. */
async function ratioOf(value: string, act: () => unknown): Promise<number> {
  const unit = parserWork.get(value) ?? 1;
  return (await leastOf(() => workOf(act), { below: ratioMax * unit })) / unit;
}

const messages: Record<string, (value: string) => string> = {
  'message_delta.text': (value) => `{"type":"message_delta","text":${value}}`,
  'custom.data': (value) => `{"type":"custom","name":"n","data":{"a":${value}}}`,
  'custom.data itself': (value) => `{"type":"custom","name":"n","data":${value}}`,
  'custom.point': (value) => `{"type":"custom","name":"n","point":${value}}`,
  'checkpoint.state': (value) => `{"type":"checkpoint","state":${value}}`,
  'permission_request.tool_input': (value) =>
    `{"type":"permission_request","ref":"r","tool_name":"t","tool_input":${value}}`,
  'user_question.options': (value) =>
    `{"type":"user_question","ref":"r","question":"q","options":${value}}`,
  'an option': (value) =>
    `{"type":"user_question","ref":"r","question":"q","options":["a",${value}]}`,
  'usage.point': (value) => `{"type":"usage","input_tokens":1,"output_tokens":1,"point":${value}}`,
  'call_begin.tool_input': (value) =>
    `{"type":"call_begin","call_id":"c","tool_name":"t","tool_input":${value}}`,
  'call_end.point': (value) => `{"type":"call_end","call_id":"c","point":${value}}`,
  'wait.name': (value) => `{"type":"wait","ref":"r","kind":"signal","name":${value}}`,
  'wait.input': (value) => `{"type":"wait","ref":"r","kind":"run","name":"n","input":${value}}`,
  'wait.until': (value) => `{"type":"wait","ref":"r","kind":"timer","name":"n","until":${value}}`,
  'end.output': (value) => `{"type":"end","output":${value}}`,
  'end.message': (value) => `{"type":"end","outcome":"error","message":${value}}`,
  'end.state': (value) => `{"type":"end","state":${value}}`,
  'an unknown member': (value) => `{"type":"custom","name":"n","zz":${value}}`,
  'members of the message': (value) =>
    value.startsWith('{') ? `{"type":"custom","name":"n",${value.slice(1)}` : value,
  'a line without a type': (value) => `{"a":${value}}`,
};

describe.each(Object.entries(messages))('a line of a program with %s', (_name, make) => {
  test.each(shapes)('that is %s costs what its length deserves', async (_shape, value) => {
    const line = make(value);
    const read = readLine(line, { isEnded: true });
    expect(await ratioOf(value, () => readLine(line, { isEnded: true }))).toBeLessThan(ratioMax);
    if (!read.ok) expect(read.problem.length).toBeLessThanOrEqual(500);
  });
});

test('every type of message is among them', () => {
  const read = readLine('{"type":"none"}', { isEnded: true });
  const [, types = ''] = /\((.*)\)/.exec(read.ok ? '' : read.problem) ?? [];
  const tried = Object.keys(messages).map((name) => name.split('.')[0]);
  expect(types.split(', ').filter((type) => !tried.includes(type))).toEqual([]);
});

test('a line that is nested too deeply is refused with the number of levels', () => {
  for (const make of Object.values(messages).slice(1, -2)) {
    const read = readLine(make(nested(200_000)), { isEnded: true });
    expect(read).toMatchObject({ ok: false, problem: 'it has more than 128 levels' });
  }
  const line = (levels: number) => `{"type":"checkpoint","state":${nested(levels)}}`;
  expect(readLine(line(128), { isEnded: true })).toMatchObject({ ok: true });
  expect(readLine(line(129), { isEnded: true })).toMatchObject({ ok: false });
});

test('a line of more values than a line may have is text if it is no event', () => {
  const text = `{"a":${worst['numbers in an array'].repeat(3)}}`;
  expect(readLine(text, { isEnded: false })).toMatchObject({
    ok: true,
    event: { type: 'message_delta', text },
  });
});

/** What adapters do with a value of a message that their SDK has parsed. */
const adapters: Record<string, (value: unknown) => unknown> = {
  claude: (value) => {
    const block = { type: 'tool_use', id: 'i', name: 'n', input: value };
    const said = readMessage({ type: 'assistant', message: { content: [block] }, more: value });
    const result = { type: 'tool_result', tool_use_id: 'i', content: value };
    const heard = readMessage({ type: 'user', message: { content: [result, value] } });
    return [
      said?.type === 'assistant' && toolUsesIn(said).map(({ input }) => isShort(input, 65_536)),
      heard?.type === 'user' && toolResultsIn(heard),
    ];
  },
  acp: (value) => [
    eventOf({ sessionUpdate: 'tool_call', toolCallId: 'i', title: 't', rawInput: value }, 'm'),
    questionsOf({
      mode: 'form',
      message: 'm',
      sessionId: 's',
      requestedSchema: { type: 'object', properties: value as Record<string, never> },
    }),
  ],
  a2a: (value) => {
    const response = StreamResponse.fromJSON({ message: { parts: [{ text: 'x' }] } });
    if (response.payload?.$case === 'message') {
      const [part] = response.payload.value.parts;
      if (part !== undefined) part.content = { $case: 'data', value };
    }
    return new MessageTranslator().translate(response);
  },
};

describe.each(Object.entries(adapters))('a message of the framework %s', (_name, read) => {
  test.each(shapes)('with %s costs what its length deserves', async (_shape, value) => {
    const parsed: unknown = JSON.parse(value);
    expect(await ratioOf(value, () => read(parsed))).toBeLessThan(ratioMax);
  });
});
