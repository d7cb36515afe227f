import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Json, canonicalJson, measureJson } from '../../src/domain/json.ts';

describe('canonical JSON (D-39, D-57)', () => {
  const json = fc.jsonValue() as fc.Arbitrary<Json>;

  test('says the same as the value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('does not depend on the order in which members were written', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test('is different for different values', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const isSame = canonicalJson(a) === canonicalJson(b);
        expect(isSame).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
      }),
    );
  });

  test.each<[Json, string]>([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [{ é: 1, z: 2, '\u0000': 3 }, '{"\\u0000":3,"z":2,"é":1}'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    [[], '[]'],
    [{}, '{}'],
    [-0, '0'],
    ['\ud800', '"\\ud800"'],
  ])('%j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test('distinguishes an array from an object with the same members', () => {
    expect(canonicalJson(['a'])).not.toBe(canonicalJson({ 0: 'a' }));
    expect(canonicalJson('1')).not.toBe(canonicalJson(1));
  });
});

function reversed(value: Json): Json {
  return rebuilt(value, (names) => names.reverse());
}

function sorted(value: Json): Json {
  return rebuilt(value, (names) => names.sort());
}

function rebuilt(value: Json, order: (names: string[]) => string[]): Json {
  if (Array.isArray(value)) return value.map((item: Json) => rebuilt(item, order));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  const names = order(members.map(([name]) => name));
  const byName = new Map(members);
  return Object.fromEntries(names.map((name) => [name, rebuilt(byName.get(name) ?? null, order)]));
}

describe('the size of JSON', () => {
  const bounds = { charactersMax: 1000, depthMax: 10 };

  test('is near the length of its text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }) as fc.Arbitrary<Json>, (value) => {
        const { length } = JSON.stringify(value);
        const size = measureJson(value, { charactersMax: 1e9, depthMax: 10 });
        // An escape has six characters, a number up to 25, and an empty list is counted as more than it has.
        expect(size).toBeGreaterThanOrEqual(length / 7);
        expect(size).toBeLessThanOrEqual(length * 4);
      }),
    );
  });

  test.each<[string, Json, number | string]>([
    ['a text', 'abc', 7],
    ['a text at the bound', 'x'.repeat(996), 1000],
    ['a longer one', 'x'.repeat(997), 'too long'],
    ['a long name', { ['x'.repeat(1001)]: 1 }, 'too long'],
    ['many empty values', Array.from({ length: 1000 }, () => ''), 'too long'],
    ['lists in lists', nested(10), 44],
    ['one list more', nested(11), 'too deep'],
    ['lists deeper than the stack', nested(1_000_000), 'too deep'],
  ])('%s', (_, value, size) => {
    expect(measureJson(value, bounds)).toBe(size);
  });
});

function nested(levels: number): Json {
  let value: Json = 0;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}
