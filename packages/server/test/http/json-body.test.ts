import { limits, operationList } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/app/refusal.ts';
import { arrayFields } from '../../src/http/bodies/array-fields.ts';
import { parseJson } from '../../src/http/bodies/json-body.ts';

function said(text: string): string {
  try {
    parseJson(Buffer.from(text));
    return 'read';
  } catch (error) {
    if (error instanceof Refusal) return `${error.code}: ${error.message}`;
    throw error;
  }
}

const list = (count: number, item: string) => `[${Array(count).fill(item).join(',')}]`;

describe('the values of a body (D-461)', () => {
  const most = limits.bodyMaxValues;
  const tooMany = `invalid_json: The body has more than ${most} values`;
  test.each([
    ['numbers', list(most - 1, '1'), list(most, '1')],
    ['numbers apart', list(most - 1, ' 1 '), list(most, '\n1\t')],
    ['literals', list(most - 1, 'null'), list(most, 'true')],
    ['texts', list(most - 1, '""'), list(most, '","')],
    ['empty objects', list(most - 1, '{}'), list(most, '{}')],
    ['empty arrays', list(most - 1, '[]'), list(most, '[ ]')],
    ['nested arrays', list(most / 2 - 1, '[[]]'), list(most / 2, '[[]]')],
    ['names of fields', list(9_999, '{"a":[1]}'), list(9_999, '{"a":[1,2,3]}')],
  ])('are counted: %s', (_, allowed, refused) => {
    expect(said(allowed)).toBe('read');
    expect(said(refused)).toContain(tooMany);
  });

  test('are counted before the text is known to be JSON', () => {
    expect(said(list(most + 1, '{}').slice(0, -1))).toContain(tooMany);
    expect(said(`${'['.repeat(100_000)}`)).toContain('nested deeper');
  });

  test('of a large text are few', () => {
    const text = 'x"\\\n'.repeat(200_000);
    const value = { prompt: text, rows: Array.from({ length: 2_000 }, (_, id) => ({ id, text })) };
    const one = JSON.stringify({ ...value, rows: value.rows.map(({ id }) => ({ id })) });
    expect(parseJson(Buffer.from(one))).toEqual(JSON.parse(one));
  });

  test.each(operationList.map((operation) => [operation.id, operation] as const))(
    '%s: each array has a bound of its own, which is small',
    (_, operation) => {
      for (const bound of arrayFields(operation).values()) expect(bound).toBeLessThanOrEqual(2_000);
    },
  );
});

describe('the keys of a body (D-72)', () => {
  test.each([
    ['{"a":1,"a":2}', 'duplicate_key: The body names "a" twice.'],
    ['{"a":1,"b":1,"c":1,"b":2}', 'duplicate_key: The body names "b" twice.'],
    [String.raw`{"a":1,"\u0061":2}`, String.raw`duplicate_key: The body names "\u0061" twice.`],
    ['[{"a":{"b":1,"b":2}}]', 'duplicate_key: The body names "b" twice.'],
    ['{"a":[{}],"b":{"c":0},"a":0}', 'duplicate_key: The body names "a" twice.'],
    ['{"":1,"":2}', 'duplicate_key: The body names "" twice.'],
    ['{"__proto__":1}', 'unknown_field: __proto__ cannot be a field.'],
    [String.raw`{"__pr\u006fto__":1}`, 'unknown_field: __proto__ cannot be a field.'],
  ])('%s is refused', (text, refusal) => {
    expect(said(text)).toBe(refusal);
  });

  test.each([
    '{"a":{"a":{"a":"a"}},"b":"a"}',
    '[{"a":1},{"a":1}]',
    '{"a":["a","a"],"b":["a"]}',
    String.raw`{"a\"":1,"a":"\",\"a\":","\\":2}`,
  ])('%s is read', (text) => {
    expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
  });

  test.each([
    '{"a":1,"a":2',
    '{"a":1,"a"',
    '{"a',
    '"',
    '"\\',
    String.raw`{"\x":1,"\x":2}`,
    '',
    '{,}',
  ])('%s is not JSON, whatever its keys are', (text) => {
    expect(said(text)).toMatch(/^invalid_json: The body is not valid JSON/);
  });
});
