import { formatNoticeId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { begin, openSession, runIn, startRun } from '../support/api-steps.ts';
import { MovingClock } from '../support/clocks.ts';
import { eventually } from '../support/eventually.ts';
import { addClient, addTenant } from '../support/identities.ts';
import { NoticeReader } from '../support/notice-reader.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import {
  type TestServer,
  deployments,
  requestToken,
  selecting,
  startServer,
} from '../support/server.ts';

const json = { accept: 'application/json' };
const dayMs = 86_400_000;

type Query = Readonly<Record<string, string>> | string;

const pageOf = async (server: TestServer, query: Query = {}, after?: string) => {
  const headers = { ...json, ...(after === undefined ? {} : { 'last-event-id': after }) };
  return (await server.send('follow_tenant_events', { query, headers })).body;
};

const streamOf = async (server: TestServer, query = '', after?: string) => {
  const headers = {
    accept: 'text/event-stream',
    ...(after === undefined ? {} : { 'last-event-id': after }),
  };
  return new NoticeReader(await server.fetch('GET', `/v1/events${query}`, { headers }));
};

/** Runs an agent to its end and returns when the feed tells it. */
async function runToEnd(server: TestServer) {
  const { run } = await begin(server, 'echo', 'hello');
  await runIn(server, run, 'completed');
  await eventually(async () => {
    const { events } = await pageOf(server, { types: 'run_completed', limit: '100' });
    return events.some(({ run_id }) => run_id === run.id);
  });
  return run;
}

const ofRun = ['run_queued', 'run_started', 'run_completed'];

describe.each(deployments)('the feed of a tenant on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });

  test('tells every change once, numbered without a gap, as pages and as a stream (D-111, D-112)', async () => {
    const start = (await pageOf(server, { from: 'newest' })).last_event_id;
    const live = await streamOf(server, start === undefined ? '?from=newest' : '', start);
    const run = await runToEnd(server);
    await live.until('run_completed', ({ run_id }) => run_id === run.id);
    const { events, last_event_id } = await pageOf(server, {}, start);
    expect(live.notices).toEqual(events);
    expect(last_event_id).toBe(events.at(-1)?.id);
    const first = Number(start ?? 0) + 1;
    expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => formatNoticeId(first + at)));
    expect(events.filter(({ run_id }) => run_id === run.id).map(({ type }) => type)).toEqual(ofRun);
    expect(new Set(events.map(({ session_id }) => session_id))).toEqual(new Set([run.session_id]));
    expect(JSON.stringify(events)).not.toContain('hello');
    await live.close();
  });

  test('continues after any Last-Event-ID in the same bytes, also at the next server (D-112)', async () => {
    await runToEnd(server);
    const { last_event_id: last = '' } = await pageOf(server, { from: 'newest' });
    const whole = await streamOf(server);
    await whole.untilCursor(last);
    const frames = whole.frames.filter((frame) => frame.startsWith('id: '));
    server = await server.restart();
    for (const at of [0, Math.floor(frames.length / 2), frames.length - 2]) {
      const rest = await streamOf(server, '', formatNoticeId(at));
      await rest.untilCursor(last);
      const told = rest.frames.filter((frame) => frame.startsWith('id: '));
      expect(told).toEqual(frames.slice(at));
      await rest.close();
    }
    const unnamed = await streamOf(server, '?event_names=off', formatNoticeId(0));
    await unnamed.untilCursor(last);
    expect(unnamed.frames.join()).not.toContain('event:');
    expect(unnamed.notices).toEqual(whole.notices);
    for (const reader of [whole, unnamed]) await reader.close();
  });

  test('`types` selects notices and moves the cursor over the others by a comment (D-112)', async () => {
    await runToEnd(server);
    await runToEnd(server);
    const { last_event_id: last = '' } = await pageOf(server, { from: 'newest' });
    const query = 'types=run_failed&types=run_queued';
    const reader = await streamOf(server, `?${query}`);
    await reader.untilCursor(last);
    expect(new Set(reader.notices.map(({ type }) => type))).toEqual(new Set(['run_queued']));
    expect(reader.frames.at(-1)).toMatch(/^id: \d{16}\n: [^\n]+$/);
    const { events, last_event_id } = await pageOf(server, query);
    expect(events).toEqual(reader.notices);
    expect(last_event_id).toBe(last);
    const none = await pageOf(server, { types: 'budget_reached' });
    expect(none).toEqual({ events: [], last_event_id: last });
    await reader.close();
  });

  test('pages follow each other by their cursor, which belongs to one selection', async () => {
    await runToEnd(server);
    const { events } = await pageOf(server, { limit: '100' });
    const told = [];
    let cursor: string | undefined;
    do {
      const page = await pageOf(server, {
        limit: '3',
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(page.last_event_id).toBe(page.events.at(-1)?.id);
      told.push(...page.events);
      cursor = page.next_cursor;
    } while (cursor !== undefined && told.length < 100);
    expect(told).toEqual(events);
    const { next_cursor = '' } = await pageOf(server, { limit: '1' });
    const query = { limit: '1', cursor: next_cursor, types: 'run_queued' };
    const refused = await server.refused('follow_tenant_events', { query, headers: json });
    expect(refused).toMatchObject({ status: 400, error: 'invalid_cursor' });
  });

  test('the feed of another tenant contains nothing of it (D-53)', async () => {
    const client = await addClient(server, { name: 'other' });
    const as = client.in(await addTenant(server, 'Other'));
    const { body } = await server.send('follow_tenant_events', { as, headers: json });
    expect(body).toEqual({ events: [] });
    const headers = { ...json, 'last-event-id': formatNoticeId(1) };
    const refused = await server.refused('follow_tenant_events', { as, headers });
    expect(refused).toMatchObject({ status: 400, error: 'invalid_last_event_id' });
  });
});

