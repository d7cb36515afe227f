import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import type { RunEventList } from '@convoke/contract';
import { expect, onTestFinished, test } from 'vitest';
import { at, begin, ended, eventsPath, logOf } from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { Puppet } from '../support/puppet-harness.ts';
import { startServer } from '../support/server.ts';

/** D-35: most bytes that a stream holds for a reader that does not read. */
const streamBufferBytes = 256 * 1024;

// D-34: what does not fit into one answer comes with the next; it is not left out.
test('a page of history that is cut by its size says that there is more', async () => {
  const puppet = new Puppet();
  const server = await startServer({ harnesses: [puppet], agents: { puppet: puppet.agent() } });
  const { run } = await begin(server, 'puppet');
  const leg = await puppet.leg();
  const data = { text: 'x'.repeat(3 * 1024 * 1024) };
  for (let n = 0; n < 7; n++) leg.emit({ type: 'custom', name: `large_${n}`, data });
  leg.end();
  await ended(server, run);

  const readPage = async (query: Record<string, string>): Promise<RunEventList> => {
    const headers = { accept: 'application/json' };
    const { body } = await server.send('follow_run_events', { params: at(run), headers, query });
    return body ?? { events: [] };
  };
  const pages = [await readPage({ limit: '100' })];
  for (let cursor = pages[0]?.next_cursor; cursor !== undefined; ) {
    const page = await readPage({ limit: '100', cursor });
    pages.push(page);
    cursor = page.next_cursor;
  }
  const types = pages.flatMap(({ events }) => events.map(({ type }) => type));
  expect(types).toEqual((await logOf(server, run)).map(({ type }) => type));
  expect(types.length).toBe(9);
  expect(pages.length).toBeGreaterThan(2);
});

// D-33 counts bytes, and a character may have three of them.
test('a reader that does not read holds no more than its share, in any script', async () => {
  const puppet = new Puppet();
  const server = await startServer({ harnesses: [puppet], agents: { puppet: puppet.agent() } });
  const { run } = await begin(server, 'puppet');
  const leg = await puppet.leg();
  for (let n = 0; n < 1_000; n++) leg.say('日'.repeat(15_000));
  leg.end();
  await ended(server, run);

  const accepted = once(server.convoke.app.server, 'connection');
  const stalled = connect(server.config.port, server.config.host).pause();
  onTestFinished(() => void stalled.destroy());
  const lines = Object.entries(server.client).map(([name, value]) => `${name}: ${value}\r\n`);
  stalled.write(`GET ${eventsPath(run)} HTTP/1.1\r\nhost: x\r\n${lines.join('')}\r\n`);
  const [socket]: Socket[] = await accepted;
  let most = 0;
  await eventually(() => {
    const held = socket?.writableLength ?? 0;
    const isStuck = held > 0 && held === most;
    most = Math.max(most, held);
    return isStuck;
  });
  expect(most).toBeLessThan(streamBufferBytes);
});
