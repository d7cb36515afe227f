import type { ModelMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Continuation, mended } from '../../../src/harness/ai-sdk/cut-message.ts';

const cut = 'The answer is forty-two. It was found by a very lar';

/** What a reader sees of the new message, however its deltas are split. */
function heard(said: string, message: string, size: number): string {
  const continuation = new Continuation(said);
  let text = '';
  for (let at = 0; at < message.length; at += size) {
    text += continuation.take(message.slice(at, at + size));
  }
  const rest = continuation.end();
  expect(continuation.repeated + (text + rest).length).toBe(message.length);
  return text + rest;
}

describe.each([1, 2, 3, 7, 1000])('a continued message in deltas of %i characters', (size) => {
  test.each([
    ['continues exactly', 'ge computer.', 'ge computer.'],
    ['begins again', `${cut}ge computer.`, 'ge computer.'],
    ['repeats its last sentence', 'It was found by a very large computer.', 'ge computer.'],
    ['repeats from the middle of a word', 'as found by a very large computer.', 'ge computer.'],
    ['repeats and adds nothing', cut, ''],
    ['repeats only a beginning', 'The answer is', ''],
    ['says nothing', '', ''],
    // Not the same words: nothing is known to be repeated.
    ['begins again in other words', 'The answer is 42.', 'The answer is 42.'],
    ['repeats too little to be sure', 'very large', 'very large'],
    ['begins like the message and continues otherwise', 'The ant', 'The ant'],
  ])('that %s', (_, message, fresh) => {
    expect(heard(cut, message, size)).toBe(fresh);
  });

  test('keeps lines that are alike in the text itself', () => {
    const row = '| cell | another cell |\n';
    expect(heard(`A table:\n${row.repeat(3)}`, `${row}End.`, size)).toBe(`${row}End.`);
  });

  test('drops the longest repetition', () => {
    const twice = 'and so on, and so forth; ';
    expect(heard(`x ${twice}${twice}`, `${twice}${twice}end`, size)).toBe('end');
  });
});

test('however it is split, a message that begins again adds exactly its rest', () => {
  const texts = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' });
  const sizes = fc.integer({ min: 1, max: 20 });
  const check = (said: string, rest: string, size: number) => {
    expect(heard(said, said + rest, size)).toBe(rest);
  };
  fc.assert(fc.property(texts, texts, sizes, check));
});

test('a long message that is repeated costs no more than its length', () => {
  const long = 'ab'.repeat(200_000);
  expect(heard(long, `${long}c`, 1000)).toBe('c');
});

/**
 * What it shows, the characters that were repeated, the messages of the model, and the content of the one that is
 * stored.
 */
type Mended = readonly [string, number, ModelMessage[], ModelMessage['content']];

describe('the cut message and its continuation are stored as one message', () => {
  const call = { type: 'tool-call', toolCallId: '1', toolName: 'pay', input: {} } as const;
  const thought = { type: 'reasoning', text: 'hm' } as const;
  const text = (said: string) => ({ type: 'text', text: said }) as const;
  test.each<Mended>([
    ['of text', 0, [{ role: 'assistant', content: 'b' }], [text('ab')]],
    ['without what was repeated', 1, [{ role: 'assistant', content: 'ab' }], [text('ab')]],
    ['that calls', 0, [{ role: 'assistant', content: [call] }], [text('a'), call]],
    [
      'that thinks first',
      0,
      [{ role: 'assistant', content: [thought, text('b'), call] }],
      [thought, text('ab'), call],
    ],
    [
      'in several parts, all of it repeated',
      2,
      [{ role: 'assistant', content: [text('x'), text('y'), call] }],
      [text('a'), call],
    ],
    ['that says nothing', 0, [], 'a'],
  ])('%s', (...[, repeated, messages, content]) => {
    expect(mended({ cut: 'a', repeated }, messages)).toEqual([{ role: 'assistant', content }]);
  });
});
