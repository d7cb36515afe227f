import type { Socket } from 'node:net';
import { type RunEvent, formatEventId } from '@convoke/contract';
import { EventSource } from 'eventsource';
import { beforeAll, describe, expect, test } from 'vitest';
import { at, begin, ended, eventsPath, follow, readRun, runIn } from '../support/api-steps.ts';
import { MovingClock } from '../support/clocks.ts';
import { eventually } from '../support/eventually.ts';
import { pathOf } from '../support/checked-calls.ts';
import { addBystander, addClient, addTenant } from '../support/identities.ts';
import type { Puppet } from '../support/puppet-harness.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { openSocket } from '../support/raw-requests.ts';
import { type TestServer, requestToken, selecting } from '../support/server.ts';

const clock = new MovingClock();
const maxAgeSeconds = 300;
let server: TestServer;
let puppet: Puppet;
beforeAll(async () => {
  ({ server, puppet } = await startPuppetServer({
    clock,
    puppetAgent: { limits: { run_seconds: 86_400 } },
    env: { CONVOKE_STREAM_MAX_AGE_SECONDS: String(maxAgeSeconds) },
  }));
});

/** Advances the clock in steps of five seconds, so that periodic checks run. */
async function pass(seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 5) {
    clock.advance(5_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

// Not our own client: what a browser does, and what most libraries copy.
describe('a plain EventSource', () => {
  /** Connects with the headers of the first client, and notes the status of each connection. */
  const open = (run: { readonly id: string; readonly session_id: string }, query = '') => {
    const statuses: number[] = [];
    const source = new EventSource(`${server.baseUrl}${eventsPath(run)}${query}`, {
      fetch: async (url, init) => {
        const response = await fetch(url, {
          ...init,
          headers: { ...init.headers, ...server.client },
        });
        statuses.push(response.status);
        return response;
      },
    });
    return { source, statuses };
  };

  test('stops on its own after a run has ended, whether events have names or not', async () => {
    const { run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    const named = open(run);
    const unnamed = open(run, '?event_names=off');
    const reasons: string[] = [];
    const types: string[] = [];
    let failures = 0;
    // The guard of the guide: a lost connection has no data, the end of the run has.
    named.source.addEventListener('error', (event) => {
      if (event instanceof MessageEvent) reasons.push(JSON.parse(event.data).data.message);
    });
    unnamed.source.addEventListener('error', () => (failures += 1));
    unnamed.source.onmessage = ({ data }) => types.push((JSON.parse(data) as RunEvent).type);
    leg.say('one');
    await expect.poll(() => types).toContain('message_delta');
    leg.emit({ type: 'end', outcome: 'error', code: 'tool_error', message: 'no luck' });
    for (const { source } of [named, unnamed]) {
      await expect.poll(() => source.readyState).toBe(EventSource.CLOSED);
    }
    expect(named.statuses).toEqual([200, 204]);
    expect(unnamed.statuses).toEqual([200, 204]);
    expect(reasons).toEqual(['no luck']);
    expect(types).toEqual(['run_started', 'message_delta', 'error']);
    expect(failures).toBe(2);
  });
});

describe('a quiet stream (D-30)', () => {
  test('sends a comment at least every 15 seconds', async () => {
    const { run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    const reader = await follow(server, run);
    await reader.until('run_started');
    const pinged = eventually(async () => {
      await pass(15);
      return reader.asides.filter((aside) => aside === ': ping').length >= 2;
    });
    const over = reader.all();
    await pinged;
    leg.end();
    await over;
    expect(reader.asides[0]).toBe('retry: 2000');
    expect(new Set(reader.asides.slice(1))).toEqual(new Set([': ping']));
    expect(reader.types()).toEqual(['run_started', 'run_completed']);
  });
});

describe('an old stream (D-33)', () => {
  test('is closed between two frames, without a terminal event, and resumes by id', async () => {
    const { run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    const reader = await follow(server, run);
    leg.say('before');
    const { id } = await reader.until('message_delta');
    await pass(maxAgeSeconds + 5);
    expect((await reader.all()).map(({ event }) => event)).toEqual([
      'run_started',
      'message_delta',
    ]);
    expect(reader.torn).toBe('');
    expect((await readRun(server, run)).status).toBe('running');
    const next = await follow(server, run, id);
    leg.end();
    expect((await next.all()).map(({ event }) => event)).toEqual(['run_completed']);
  });
});

test('a stream is closed when its token ends, between two frames, and resumes with another token', async () => {
  const own = new MovingClock();
  const { server: serving, puppet: acting } = await startPuppetServer({
    clock: own,
    puppetAgent: { limits: { run_seconds: 86_400 } },
  });
  const { run } = await begin(serving, 'puppet');
  const leg = await acting.leg();
  const reader = await follow(serving, run);
  leg.say('before');
  const { id } = await reader.until('message_delta');
  const over = reader.all();
  own.advance(600_000);
  expect((await over).map(({ event }) => event)).toEqual(['run_started', 'message_delta']);
  expect(reader.torn).toBe('');
  expect((await serving.refused('list_agents', {})).status).toBe(401);
  const token = await requestToken(serving.baseUrl, serving.quickstart);
  const next = await serving.stream(eventsPath(run), {
    as: selecting(serving.quickstart, token),
    headers: { 'last-event-id': id },
  });
  leg.end();
  expect((await next.all()).map(({ event }) => event)).toEqual(['run_completed']);
});

describe('a stream whose reader lost its access (D-33, D-51)', () => {
  test.each(['disabled', 'deleted', 'narrowed'] as const)(
    'closes within 15 seconds when its client is %s',
    async (how) => {
      const client = await addClient(server, { name: how });
      const as = client.in(server.quickstart.tenant_id);
      const { run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      const reader = await server.stream(eventsPath(run), { as });
      await reader.until('run_started');
      await withdraw(how, client.record.id);
      await pass(15);
      expect((await reader.all()).map(({ event }) => event)).toEqual(['run_started']);
      expect(reader.torn).toBe('');
      // Other streams stay open.
      const other = await follow(server, run);
      leg.end();
      await other.until('run_completed');
    },
  );

  test('closes when its credential is revoked; one opened afterwards continues (spec §5.7)', async () => {
    const client = await addClient(server, { name: 'rotating' });
    const as = client.in(server.quickstart.tenant_id);
    const { run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    const before = await server.stream(eventsPath(run), { as });
    const { id } = await before.until('run_started');
    const { organization_id } = server.quickstart;
    const { record, credentialId: credential_id } = client;
    const params = { organization_id, client_id: record.id, credential_id };
    await server.send('revoke_credential', { params });
    expect((await before.all()).map(({ event }) => event)).toEqual(['run_started']);
    // The token is valid until it expires, for streams as for requests.
    await pass(1);
    const after = await server.stream(eventsPath(run), { as, headers: { 'last-event-id': id } });
    const other = await addClient(server, { name: 'disabled beside it' });
    const shorter = await server.stream(eventsPath(run), {
      as: other.in(server.quickstart.tenant_id),
    });
    await shorter.until('run_started');
    await withdraw('disabled', other.record.id);
    // Three looks at all open streams, of which one closes a stream.
    await pass(15);
    await shorter.all();
    leg.end();
    expect((await after.all()).map(({ event }) => event)).toEqual(['run_completed']);
  });

  async function withdraw(
    how: 'disabled' | 'deleted' | 'narrowed',
    client_id: string,
  ): Promise<void> {
    const params = { organization_id: server.quickstart.organization_id, client_id };
    if (how === 'deleted') {
      await server.send('delete_client', { params });
      return;
    }
    const change =
      how === 'disabled' ? { status: 'disabled' } : { profile: 'custom', scopes: ['agents:read'] };
    await server.send('update_client', { params, body: { version: 1, ...change } });
  }

  test('closes when its tenant is offboarded', async () => {
    const tenant_id = await addTenant(server);
    const as = (await addClient(server)).in(tenant_id);
    const { body: session } = await server.send('create_session', {
      as,
      body: { agent_name: 'puppet' },
    });
    const { body: run } = await server.send('start_run', {
      as,
      params: { session_id: session.id },
      body: { input: { prompt: 'x' } },
    });
    await puppet.leg();
    const reader = await server.stream(eventsPath(run), { as });
    await reader.until('run_started');
    const { organization_id } = server.quickstart;
    await server.send('offboard_tenant', {
      params: { organization_id, tenant_id },
      body: { confirm: tenant_id },
    });
    await pass(15);
    const types = (await reader.all()).map(({ event }) => event);
    // Offboarding also cancels the run; the stream may still have sent that event.
    expect(['run_started', 'run_started,run_cancelled']).toContain(types.join(','));
  });
});

describe('a reader that does not read (D-33)', () => {
  test('has a bounded buffer, is closed after 30 seconds, and gets everything on reconnect', async () => {
    const connections = new Set<Socket>();
    const note = (socket: Socket) => connections.add(socket);
    server.convoke.app.server.on('connection', note);
    const { run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    connections.clear();
    const stalled = await openSocket(server);
    stalled.pause();
    const lines = Object.entries(server.client).map(([name, value]) => `${name}: ${value}\r\n`);
    stalled.write(`GET ${eventsPath(run)} HTTP/1.1\r\nhost: x\r\n${lines.join('')}\r\n`);
    const [socket] = await eventually(() => connections.size > 0 && [...connections]);
    if (socket === undefined) throw new Error('no connection');
    server.convoke.app.server.off('connection', note);

    const piece = 'x'.repeat(16 * 1024);
    const pieces = 2_000;
    let most = 0;
    for (let count = 0; count < pieces; count += 1) {
      leg.say(piece);
      if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, socket.writableLength);
    }
    leg.end();
    const over = await ended(server, run);
    expect(over.last_event_id).toBe(formatEventId(pieces + 2));
    most = Math.max(most, socket.writableLength);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(300 * 1024);

    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    await pass(35);
    await closed;
    stalled.destroy();
    const frames = await (await follow(server, run)).all();
    expect(frames).toHaveLength(pieces + 2);
  });
});

describe('a server with the maximum of open streams (D-244)', () => {
  test('refuses a client above its share, and every client above the total', async () => {
    const streamCaps = { inAll: 3, perOrganization: 3, perClient: 2 };
    const { server: small, puppet: own } = await startPuppetServer({ streamCaps });
    const another = async () => (await addClient(small)).in(small.quickstart.tenant_id);
    const [second, third] = [await another(), await another()];
    const { run } = await begin(small, 'puppet');
    const leg = await own.leg();
    const params = { session_id: run.session_id, run_id: run.id };
    const headers = { accept: 'text/event-stream' };
    const refusedTo = async (as = small.client) => {
      const refused = await small.refused('follow_run_events', { as, params, headers });
      expect(refused).toMatchObject({ status: 429, error: 'rate_limited' });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    };

    const mine = [await follow(small, run), await follow(small, run)];
    await refusedTo();
    const theirs = await small.stream(eventsPath(run), { as: second });
    await refusedTo(third);
    // The log itself stays readable, and a reader that disconnects frees its place.
    const json = { accept: 'application/json' };
    expect((await small.send('follow_run_events', { params, headers: json })).status).toBe(200);
    theirs.close();
    const next = await eventually(() => small.stream(eventsPath(run), { as: third }));
    leg.end();
    for (const reader of [...mine, next]) await reader.until('run_completed');
  });

  test('keeps places that one organization cannot take, however many clients it has', async () => {
    const streamCaps = { inAll: 8, perOrganization: 2, perClient: 2 };
    const { server: small } = await startPuppetServer({ streamCaps });
    const bystander = await addBystander(small);
    const feed = pathOf('follow_tenant_events');
    const clients = [small.client];
    for (let count = 0; count < 3; count += 1) {
      clients.push((await addClient(small)).in(small.quickstart.tenant_id));
    }
    const open = [await small.stream(feed, { as: small.client })];
    open.push(await small.stream(feed, { as: clients[1] ?? small.client }));
    for (const as of clients) {
      const headers = { accept: 'text/event-stream' };
      const refused = await small.refused('follow_tenant_events', { as, headers });
      expect(refused).toMatchObject({ status: 429, error: 'rate_limited' });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // The places of the organization are still taken while the other one opens its streams.
    const others = [
      await small.stream(feed, { as: bystander }),
      await small.stream(feed, { as: bystander }),
    ];
    open.pop()?.close();
    open.push(await eventually(() => small.stream(feed, { as: clients[2] ?? small.client })));
    for (const reader of [...open, ...others]) reader.close();
  });
});

describe('a server that stops', () => {
  test('refuses new streams with 503 not_ready while its runs end (D-30)', async () => {
    const puppetAgent = { publish: ['a2a'] };
    const { server: own, puppet: hand } = await startPuppetServer({ puppetAgent });
    const { run } = await begin(own, 'puppet');
    const leg = await hand.leg();
    const stopped = own.stop(60_000);
    const agUi = { threadId: 't', runId: 'r', messages: [] };
    for (const refused of [
      await own.refused('follow_run_events', { params: at(run) }),
      await own.refused('invoke_agent', {
        params: { agent_name: 'puppet' },
        body: { input: { prompt: 'x' } },
      }),
      await own.refused('resume_ui_stream', {
        params: { session_id: run.session_id, chat_id: 'chat' },
      }),
      await own.refused('send_ui_message', {
        params: { session_id: run.session_id },
        body: { messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }] },
      }),
      await own.refused('run_ag_ui', { params: { agent_name: 'puppet' }, body: agUi }),
      await own.refused('run_session_ag_ui', {
        params: { session_id: run.session_id },
        body: agUi,
      }),
      await own.refused('call_published_agent', {
        params: { ...own.quickstart, agent_name: 'puppet' },
        body: { jsonrpc: '2.0', id: 1, method: 'tasks/resubscribe', params: { id: run.id } },
      }),
      await own.refused('call_published_agent', {
        params: { ...own.quickstart, agent_name: 'puppet' },
        body: {
          jsonrpc: '2.0',
          id: 1,
          method: 'message/send',
          params: { message: { messageId: 'm', role: 'user', parts: [{ text: 'x' }] } },
        },
      }),
    ]) {
      expect(refused).toMatchObject({ status: 503, error: 'not_ready' });
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    leg.end();
    await stopped;
  });

  test('closes its streams between two frames, and readers resume at the next server', async () => {
    const { server: first, puppet: own } = await startPuppetServer();
    const { session, run } = await begin(first, 'puppet');
    const leg = await own.leg();
    leg.emit({ type: 'user_question', ref: 'q', question: 'Wait?' });
    leg.end('waiting');
    const reader = await follow(first, run);
    const { id } = await reader.until('user_question');
    await runIn(first, run, 'waiting');
    const second = await first.restart();
    expect((await reader.all()).map(({ event }) => event)).toEqual([
      'run_started',
      'user_question',
    ]);
    expect(reader.torn).toBe('');
    const next = await follow(second, run, id);
    await second.send('stop_session', { params: { session_id: session.id } });
    expect((await next.all()).map(({ event }) => event)).toEqual(['run_cancelled']);
  });
});
