import { request } from 'node:http';
import { type Operation, limits, operationList, pathParams } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openSession } from '../support/api-steps.ts';
import type { Identity } from '../support/checked-calls.ts';
import { leastOf, longestTurn, medianWork } from '../support/processor-work.ts';
import { type TestServer, startServer } from '../support/server.ts';

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

const shapes: Readonly<Record<string, Shape>> = {
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

/** The shape as the body, and in all its fields: as large as may be sent, and as may be parsed. */
function bodiesOf(operation: Operation, shape: string): string[] {
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

const taking = operationList.filter(
  ({ body, content }) => body !== undefined && content !== 'form',
);

describe('the longest that others wait beside a body (D-461)', () => {
  let server: TestServer;
  let params: Readonly<Record<string, string>>;
  let small: number;
  beforeAll(async () => {
    server = await startServer();
    const { organization_id, tenant_id } = server.quickstart;
    const { id: session_id } = await openSession(server, 'echo');
    params = { organization_id, tenant_id, session_id, agent_name: 'echo' };
    const look = () => post(server, '/v1/sessions', { as: server.client, body: '{}' });
    await medianWork(50, look);
    small = await medianWork(51, look);
  });

  /** The longest turn beside a body, measured until it is below the goal. */
  async function turnBeside(operation: Operation, body: string, below = 0): Promise<number> {
    const as = operation.caller === 'human' ? server.owner : server.client;
    const path = pathParams(operation.path).reduce(
      (url, name) => url.replace(`{${name}}`, params[name] ?? 'none'),
      operation.path as string,
    );
    const bytes = Buffer.from(body);
    const sending = () => post(server, path, { as, body: bytes, operation });
    return leastOf(() => longestTurn(sending), { below });
  }

  test.each(taking.map((operation) => [operation.id, operation] as const))(
    '%s: a few times what a harmless body of that size takes, whatever the shape',
    async (_, operation) => {
      const harmless = await turnBeside(operation, bodiesOf(operation, 'a long text')[1] ?? '{}');
      const unit = Math.max(small, harmless);
      const slow: string[] = [];
      for (const shape of Object.keys(shapes)) {
        for (const body of bodiesOf(operation, shape)) {
          const times = (await turnBeside(operation, body, timesMax * unit)) / unit;
          if (times > timesMax) slow.push(`${shape}, ${body.length} bytes: ${times.toFixed(0)}`);
        }
      }
      expect(slow).toEqual([]);
    },
  );
});

/** The worst shape takes up to 8 times as long, or 60 times without a bound on values. */
const timesMax = 30;

interface Post {
  readonly as: Identity;
  readonly body: string | Buffer;
  readonly operation?: Operation;
}

/** Sends a body that is ready: making it must not count. */
function post(server: TestServer, path: string, { as, body, operation }: Post): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      server.baseUrl + path,
      {
        method: operation?.method ?? 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'a-stall', ...as },
      },
      (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode ?? 0));
        answer.once('error', reject);
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}
