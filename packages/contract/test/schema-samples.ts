import type { Schema } from '../src/schema-types/shape.ts';

export interface Sample {
  readonly what: string;
  readonly schema: Schema;
  readonly fits: readonly unknown[];
  /** What a compiler can refuse: types know no ranges and no lengths. */
  readonly misfits?: readonly unknown[];
  /** Python has no type for it but that of all JSON objects, or of all values. */
  readonly isLooseInPython?: true;
}

const closed = { additionalProperties: false } as const;
const text = { type: 'string' } as const;
const node: Schema = {
  type: 'object',
  properties: { name: text, kids: { type: 'array', items: { $ref: '#/$defs/node' } } },
  required: ['name'],
  ...closed,
};

/** One schema of each kind that an agent may declare (D-560). */
export const samples: readonly Sample[] = [
  { what: 'a text', schema: text, fits: ['a'], misfits: [1, null] },
  { what: 'a number', schema: { type: 'number' }, fits: [1.5, 2], misfits: ['1'] },
  { what: 'a whole number', schema: { type: 'integer' }, fits: [1], misfits: ['1'] },
  { what: 'a flag', schema: { type: 'boolean' }, fits: [true], misfits: ['true'] },
  { what: 'nothing', schema: { type: 'null' }, fits: [null], misfits: ['null'] },
  { what: 'anything', schema: {}, fits: [1, null, [{ a: 1 }]] },
  { what: 'any object', schema: { type: 'object' }, fits: [{}, { a: [1] }], misfits: [1] },
  { what: 'any list', schema: { type: 'array' }, fits: [[], [1, 'a']], misfits: [1] },
  {
    what: 'an object',
    schema: {
      type: 'object',
      properties: { a: text, b: { type: 'integer' } },
      required: ['a'],
      ...closed,
    },
    fits: [{ a: 'x' }, { a: 'x', b: 1 }],
    misfits: [{}, { a: 1 }, { a: 'x', c: 1 }, { b: 1 }],
  },
  {
    what: 'an object without members',
    schema: { type: 'object', properties: {}, ...closed },
    fits: [{}],
    misfits: [{ a: 1 }],
  },
  {
    what: 'an open object',
    schema: {
      type: 'object',
      properties: { a: text },
      required: ['a'],
      additionalProperties: true,
    },
    fits: [{ a: 'x', more: 1 }],
    misfits: [{ a: 1 }],
    isLooseInPython: true,
  },
  {
    what: 'a map',
    schema: { type: 'object', additionalProperties: { type: 'integer' } },
    fits: [{}, { a: 1 }],
    misfits: [{ a: 'x' }],
  },
  {
    what: 'names that are no names of a language',
    schema: {
      type: 'object',
      properties: {
        'a-b': text,
        class: text,
        __x: text,
        list: text,
        'it\'s "': text,
        größe: text,
        $: text,
      },
      required: ['class', '$'],
      ...closed,
    },
    fits: [
      { class: 'a', $: 'b' },
      { class: 'a', $: 'b', 'a-b': 'c', __x: 'd', list: 'e', 'it\'s "': 'f', größe: 'g' },
    ],
    misfits: [{ $: 'b' }, { class: 1, $: 'b' }, { class: 'a', $: 'b', größe: 1 }],
  },
  {
    what: 'descriptions of every kind',
    schema: {
      type: 'object',
      description: 'Ends: */ """ \\',
      properties: { a: { type: 'string', description: 'One\n\u2028import os # */' } },
      ...closed,
    },
    fits: [{ a: 'x' }],
    misfits: [{ a: 1 }],
  },
  {
    what: 'a choice',
    schema: { enum: ['a', "b'c", 'd"e\\', '\n'] },
    fits: ['a', "b'c", 'd"e\\', '\n'],
    misfits: ['b'],
  },
  {
    what: 'a choice of kinds',
    schema: { enum: [1, 'a', null, true] },
    fits: [1, 'a', null, true],
    misfits: ['x'],
  },
  {
    what: 'a choice with a fraction',
    schema: { enum: [1.5, 'a'] },
    fits: [1.5, 'a'],
    misfits: ['x'],
  },
  { what: 'a choice of objects', schema: { enum: [{ a: 1 }, { a: 2 }] }, fits: [{ a: 1 }] },
  { what: 'a constant', schema: { const: 'a' }, fits: ['a'], misfits: ['b'] },
  { what: 'several types', schema: { type: ['string', 'null'] }, fits: ['a', null], misfits: [1] },
  {
    what: 'one of several objects',
    schema: {
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'a' }, n: { type: 'integer' } },
          required: ['kind'],
          ...closed,
        },
        {
          type: 'object',
          properties: { kind: { const: 'b' }, t: text },
          required: ['kind'],
          ...closed,
        },
      ],
    },
    fits: [
      { kind: 'a', n: 1 },
      { kind: 'b', t: 'x' },
    ],
    misfits: [{ kind: 'c' }, { kind: 'a', n: 'x' }],
  },
  {
    what: 'one of several types',
    schema: { anyOf: [text, { type: 'array', items: text }] },
    fits: ['a', ['a']],
    misfits: [1],
  },
  {
    what: 'an object of which one member must be there',
    schema: {
      type: 'object',
      properties: { a: text, b: text },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
      unevaluatedProperties: false,
    },
    fits: [{ a: 'x' }, { b: 'x' }],
    misfits: [{ a: 1 }],
  },
  {
    what: 'an object of parts',
    schema: {
      type: 'object',
      properties: { a: text },
      required: ['a'],
      allOf: [{ type: 'object', properties: { b: text }, required: ['b'] }],
      unevaluatedProperties: false,
    },
    fits: [{ a: 'x', b: 'y' }],
    misfits: [{ a: 'x' }, { a: 'x', b: 1 }],
    isLooseInPython: true,
  },
  {
    what: 'a condition',
    schema: { type: 'object', properties: { a: text }, if: {}, else: {} } as Schema,
    fits: [{ a: 'x', b: 1 }],
    misfits: [1],
  },
  {
    what: 'patterns of names',
    schema: { type: 'object', patternProperties: { '^x': text } } as Schema,
    fits: [{ xa: 'x' }],
    misfits: [1],
  },
  {
    what: 'a list whose first items are others',
    schema: { type: 'array', prefixItems: [text], items: {} } as Schema,
    fits: [['a']],
    misfits: [1],
  },
  {
    what: 'a list of objects',
    schema: { type: 'array', items: { type: 'object', properties: { a: text }, ...closed } },
    fits: [[{ a: 'x' }]],
    misfits: [[{ a: 1 }]],
  },
  {
    what: 'members without a condition',
    schema: { type: 'object', properties: { a: true, b: text } } as unknown as Schema,
    fits: [{ a: 1, b: 'x' }],
    misfits: [{ b: 1 }],
  },
  {
    what: 'an object of itself',
    schema: { $ref: '#/$defs/node', $defs: { node } },
    fits: [{ name: 'a', kids: [{ name: 'b' }] }],
    misfits: [{ name: 'a', kids: [{}] }],
  },
  {
    what: 'a list and a map of itself',
    schema: {
      type: 'object',
      properties: { list: { $ref: '#/$defs/list' }, map: { $ref: '#/$defs/map' } },
      $defs: {
        list: { type: 'array', items: { $ref: '#/$defs/list' } },
        map: { type: 'object', additionalProperties: { $ref: '#/$defs/map' } },
      },
      ...closed,
    },
    fits: [{ list: [[], [[]]], map: { a: { b: {} } } }],
    misfits: [{ list: [1] }],
  },
  {
    what: 'a member that is required and not described',
    schema: { type: 'object', properties: { a: text }, required: ['a', 'b'] },
    fits: [{ a: 'x', b: [1] }],
    misfits: [{ a: 'x' }],
  },
];
