import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type Operation, operationList } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { FakeClock } from '../support/clocks.ts';
import { type TestServer, startServer } from '../support/server.ts';

const open = operationList.filter(
  ({ caller, body }) => caller === 'anonymous' && body !== undefined,
);

describe('a network that has used up its rate (D-460)', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ clock: new FakeClock() });
  });

  test.each(open.map((operation): [string, Operation] => [operation.id, operation]))(
    '%s: 429 before a byte of the body has arrived',
    async (_, { path, networkRate, content }) => {
      const url = server.baseUrl + path;
      const type = content === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
      const headers = { 'content-type': type };
      const send = async () => {
        const answer = await fetch(url, { method: 'POST', headers, body: '?' });
        await answer.body?.cancel();
        return answer.status;
      };
      const burst = networkRate?.burst ?? 0;
      const statuses: number[] = [];
      while (statuses.length < burst) {
        statuses.push(...(await Promise.all(Array.from({ length: 20 }, send))));
      }
      // All but the token that the test server asked for when it started.
      const read = statuses.filter((status) => status !== 429).length;
      expect(burst - read).toBeLessThanOrEqual(1);
      expect(await send()).toBe(429);
      const silent = request(url, {
        method: 'POST',
        headers: { ...headers, 'content-length': '100' },
      });
      atFileEnd(() => void silent.destroy());
      silent.flushHeaders();
      const [answer] = (await once(silent, 'response')) as [IncomingMessage];
      expect(answer.statusCode).toBe(429);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    },
  );
});
