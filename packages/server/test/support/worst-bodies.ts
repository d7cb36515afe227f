import { type Operation, limits, operationList } from '@convoke/contract';
import { z } from 'zod';

/** JSON of about so many bytes that costs a parser, a schema or a walk the most. */
type Shape = (bytes: number) => string;

const repeated = (item: string) => (bytes: number) =>
  Array(Math.max(1, Math.floor(bytes / (item.length + 1))))
    .fill(item)
    .join(',');
const listOf =
  (item: string): Shape =>
  (bytes) =>
    `[${repeated(item)(bytes - 2)}]`;
const keyBytes = '"k100000":0,'.length;
const depth = limits.bodyMaxDepth - 4;

export const shapes: Readonly<Record<string, Shape>> = {
  numbers: listOf('1'),
  'empty objects': listOf('{}'),
  'empty arrays': listOf('[]'),
  'nested arrays': listOf('['.repeat(depth) + ']'.repeat(depth)),
  'nested objects': listOf('{"a":'.repeat(depth) + '0' + '}'.repeat(depth)),
  'one long key': (bytes) => `{"${'k'.repeat(Math.max(1, bytes - 6))}":0}`,
  'many keys': (bytes) => {
    const count = Math.max(1, Math.floor(bytes / keyBytes));
    const fields = Array.from({ length: count }, (_, at) => `"k${at + 100_000}":0`);
    return `{${fields.join(',')}}`;
  },
  'a long text': (bytes) => `"${'t'.repeat(Math.max(1, bytes - 2))}"`,
  'a text of escapes': (bytes) => `"${'\\"'.repeat(Math.max(1, Math.floor(bytes / 2) - 1))}"`,
};

/** How many of the bytes of a shape make as many values, or keys, as are allowed. */
const allowedBytes: Readonly<Record<string, number>> = {
  numbers: 2 * limits.bodyMaxValues,
  'empty objects': 3 * limits.bodyMaxValues,
  'empty arrays': 3 * limits.bodyMaxValues,
  'nested arrays': 2 * limits.bodyMaxValues,
  'nested objects': 6 * limits.bodyMaxKeys,
  'many keys': keyBytes * limits.bodyMaxKeys,
};

/** Operations that parse a body of JSON. */
export const takingJson: readonly Operation[] = operationList.filter(
  ({ body, content }: Operation) => body !== undefined && content !== 'form',
);

/** The shape as the body, and in all its fields: as large as may be sent, and as may be parsed. */
export function bodiesOf(operation: Operation, shape: string): string[] {
  const make = shapes[shape] ?? listOf('1');
  const maxBytes = operation.maxBytes ?? limits.bodyMaxBytes;
  const allowed = Math.min(maxBytes, 0.9 * (allowedBytes[shape] ?? maxBytes));
  const inAll = (bytes: number) => inFields(operation, (share) => make((bytes - 1000) / share));
  return [make(maxBytes - 10), inAll(maxBytes), ...(allowed < maxBytes ? [inAll(allowed)] : [])];
}

function inFields({ body }: Operation, make: (share: number) => string): string {
  const names = body instanceof z.ZodObject ? Object.keys(body.shape) : ['params'];
  const value = make(names.length || 1);
  return `{${(names.length === 0 ? ['none'] : names).map((name) => `"${name}":${value}`).join(',')}}`;
}
