import { describe, expect, test } from 'vitest';
import { compileSchema } from '../../src/agents/schemas/compile-schema.ts';
import { loadLinearPatterns } from '../../src/agents/schemas/linear-patterns.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';

const patternsOf = await loadLinearPatterns();
const compilePattern = (pattern: string) => patternsOf.compile(pattern);
const checkOf = (schema: JsonObject, stepsMax?: number) =>
  compileSchema({ schema, compilePattern, ...(stepsMax !== undefined && { stepsMax }) });

const costly = expect.stringMatching(/^takes more than \d+ steps to check/);
const tooCostly = [{ pointer: '', message: costly }];

const ofNodes = (...kinds: readonly JsonObject[]) => ({
  $defs: { node: { anyOf: kinds } },
  $ref: '#/$defs/node',
});
const leaf = { properties: { op: { const: 'leaf' }, is: { type: 'boolean' } }, required: ['is'] };
const node = { $ref: '#/$defs/node' };
const binary = (op: string) => ({
  properties: { op: { const: op }, of: node },
  required: ['op', 'of'],
});
/** Goes into what is inside before it looks at the name. */
const late = (op: string) => ({
  allOf: [{ properties: { of: node }, required: ['of'] }, { properties: { op: { const: op } } }],
});
const tree = (levels: number, is: Json): Json =>
  levels === 0 ? { op: 'leaf', is } : { op: 'or', of: tree(levels - 1, is) };

const list = (count: number, item: (at: number) => Json) =>
  Array.from({ length: count }, (_, at) => item(at));
const nested = (levels: number, value: Json): Json =>
  levels === 0 ? value : [nested(levels - 1, value)];
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
const patterns = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`^k${at}`, { type: 'integer' }]));
const kind = (at: number) => ({
  properties: { kind: { const: `k${at}` }, text: { type: 'string', maxLength: 10 } },
  required: ['kind', 'text'],
  additionalProperties: false,
});
const kinds = (count: number) => ({ items: { anyOf: list(count, kind) } }) as JsonObject;
const ofKind = (at: number) => ({ kind: `k${at}`, text: 'x' });

describe('the work of a check has a bound (D-1010)', () => {
  test('that a value of a few hundred bytes would exceed', async () => {
    const check = await checkOf(ofNodes(late('and'), late('or'), leaf));
    expect(check(tree(21, true))).toEqual(tooCostly);
    // Each check has the whole of it.
    expect(check(tree(10, true))).toEqual([]);
  });

  const few = 100_000;
  test.each<[string, JsonObject, Json]>([
    ['branches for each item', kinds(100), list(100, () => ofKind(99))],
    [
      'names for each item',
      { items: { enum: list(500, (at) => `n${at}`) } },
      list(300, () => 'n499'),
    ],
    [
      'items of items that shall differ',
      {
        $defs: {
          list: {
            type: 'array',
            uniqueItems: true,
            items: { anyOf: [{ $ref: '#/$defs/list' }, { type: 'integer' }] },
          },
        },
        $ref: '#/$defs/list',
      },
      nested(
        60,
        list(200, (at) => at),
      ),
    ],
    ['a large pattern', { pattern: 'a(a|b){400}$' }, 'ab'.repeat(50)],
    ['patterns of names', { patternProperties: patterns(50) }, members(100)],
    [
      'names that are gone through again and again',
      { anyOf: list(100, (at) => ({ minProperties: 20_000 + at })) },
      members(100),
    ],
    [
      'a text that is counted again and again',
      { anyOf: list(100, (at) => ({ minLength: 2_000_000 + at })) },
      'é'.repeat(5_000),
    ],
  ])('and that counts %s', async (_, schema, value) => {
    expect((await checkOf(schema, few))(value)).toEqual(tooCostly);
    const fitting = await checkOf(schema);
    expect(fitting(value)).not.toEqual(tooCostly);
  });

  test('and so has the search for all issues of a small value', async () => {
    const nodes = ofNodes(binary('and'), binary('or'), binary('not'), leaf);
    const { $defs, ...root } = nodes;
    const check = await checkOf({ $defs, properties: { at: { type: 'integer' }, of: root } });
    const issue = { pointer: '/at', message: 'must be integer' };
    expect(check({ at: 'x', of: tree(1, true) })).toEqual([issue]);
    expect(check({ at: 'x', of: tree(1, 'wrong') }).length).toBeGreaterThan(1);
    // Where it is given up, what the first check has found is said.
    expect(check({ at: 'x', of: tree(10, 'wrong') })).toEqual([issue]);
    expect(check({ at: 1, of: tree(60, true) })).toEqual([]);
  });

  const uuidPattern = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
  const uuid = '123e4567-e89b-12d3-a456-426614174000';
  test.each<[string, JsonObject, Json]>([
    ['49,000 numbers', { items: { type: 'integer', minimum: 0 } }, list(49_000, (at) => at)],
    ['9,000 objects of 30 kinds', kinds(30), list(9_000, (at) => ofKind(at % 30))],
    ['25,000 UUIDs', { items: { pattern: uuidPattern } }, list(25_000, () => uuid)],
    ['a text of a megabyte', { pattern: '^[^<>]*$', maxLength: 2_000_000 }, 'x'.repeat(1_000_000)],
    [
      '10,000 members',
      { patternProperties: { '^k[0-9]+$': { type: 'integer' } } },
      members(10_000),
    ],
    ['49,000 items that differ', { uniqueItems: true }, list(49_000, (at) => at)],
  ])('%s are below it', async (_, schema, value) => {
    expect((await checkOf(schema))(value)).toEqual([]);
  });
});
