import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { type Operation, limits } from '@convoke/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Refusal } from '../../src/app/refusal.ts';
import { extentOfJson } from '../../src/domain/json-bounds.ts';
import { readBody } from '../../src/http/bodies/body.ts';
import { bodiesOf, shapes, takingJson } from '../support/worst-bodies.ts';

const most = { values: 50_000, names: 10_000, depth: 64 };

/** What the parser got: the bounds are no bounds unless they hold before it. */
const parsed: string[] = [];
beforeEach(() => {
  parsed.length = 0;
  const parse = JSON.parse.bind(JSON);
  vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    parsed.push(text);
    return parse(text, reviver) as unknown;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Reads a body as it arrives. Returns the code of a refusal. */
async function read(operation: Operation, body: string): Promise<string> {
  const message = new IncomingMessage(new Socket());
  message.headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  message.push(body);
  message.push(null);
  try {
    const value = await readBody(operation, message, operation.maxBytes ?? limits.bodyMaxBytes);
    return value instanceof Refusal ? value.code : 'read';
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** Operations whose bodies are read alike, by what decides about that. */
const groups = new Map<string, [Operation, ...Operation[]]>();
for (const operation of takingJson) {
  const { content = 'json', maxBytes = limits.bodyMaxBytes } = operation;
  const name = `${content} of ${maxBytes} bytes`;
  groups.set(name, [operation, ...(groups.get(name) ?? [])]);
}

test.each(
  [...groups].map(([name, operations]) => [name, operations.length, operations[0]] as const),
)(
  '%s, in %i operations: no body beyond the bounds reaches the parser (D-461)',
  async (_name, _count, operation) => {
    for (const shape of Object.keys(shapes)) {
      for (const body of bodiesOf(operation, shape)) {
        const { values, names, depth } = extentOfJson(body);
        const isAllowed =
          values + names <= most.values && names <= most.names && depth <= most.depth;
        const what = `${shape}, ${body.length} bytes`;
        expect([what, await read(operation, body)]).toEqual([
          what,
          isAllowed ? 'read' : 'invalid_json',
        ]);
        expect([what, parsed.includes(body)]).toEqual([what, isAllowed]);
      }
    }
    const large = `"${'t'.repeat(operation.maxBytes ?? limits.bodyMaxBytes)}"`;
    expect(await read(operation, large)).toBe('body_too_large');
    expect(parsed).not.toContain(large);
  },
);
