import { expect, test } from 'vitest';
import {
  fieldsOf,
  initialOf,
  inputOf,
  issuesByField,
  takesMore,
} from '../../src/data/input/schema-fields.ts';

const schema = {
  type: 'object',
  properties: {
    ticket: { type: 'integer', title: 'Ticket', description: 'Its number.' },
    prompt: { type: 'string' },
    team: { enum: ['billing', 7, null], default: 7 },
    urgent: { type: 'boolean' },
    sure: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    more: { type: 'object', properties: { a: {} } },
    any: true,
    files: { type: 'array', items: { type: 'string' } },
  },
  required: ['ticket', 'sure'],
  additionalProperties: false,
};

test('each member of an input has one field, and files have none (D-573)', () => {
  expect(fieldsOf(schema)?.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ['ticket', 'number', true],
    ['prompt', 'text', false],
    ['team', 'choice', false],
    ['urgent', 'flag', false],
    ['sure', 'flag', true],
    ['tags', 'lines', false],
    ['more', 'json', false],
    ['any', 'json', false],
  ]);
  expect(fieldsOf(schema)?.[0]).toMatchObject({ label: 'Ticket', hint: 'Its number.' });
  expect(fieldsOf(schema)?.[1]).toMatchObject({ label: 'prompt', hint: undefined });
});

test('a schema that is combined of others, or too long, is edited as JSON', () => {
  expect(fieldsOf({ ...schema, anyOf: [{ required: ['prompt'] }] })).toBeUndefined();
  expect(fieldsOf({ type: 'object' })).toBeUndefined();
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`a${index}`, {}]));
  expect(fieldsOf({ type: 'object', properties: many })).toBeUndefined();
});

test('an agent that takes a prompt and files only keeps the composer', () => {
  const prompt = { properties: { prompt: {}, files: {} }, additionalProperties: false };
  expect(takesMore(prompt)).toBe(false);
  expect(takesMore({ ...prompt, additionalProperties: true })).toBe(true);
  expect(takesMore(schema)).toBe(true);
});

test('what is typed becomes the input: empty fields are no members, and types are kept', () => {
  const fields = fieldsOf(schema) ?? [];
  const nothing = initialOf(fields, undefined);
  expect(inputOf(fields, nothing)).toEqual({ team: 7, sure: false });
  expect(initialOf(fields, 'Hello')['prompt']).toBe('Hello');
  const typed = {
    ...nothing,
    ticket: '7',
    prompt: ' two words ',
    team: '2',
    urgent: false,
    sure: true,
    tags: 'a\n\n b',
    more: '{"a": [1]}',
  };
  expect(inputOf(fields, typed)).toEqual({
    ticket: 7,
    prompt: ' two words ',
    team: null,
    urgent: false,
    sure: true,
    tags: ['a', ' b'],
    more: { a: [1] },
  });
  // The server says what it wants instead.
  const wrong = { ...nothing, ticket: 'seven', more: '{' };
  expect(inputOf(fields, wrong)).toMatchObject({ ticket: 'seven', more: '{' });
});

test('a refusal stands at its field, and what no field has stands above all', () => {
  const issues = [
    { pointer: '/input/ticket', message: 'must be integer' },
    { pointer: '/input/tags/1', message: 'must be string' },
    { pointer: '/input/a~1b', message: 'is missing' },
    { pointer: '/input/colour', message: 'is not declared' },
  ];
  expect(Object.fromEntries(issuesByField(issues, ['ticket', 'tags', 'a/b']))).toEqual({
    ticket: 'must be integer',
    tags: '/input/tags/1 must be string',
    'a/b': 'is missing',
    '': '/input/colour is not declared',
  });
  expect(issuesByField(undefined, []).size).toBe(0);
});
