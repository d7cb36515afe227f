import { beforeAll, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { ended, openSession, startRun } from '../../support/api-steps.ts';
import { MovingClock } from '../../support/clocks.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestServer, bearer, startServer } from '../../support/server.ts';
import { TestThread } from './thread.ts';

const origin = 'https://app.example';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { CONVOKE_CORS_ORIGINS: origin } });
});

async function pageOf(agent: string) {
  const { id } = await openSession(server, agent);
  const { body } = await server.send('create_session_token', { params: { session_id: id } });
  return { id, headers: { ...bearer(body.token), origin } };
}

test('a page with a token of its session talks and answers there, and nowhere else', async () => {
  const { id, headers } = await pageOf('writer');
  const thread = new TestThread(server, `sessions/${id}`, { headers });
  await thread.say('note');
  expect(thread.outcome).toBe('interrupt');
  await thread.answer(() => ({ approved: true }));
  expect([thread.outcome, thread.text]).toEqual(['success', 'May I? Done.']);
  const other = await openSession(server, 'writer');
  const elsewhere = new TestThread(server, `sessions/${other.id}`, { headers });
  await expect(elsewhere.say('x')).rejects.toThrow(/HTTP 404/);
  const agents = new TestThread(server, 'agents/writer', { headers });
  await expect(agents.say('x')).rejects.toThrow(/HTTP 403/);
});

test('a browser on a listed origin may read it (D-201)', async () => {
  const { id, headers } = await pageOf('echo');
  const url = `${server.baseUrl}/v1/sessions/${id}/ag-ui`;
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
    204,
    origin,
  ]);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ threadId: 't', runId: 'r', messages: [] }),
  });
  expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
  await answer.text();
});

test('a long conversation is shown up to its bound, the newest of it, and continues (D-435)', async () => {
  const session = await openSession(server, 'echo');
  const long = 'é'.repeat(100_000);
  for (let run = 1; run <= 12; run += 1) {
    await ended(server, await startRun(server, session, `${run} ${long}`));
  }
  const thread = new TestThread(server, 'agents/echo', { threadId: session.id });
  await thread.connectAgent();
  const bytes = Buffer.byteLength(JSON.stringify(thread.messages));
  expect(bytes).toBeGreaterThan(2 * 1024 * 1024);
  expect(bytes).toBeLessThanOrEqual(3 * 1024 * 1024 + thread.messages.length);
  expect(thread.text.endsWith('(run 12)')).toBe(true);
  await thread.say('continue');
  expect(thread.text).toBe('continue (run 13)');
});

test('an interrupt that has expired takes no answer, and giving it up shows how the run ended', async () => {
  const clock = new MovingClock();
  const own = await startServer({
    clock,
    agents: { asker: { ...usualAgents.asker, limits: { wait_hours: 0.05 } } },
  });
  const thread = new TestThread(own, 'agents/asker');
  await thread.say('you');
  const known = thread.pendingInterrupts;
  clock.advance(190_000);
  await thread.answer(() => ({ answer: 'red' }));
  expect(thread.failed).toMatchObject({ code: 'interaction_not_pending' });
  expect(thread.pendingInterrupts).toEqual(known);
  await eventually(async () => {
    const { body } = await own.send('list_tenant_runs', {});
    return body.runs[0]?.status === 'failed';
  });
  await thread.answer(() => 'cancelled');
  expect([thread.failed, thread.pendingInterrupts]).toEqual([undefined, []]);
  expect(thread.finished?.metadata).toMatchObject({
    convoke: { status: 'failed', error_code: 'interaction_expired' },
  });
});
