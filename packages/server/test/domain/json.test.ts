import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Json, canonicalJson } from '../../src/domain/json.ts';

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
