import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JsonExtent, extentOfJson } from '../../src/domain/json-bounds.ts';
import { type Json, isObject } from '../../src/domain/json.ts';

/** The extent, counted in the value. */
function extentOf(value: Json): JsonExtent {
  const isInner = Array.isArray(value) || isObject(value);
  const members: Json[] = isInner ? Object.values(value) : [];
  const inner = members.map(extentOf);
  return {
    values: inner.reduce((sum, { values }) => sum + values, 1),
    names: inner.reduce((sum, { names }) => sum + names, isObject(value) ? members.length : 0),
    depth: isInner ? 1 + Math.max(0, ...inner.map(({ depth }) => depth)) : 0,
  };
}

const hard = fc.constantFrom('"', '\\', '\\"', '[', '}', ',', ':', ' ', '\u2028', '{"a":1}');
const texts = fc.oneof(
  fc.string(),
  fc.array(hard).map((parts) => parts.join('')),
);
const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(texts, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(texts, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

test('the extent of a JSON text is that of its value, however it is spaced', () => {
  fc.assert(
    fc.property(values, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const text = JSON.stringify(value, null, space);
      expect(extentOfJson(text)).toEqual(extentOf(JSON.parse(text)));
    }),
  );
});

test('a text that is no JSON has an extent, too', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(extentOfJson(text).depth).toBeGreaterThanOrEqual(0);
    }),
  );
  expect(extentOfJson(`"${'\\'.repeat(9)}`)).toEqual({ values: 1, names: 0, depth: 0 });
});
