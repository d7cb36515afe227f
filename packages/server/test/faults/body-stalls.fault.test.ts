import { request } from 'node:http';
import { type Operation, pathParams } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSession } from '../support/api-steps.ts';
import type { Identity } from '../support/checked-calls.ts';
import { leastOf, longestTurn, medianWork } from '../support/processor-work.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { bodiesOf, shapes, takingJson } from '../support/worst-bodies.ts';

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

  test.each(takingJson.map((operation) => [operation.id, operation] as const))(
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
