import { sessionId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { usualAgents } from '../support/agents.ts';
import { at, begin, logOf, openSession, runIn, startRun } from '../support/api-steps.ts';
import { MovingClock } from '../support/clocks.ts';
import { withIdlePasses } from '../support/idle-passes.ts';
import { type TestServer, startServer } from '../support/server.ts';

const id = (session: { id: string }) => ({ session_id: session.id });

describe('time (D-14, D-17)', () => {
  test('a session that was idle for its idle time is terminated as expired', async () => {
    const clock = new MovingClock();
    // Its time limit is longer than the idle time, so it still executes when the others expire.
    const sleeper = { ...usualAgents.sleeper, limits: { run_seconds: 172_800 } };
    const server = await startServer({
      clock,
      agents: { ...usualAgents, sleeper },
      env: { CONVOKE_SESSION_IDLE_TTL_SECONDS: String(24 * 3600) },
    });
    const idle = await openSession(server, 'echo');
    const stopped = await openSession(server, 'echo');
    await server.send('stop_session', { params: id(stopped) });
    const { session: busy, run } = await begin(server, 'sleeper');
    await runIn(server, run, 'running');
    expect(Date.parse(idle.expires_at ?? '') - Date.parse(idle.updated_at)).toBe(24 * 3_600_000);
    // The owner's token is valid for a day; the client's would expire as the clock advances.
    clock.advance(24 * 3_600_000 + 60_000);
    const { store } = server.convoke.services;
    const scope = await scopeOf(server);
    const status = async (id: string) =>
      (await store.read.sessions.find(scope, sessionId(id)))?.status;
    await expect.poll(() => status(idle.id)).toBe('terminated');
    await expect.poll(() => status(stopped.id)).toBe('terminated');
    expect(await status(busy.id)).toBe('running');
    const read = await store.read.sessions.find(scope, sessionId(idle.id));
    expect(read?.statusReason).toBe('expired');
  });

  test('has ended at its expires_at for every request, however late the pass is', async () => {
    const clock = new MovingClock();
    const server = await startServer({
      clock,
      wrapStore: withIdlePasses,
      env: { CONVOKE_SESSION_IDLE_TTL_SECONDS: '400' },
    });
    const body = { agent_name: 'echo', idempotency_key: 'lives for some minutes' };
    const { body: session } = await server.send('create_session', { body });
    const params = id(session);
    const others = await openSession(server, 'echo');
    await server.send('stop_session', { params: id(others) });
    clock.advance(200_000);
    expect((await server.send('create_session', { body })).status).toBe(200);
    clock.advance(200_000);
    // Spec §4.2 rule 2.
    expect(await server.refused('create_session', { body })).toMatchObject({
      status: 412,
      error: 'session_terminal',
    });
    const terminal = { status: 409, error: 'session_terminal' };
    const input = { prompt: 'x' };
    expect(await server.refused('start_run', { params, body: { input } })).toMatchObject(terminal);
    expect(await server.refused('resume_session', { params })).toMatchObject(terminal);
    expect(await server.refused('stop_session', { params })).toMatchObject(terminal);
    const file = { name: 'late' };
    expect(await server.refused('prepare_file', { params, body: file })).toMatchObject(terminal);
    const { body: read } = await server.send('get_session', { params });
    expect(read).toMatchObject({ status: 'terminated', status_reason: 'expired' });
    expect(read.ended_at).toBe(session.expires_at);
    const listed = async (status: string) =>
      (await server.send('list_sessions', { query: { status } })).body.sessions.map(
        (one) => one.id,
      );
    expect(await listed('terminated')).toEqual([others.id, session.id]);
    expect([...(await listed('idle')), ...(await listed('stopped'))]).toEqual([]);
  });

  test('with an idle time of zero sessions do not expire and have no expires_at', async () => {
    const server = await startServer({ env: { CONVOKE_SESSION_IDLE_TTL_SECONDS: '0' } });
    expect((await openSession(server, 'echo')).expires_at).toBeUndefined();
  });

  test('conversation and files survive a restart of the server', async () => {
    const server = await startServer({
      agents: {
        diary: {
          script: [
            {
              tool: { name: 'write_file', input: { path: 'p{{run_number}}', text: '{{prompt}}' } },
            },
            { tool: { name: 'read_file', input: { path: 'p1' } } },
          ],
        },
      },
    });
    const { session, run } = await begin(server, 'diary', 'before');
    const before = await logOf(server, run);
    const restarted = await server.restart();
    expect(await logOf(restarted, run)).toEqual(before);
    const next = await startRun(restarted, session, 'after');
    const log = await logOf(restarted, next);
    const results = log.filter(({ type }) => type === 'scripted.tool_result');
    const read = results.find(({ data }) => data['name'] === 'read_file');
    expect(read?.data).toMatchObject({ output: 'before' });
    await restarted.send('get_run', { params: at(run) });
  });
});

async function scopeOf(server: TestServer) {
  const { store } = server.convoke.services;
  const organization = await store.read.organizations.first();
  if (organization === undefined) throw new Error('no organization');
  const [tenant] = await store.read.tenants.usable(organization.id, 1);
  if (tenant === undefined) throw new Error('no tenant');
  return { organizationId: organization.id, tenantId: tenant.id };
}
