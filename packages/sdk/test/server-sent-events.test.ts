import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageParser } from '../src/transport/server-sent-events.ts';

describe('a stream of events', () => {
  test('yields the same messages for any chunks and any line ending', () => {
    const message = fc.array(
      fc.string({ unit: 'binary' }).map((text) => text.replace(/[\r\n]/g, '')),
      {
        minLength: 1,
        maxLength: 3,
      },
    );
    const ending = fc.constantFrom('\n', '\r\n', '\r');
    const cuts = fc.array(fc.nat(300), { maxLength: 20 });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), ending, cuts, (messages, end, places) => {
        const stream = messages
          .map(
            (lines) =>
              `: ping${end}id: 1${end}${lines.map((line) => `data: ${line}${end}`).join('')}${end}`,
          )
          .join('');
        const expected = messages.map((lines) => lines.join('\n'));
        expect(parse(...pieces(stream, places))).toEqual(expected);
      }),
    );
  });

  test('with an endless message is rejected before it fills the memory', () => {
    const parser = new MessageParser();
    const piece = 'x'.repeat(1024 * 1024);
    expect(() => {
      for (let count = 0; count < 20; count += 1) parser.push(piece);
    }).toThrow(RangeError);
  });
});

function parse(...all: readonly string[]): string[] {
  const parser = new MessageParser();
  return all.flatMap((piece) => parser.push(piece));
}

function pieces(text: string, places: readonly number[]): string[] {
  const cuts = [0, ...places.filter((place) => place < text.length).toSorted((a, b) => a - b)];
  return cuts.map((start, index) => text.slice(start, cuts[index + 1]));
}
