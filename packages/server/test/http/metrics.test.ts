import { beforeAll, describe, expect, test } from 'vitest';
import { hasPromtool, promtoolProblems } from '../../../../test/promtool.ts';
import { mayReadMetrics } from '../../src/http/metrics.ts';
import { metricTable } from '../../src/telemetry/metric-table.ts';
import { anonymous } from '../support/checked-calls.ts';
import type { DatabaseKind } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type MetricSample, readSamples, sampleOf } from '../support/metric-samples.ts';
import { openSocket, readAnswer, sendRaw } from '../support/raw-requests.ts';
import { type TestServer, startServer } from '../support/server.ts';

const token = 'what-the-operator-knows';
const forwarded = { 'x-forwarded-for': '203.0.113.7' };

describe.each<DatabaseKind>(['sqlite', 'postgres'])('metrics of a server on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, env: { CONVOKE_METRICS_TOKEN: token } });
  });

  async function samples(): Promise<MetricSample[]> {
    const response = await server.fetch('GET', '/metrics');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    return readSamples(await response.text());
  }

  test('count a run, its events, its readers and its requests', async () => {
    const { body: session } = await server.send('create_session', {
      body: { agent_name: 'echo' },
    });
    const params = { session_id: session.id };
    const { body: run } = await server.send('start_run', {
      params,
      body: { input: { prompt: 'hello' } },
    });
    const reader = await server.stream(`/v1/sessions/${session.id}/runs/${run.id}/events`);
    const events = await reader.all();
    await server.refused('get_session', { params: { session_id: 'sess_none' } });
    await server.refused('whoami', { as: anonymous });
    await server.refused('issue_token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=client_credentials&client_id=x&client_secret=y',
    });
    // A stream is counted once it has ended on the server's side too.
    const seen = await eventually(async () => {
      const now = await samples();
      return sampleOf(now, 'convoke_http_requests_total', { operation: 'follow_run_events' }) === 1
        ? now
        : undefined;
    });
    const value = (name: string, labels?: Record<string, string>) => sampleOf(seen, name, labels);
    expect(value('convoke_runs_ended_total', { status: 'completed', error_code: '' })).toBe(1);
    expect(value('convoke_events_appended_total')).toBe(events.length);
    expect(value('convoke_events_delivered_total')).toBe(events.length);
    expect(value('convoke_append_seconds_count')).toBeGreaterThan(0);
    expect(value('convoke_gate_decisions_total', { status: '200', code: 'allowed' })).toBe(4);
    expect(value('convoke_gate_decisions_total', { code: 'unauthorized' })).toBe(1);
    expect(value('convoke_http_refusals_total', { status: '404', code: 'not_found' })).toBe(1);
    expect(value('convoke_http_requests_total', { operation: 'start_run', status: '201' })).toBe(1);
    expect(value('convoke_http_request_seconds_count', { operation: 'start_run' })).toBe(1);
    expect(value('convoke_token_requests_total', { outcome: 'issued' })).toBe(1);
    expect(value('convoke_token_requests_total', { outcome: 'invalid_client' })).toBe(1);
    expect(value('convoke_streams_open')).toBe(0);
    expect(value('convoke_runs', { state: 'ready' })).toBe(0);
    expect(value('convoke_queue_age_seconds')).toBe(0);
    expect(value('convoke_outbox_age_seconds')).toBeGreaterThanOrEqual(0);
    expect(value('convoke_build_info')).toBe(1);
    const pool = seen.filter(({ name }) => name === 'convoke_database_connections');
    expect(pool.map(({ labels }) => labels['state'])).toEqual(
      database === 'postgres' ? ['in_use', 'idle', 'waiting'] : [],
    );
  });

  test.runIf(hasPromtool)('have nothing that promtool objects to', async () => {
    const page = await (await server.fetch('GET', '/metrics')).text();
    expect(promtoolProblems(['check', 'metrics'], page)).toEqual([]);
    const wrong = page.replaceAll('convoke_events_appended_total', 'convoke_events_appended');
    expect(promtoolProblems(['check', 'metrics'], wrong).join()).toContain('_total');
  });

  test('are those of the table, without ids in labels', async () => {
    const known = new Map(
      Object.values(metricTable).map((described) => [described.name as string, described]),
    );
    for (const { name, labels } of await samples()) {
      const described = known.get(name) ?? known.get(name.replace(/_(bucket|sum|count)$/, ''));
      const { le: _, ...own } = labels;
      expect([name, Object.keys(own)]).toEqual([name, described?.labels]);
      for (const label of Object.values(own)) expect(label).not.toMatch(/_01[0-9a-z]{8}/);
    }
  });

  test('are not served to a page that reached this machine under another name', async () => {
    const { host, port } = server.config;
    for (const [name, status] of [
      [`${host}:${port}`, 200],
      ['evil.example', 404],
    ] as const) {
      const socket = await openSocket(server);
      socket.write(`GET /metrics HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`);
      expect((await readAnswer(socket)).status).toBe(status);
    }
  });

  test('are served with the token from anywhere, and otherwise only locally', async () => {
    const path = '/metrics';
    const unknown = await server.call('GET', '/metricz', { headers: forwarded });
    const attempts = [
      {},
      { authorization: 'Bearer wrong-wrong-wrong-wrong' },
      { authorization: `Basic ${token}` },
      { authorization: server.client['authorization'] ?? '' },
    ];
    for (const headers of attempts) {
      const answer = await server.call('GET', path, { headers: { ...forwarded, ...headers } });
      expect(withoutId(answer.text)).toEqual(withoutId(unknown.text));
      expect(namesOf(answer.headers)).toEqual(namesOf(unknown.headers));
      expect(answer.status).toBe(404);
    }
    for (const method of ['POST', 'OPTIONS']) {
      expect((await sendRaw(server, { method, path })).status).toBe(404);
    }
    const headers = { ...forwarded, authorization: `Bearer ${token}` };
    expect((await server.fetch('GET', path, { headers })).status).toBe(200);
  });
});