describe('a cursor of the feed', () => {
  test.each([
    'abc',
    '1',
    '000000000001',
    '00000000000000000',
    '9999999999999999',
    '-000000000000001',
  ])('of %s is refused (D-113)', async (id) => {
    const server = await shared();
    for (const accept of ['text/event-stream', 'application/json']) {
      const headers = { accept, 'last-event-id': id };
      const refused = await server.refused('follow_tenant_events', { headers });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_last_event_id' });
    }
  });

  test('whose notices are no longer kept is refused with the oldest that is, and an open stream ends (D-113)', async () => {
    const clock = new MovingClock();
    const server = await startServer({ clock, env: { CONVOKE_FEED_DAYS: '1' } });
    const session = await openSession(server, 'echo');
    await runIn(server, await startRun(server, session, 'hello'), 'completed');
    await eventually(async () => (await pageOf(server)).events.length >= 4);
    clock.advance(2 * dayMs);
    const refused = await eventually(async () => {
      clock.advance(3_600_000);
      const headers = { ...json, 'last-event-id': formatNoticeId(1) };
      const { status, text } = await server.call('GET', '/v1/events', {
        headers,
        as: selecting(server.quickstart, await requestToken(server.baseUrl, server.quickstart)),
      });
      return status === 410 && JSON.parse(text);
    });
    expect(refused).toMatchObject({ error: 'cursor_expired', oldest_id: formatNoticeId(5) });
  });

  test('is refused without the media types of the feed', async () => {
    const server = await shared();
    const refused = await server.refused('follow_tenant_events', {
      headers: { accept: 'text/html' },
    });
    expect(refused).toMatchObject({ status: 406, error: 'not_acceptable' });
  });
});

let made: Promise<TestServer> | undefined;
function shared(): Promise<TestServer> {
  made ??= startServer();
  return made;
}

test('a stream of the feed ends when its client loses access (D-33)', async () => {
  const server = await shared();
  const client = await addClient(server, { name: 'leaving' });
  const as = client.in(server.quickstart.tenant_id);
  const headers = { accept: 'text/event-stream' };
  const reader = new NoticeReader(await server.fetch('GET', '/v1/events', { as, headers }));
  const over = reader.all();
  await server.send('delete_client', {
    params: { organization_id: server.quickstart.organization_id, client_id: client.record.id },
  });
  expect((await over).length).toBe(reader.notices.length);
});

test('a server that stops refuses new streams of the feed with not_ready (D-30)', async () => {
  const { server, puppet } = await startPuppetServer();
  await begin(server, 'puppet');
  const leg = await puppet.leg();
  const stopped = server.stop(60_000);
  const refused = await server.refused('follow_tenant_events', {});
  expect(refused).toMatchObject({ status: 503, error: 'not_ready' });
  leg.end();
  await stopped;
});
