import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { readAllowList } from '../../src/egress/allow-list.ts';
import { guardedFetch } from '../../src/egress/guarded-fetch.ts';
import { systemClock } from '../../src/runtime/clock.ts';

test('the connection uses the addresses that were checked, and all of them must be allowed (SSRF)', async () => {
  const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const registered = new URL(`http://agent.test:${port}/`);
  let lookups = 0;
  const fetchIt = (allow: readonly string[], found: readonly string[]) =>
    guardedFetch({
      registered,
      allow: readAllowList('CONVOKE_TEST_ALLOW', allow),
      clock: systemClock,
      headers: {},
      credentialName: 'TOKEN',
      signal: new AbortController().signal,
      resolve: async () => {
        lookups += 1;
        return found.map((each) => ({ address: each, family: 4 }));
      },
    })(registered);
  const answered = await fetchIt(['127.0.0.0/8'], ['127.0.0.1']);
  expect(await answered.text()).toBe('reached');
  // One lookup, whose result was used for the connection: no resolver knows this name.
  expect(lookups).toBe(1);
  await expect(fetchIt([`agent.test:${port}`], ['127.0.0.1'])).rejects.toThrow('not allowed');
  await expect(fetchIt(['127.0.0.0/8'], ['127.0.0.1', '10.0.0.1'])).rejects.toThrow('not allowed');
  await expect(fetchIt(['127.0.0.0/8'], [])).rejects.toThrow(
    'does not exist, or leads to an address that is not allowed',
  );
});