describe('who may read the metrics', () => {
  const access = { token: undefined, baseUrl: 'https://convoke.example:8443' };
  const ask = (remoteAddress: string, headers = {}) =>
    mayReadMetrics(
      { socket: { remoteAddress }, headers: { host: '127.0.0.1:8787', ...headers } },
      access,
    );

  test.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])(
    'a local process at %s',
    (at) => {
      expect(ask(at)).toBe(true);
    },
  );

  test.each(['10.0.0.1', '192.168.1.127', '::ffff:10.0.0.1', 'fe80::1', ''])('not %s', (at) => {
    expect(ask(at)).toBe(false);
  });

  test.each(['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'])(
    'no request through a proxy that sends %s',
    (name) => {
      expect(ask('127.0.0.1', { [name]: 'x' })).toBe(false);
    },
  );

  test.each(['localhost', 'LocalHost:8787', '[::1]:8787', '127.0.0.2', 'convoke.example:8443'])(
    'a local process that asks for %s',
    (host) => {
      expect(ask('127.0.0.1', { host })).toBe(true);
    },
  );

  test.each([
    'evil.example',
    'evil.example:8787',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'convoke.example',
    'convoke.example:8443@evil.example',
    'evil.example#localhost',
    '10.0.0.1',
    'a b',
    '',
    undefined,
  ])('no page that a browser here opened under the name %s', (host) => {
    expect(ask('127.0.0.1', { host })).toBe(false);
  });

  test('no request with an empty token when none is set', () => {
    expect(ask('10.0.0.1', { authorization: 'Bearer ' })).toBe(false);
    expect(ask('10.0.0.1', { authorization: 'Bearer undefined' })).toBe(false);
  });
});

function withoutId(text: string): unknown {
  return { ...(JSON.parse(text) as object), request_id: '' };
}

function namesOf(headers: Headers): string[] {
  return [...headers.keys()].filter((name) => name !== 'x-request-id');
}
