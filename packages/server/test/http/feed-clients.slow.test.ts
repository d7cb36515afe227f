import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Notice } from '@convoke/contract';
import { EventSource } from 'eventsource';
import { expect, onTestFinished, test } from 'vitest';
import { begin, runIn } from '../support/api-steps.ts';
import { type TestServer, startServer } from '../support/server.ts';

async function runToEnd(server: TestServer): Promise<string> {
  const { run } = await begin(server, 'echo', 'hello');
  await runIn(server, run, 'completed');
  return run.id;
}

async function feedOf(server: TestServer): Promise<Notice[]> {
  const headers = { accept: 'application/json' };
  const query = { limit: '100' };
  return (await server.send('follow_tenant_events', { query, headers })).body.events;
}

const hasEnd = (events: readonly Notice[], id: string) =>
  events.some(({ type, run_id }) => type === 'run_completed' && run_id === id);

/** Runs curl until it has printed the end of a run, and returns the notices that it printed. */
async function curlUntil(server: TestServer, runId: string, after: string): Promise<Notice[]> {
  const headers = { ...server.client, 'last-event-id': after };
  const flags = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const curl = spawn('curl', ['-sN', ...flags, `${server.baseUrl}/v1/events`]);
  let text = '';
  curl.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()));
  const read = () =>
    Array.from(text.matchAll(/^data: (.*)$/gm), ([, data = '']) => JSON.parse(data) as Notice);
  await expect.poll(() => hasEnd(read(), runId)).toBe(true);
  const exited = once(curl, 'exit');
  curl.kill();
  await exited;
  return read();
}

// Not our own clients.
test('EventSource and curl follow the feed over a restart of the server, each notice once (D-112)', async () => {
  let server = await startServer();
  const client = server.client;
  const seen: Notice[] = [];
  const source = new EventSource(`${server.baseUrl}/v1/events?event_names=off`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...client } }),
  });
  onTestFinished(() => source.close());
  source.onmessage = ({ data }) => seen.push(JSON.parse(data) as Notice);

  const first = await runToEnd(server);
  const byCurl = await curlUntil(server, first, '');
  await expect.poll(() => hasEnd(seen, first)).toBe(true);
  server = await server.restart();
  const second = await runToEnd(server);
  byCurl.push(...(await curlUntil(server, second, byCurl.at(-1)?.id ?? '')));
  await expect.poll(() => hasEnd(seen, second)).toBe(true);

  const kept = await feedOf(server);
  expect(byCurl).toEqual(kept);
  expect(seen).toEqual(kept);
});
