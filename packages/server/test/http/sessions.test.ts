import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../support/agents.ts';
import {
  answer,
  begin,
  ended,
  logOf,
  openSession,
  pendingIn,
  readRun,
  readSession,
  runIn,
  sessionIn,
  startRun,
} from '../support/api-steps.ts';
import type { Puppet } from '../support/puppet-harness.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { type TestServer, deployments, startServer } from '../support/server.ts';

const id = (session: { id: string }) => ({ session_id: session.id });

describe.each(deployments)('sessions on %s', (database) => {
  let server: TestServer;
  let puppet: Puppet;
  const diary = {
    description: 'Writes a page in every run and reads the first one',
    script: [
      { tool: { name: 'write_file', input: { path: 'page-{{run_number}}', text: '{{prompt}}' } } },
      { tool: { name: 'read_file', input: { path: 'page-1' } } },
    ],
  };
  beforeAll(async () => {
    const elsewhere = { ...usualAgents.echo, tenants: { default: 'disabled' } };
    const agents = { ...usualAgents, diary, elsewhere };
    ({ server, puppet } = await startPuppetServer({ database, agents }));
  });

  describe('create', () => {
    test('answers 201 with an idle session and the fields of D-10', async () => {
      const { status, body, headers } = await server.send('create_session', {
        body: { agent_name: 'echo' },
      });
      expect(status).toBe(201);
      expect(headers.has('idempotency-replayed')).toBe(false);
      expect(body).toEqual({
        id: expect.stringMatching(/^sess_[0-9a-hjkmnp-tv-z]{26}$/),
        agent_name: 'echo',
        status: 'idle',
        labels: {},
        created_by: { kind: 'client', id: expect.stringMatching(/^cli_/), name: 'Quickstart' },
        session_files_supported: true,
        pending_interactions: 0,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: body.created_at,
        expires_at: expect.stringMatching(/\.\d{3}Z$/),
      });
    });

    test('shows whether its agent accepts files (D-43)', async () => {
      expect((await openSession(server, 'asker')).session_files_supported).toBe(false);
    });

    test('for an unknown agent or one not enabled for the tenant is the same 404 (D-12)', async () => {
      for (const agent_name of ['nobody', 'elsewhere', 'Not A Name', '__proto__']) {
        const refused = await server.refused('create_session', { body: { agent_name } });
        expect(refused).toMatchObject({ status: 404, error: 'agent_not_found' });
      }
    });

    test('with the same key and body answers 200, the current record and a replay header (D-12)', async () => {
      const body = { agent_name: 'sleeper', idempotency_key: 'open-once' };
      const first = await server.send('create_session', { body });
      const run = await startRun(server, first.body, 'x');
      await runIn(server, run, 'running');
      const again = await server.send('create_session', { body });
      expect(again.status).toBe(200);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(again.body).toMatchObject({
        id: first.body.id,
        status: 'running',
        current_run_id: run.id,
      });
    });

    test('with the same key and another body is a conflict, and changes nothing (D-12)', async () => {
      const idempotency_key = 'open-two';
      const first = await server.send('create_session', {
        body: { agent_name: 'echo', idempotency_key },
      });
      const refused = await server.refused('create_session', {
        body: { agent_name: 'asker', idempotency_key },
      });
      expect(refused).toMatchObject({ status: 409, error: 'idempotency_conflict' });
      // Spec §4.2 rule 3: a caller that lost the first response reads the resource before it decides.
      expect(refused.body).toMatchObject({ session_id: first.body.id });
      expect(await readSession(server, first.body.id)).toEqual(first.body);
    });

    test('with the key of a terminal session is 412 session_terminal (D-12, spec §4.2 rule 2)', async () => {
      const body = { agent_name: 'echo', idempotency_key: 'open-and-end' };
      const { body: session } = await server.send('create_session', { body });
      await server.send('stop_session', { params: id(session), body: { mode: 'terminate' } });
      const refused = await server.refused('create_session', { body });
      expect(refused).toMatchObject({ status: 412, error: 'session_terminal' });
      expect(refused.body).toMatchObject({ session_id: session.id });
    });
  });

  describe('list', () => {
    test('filters by status and by agent (D-16)', async () => {
      const stopped = await openSession(server, 'failing');
      await server.send('stop_session', { params: id(stopped) });
      const idle = await openSession(server, 'failing');
      const list = async (query: Record<string, string>) =>
        (await server.send('list_sessions', { query })).body.sessions.map(({ id }) => id);
      expect(await list({ agent_name: 'failing' })).toEqual([idle.id, stopped.id]);
      expect(await list({ agent_name: 'failing', order: 'asc' })).toEqual([stopped.id, idle.id]);
      expect(await list({ agent_name: 'failing', status: 'stopped' })).toEqual([stopped.id]);
      expect(await list({ agent_name: 'nobody' })).toEqual([]);
      const refused = await server.refused('list_sessions', { query: { status: 'asleep' } });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_status' });
    });
  });

  describe('the status of a session follows its run (D-11)', () => {
    test('idle, running, waiting, running, idle', async () => {
      const session = await openSession(server, 'puppet');
      const run = await startRun(server, session, 'x');
      const leg = await puppet.leg();
      expect(await readSession(server, session.id)).toMatchObject({
        status: 'running',
        current_run_id: run.id,
      });
      leg.emit({ type: 'user_question', ref: 'q', question: 'Why?' });
      leg.end('waiting');
      const asked = await pendingIn(server, session.id);
      const waiting = await sessionIn(server, session.id, 'waiting');
      expect(waiting).toMatchObject({ pending_interactions: 1, current_run_id: run.id });
      await answer(server, asked, { answer: 'because' });
      const resumed = await puppet.leg();
      const running = await readSession(server, session.id);
      expect(running).toMatchObject({ status: 'running', pending_interactions: 0 });
      resumed.end();
      await ended(server, run);
      const idle = await readSession(server, session.id);
      expect(idle.status).toBe('idle');
      expect(idle.current_run_id).toBeUndefined();
    });

    test('after the terminal event, the session is free', async () => {
      const { session, run } = await begin(server, 'echo');
      await logOf(server, run);
      expect((await readSession(server, session.id)).status).toBe('idle');
    });
  });

  describe('stop (D-13)', () => {
    test('an idle session is stopped at once, and a second stop changes nothing', async () => {
      const session = await openSession(server, 'echo');
      const stopped = await server.send('stop_session', {
        params: id(session),
        body: { reason: 'lunch' },
      });
      expect(stopped.status).toBe(200);
      expect(stopped.body).toMatchObject({ status: 'stopped', status_reason: 'lunch' });
      expect(stopped.body.stopped_at).toBeDefined();
      const again = await server.send('stop_session', { params: id(session) });
      expect([again.status, again.body]).toEqual([200, stopped.body]);
    });

    test('a running session answers 202 stopping, and its run ends cancelled', async () => {
      const { session, run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.isObedient = false;
      const stopping = await server.send('stop_session', { params: id(session) });
      expect([stopping.status, stopping.body.status]).toEqual([202, 'stopping']);
      expect((await readRun(server, run)).status).toBe('cancelling');
      const again = await server.send('stop_session', { params: id(session) });
      expect([again.status, again.body.status]).toEqual([202, 'stopping']);
      await leg.cancelled.promise;
      leg.end('cancelled');
      const types = (await logOf(server, run)).map((event) => event.type);
      expect(types).toEqual(['run_started', 'run_cancelled']);
      const stopped = await readSession(server, session.id);
      expect(stopped.status).toBe('stopped');
      expect(stopped.stopped_at).toBeDefined();
    });

    test('cancels the queue, each run with its own run_cancelled event', async () => {
      const session = await openSession(server, 'sleeper');
      const runs = [];
      for (const prompt of ['a', 'b', 'c']) runs.push(await startRun(server, session, prompt));
      await server.send('stop_session', { params: id(session), body: { mode: 'terminate' } });
      await sessionIn(server, session.id, 'terminated');
      for (const run of runs) {
        expect((await readRun(server, run)).status).toBe('cancelled');
        expect((await logOf(server, run)).at(-1)?.type).toBe('run_cancelled');
      }
      const { body } = await server.send('list_runs', { params: id(session) });
      expect(body.runs.map(({ status }) => status)).toEqual(Array(3).fill('cancelled'));
    });

    test('a waiting session cancels its questions', async () => {
      const { session, run } = await begin(server, 'asker');
      const asked = await pendingIn(server, session.id);
      await server.send('stop_session', { params: id(session) });
      const stopped = await sessionIn(server, session.id, 'stopped');
      expect(stopped.pending_interactions).toBe(0);
      expect((await readRun(server, run)).status).toBe('cancelled');
      const params = { ...id(session), interaction_key: asked.interaction_key };
      const refused = await server.refused('answer_interaction', { params, body: { answer: 'x' } });
      expect(refused).toMatchObject({ status: 409, error: 'interaction_not_pending' });
    });

    test('terminate ends a stopped session for good; then every other call is refused', async () => {
      const session = await openSession(server, 'echo');
      await server.send('stop_session', { params: id(session) });
      const over = await server.send('stop_session', {
        params: id(session),
        body: { mode: 'terminate', reason: 'done' },
      });
      expect([over.status, over.body.status]).toEqual([200, 'terminated']);
      expect(over.body).toMatchObject({ status_reason: 'done' });
      expect(over.body.ended_at).toBeDefined();
      for (const operation of ['stop_session', 'resume_session'] as const) {
        const refused = await server.refused(operation, { params: id(session) });
        expect(refused).toMatchObject({ status: 409, error: 'session_terminal' });
      }
      // A caller that lost the first response repeats it, and nothing changes.
      const again = await server.send('stop_session', {
        params: id(session),
        body: { mode: 'terminate', reason: 'once more' },
      });
      expect([again.status, again.body]).toEqual([200, over.body]);
      expect(await readSession(server, session.id)).toEqual(over.body);
    });

    test('terminate during a suspend wins over later calls', async () => {
      const { session } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.isObedient = false;
      for (const mode of ['suspend', 'terminate', 'suspend']) {
        const { status } = await server.send('stop_session', {
          params: id(session),
          body: { mode },
        });
        expect(status).toBe(202);
      }
      const refused = await server.refused('resume_session', { params: id(session) });
      expect(refused).toMatchObject({ status: 409, error: 'session_terminal' });
      leg.end('cancelled');
      await sessionIn(server, session.id, 'terminated');
    });

    test('an unknown mode is refused by name', async () => {
      const session = await openSession(server, 'echo');
      const refused = await server.refused('stop_session', {
        params: id(session),
        body: { mode: 'pause' },
      });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_body' });
      expect(refused.message).toBe('mode: must be one of "suspend", "terminate".');
    });
  });

  describe('resume (D-14)', () => {
    test('makes a stopped session usable, and does not change any other', async () => {
      const session = await openSession(server, 'echo');
      const same = await server.send('resume_session', { params: id(session) });
      expect(same.body).toEqual(session);
      await server.send('stop_session', { params: id(session), body: { reason: 'lunch' } });
      const { body } = await server.send('resume_session', { params: id(session), body: {} });
      expect(body.status).toBe('idle');
      expect(body.status_reason).toBeUndefined();
      expect(body.stopped_at).toBeUndefined();
      expect((await ended(server, await startRun(server, session, 'x'))).status).toBe('completed');
    });

    test('undoes an unfinished suspend; the run is still cancelled', async () => {
      const { session, run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.isObedient = false;
      await server.send('stop_session', { params: id(session) });
      const { body } = await server.send('resume_session', { params: id(session) });
      expect(body.status).toBe('running');
      const next = await startRun(server, session, 'next');
      leg.end('cancelled');
      expect((await ended(server, run)).status).toBe('cancelled');
      (await puppet.leg()).end();
      expect((await ended(server, next)).status).toBe('completed');
    });

    test('keeps the files of the session folder and the run count', async () => {
      const session = await openSession(server, 'diary');
      await ended(server, await startRun(server, session, 'dear diary'));
      await server.send('stop_session', { params: id(session) });
      await server.send('resume_session', { params: id(session) });
      const run = await startRun(server, session, 'second page');
      const log = await logOf(server, run);
      const results = log.filter((event) => event.type === 'scripted.tool_result');
      expect(results.map(({ data }) => data)).toEqual([
        { tool_call_id: 'step-0', name: 'write_file', path: 'page-2', size_bytes: 11 },
        { tool_call_id: 'step-1', name: 'read_file', output: 'dear diary' },
      ]);
    });
  });

  describe('a run in a session that is closed (D-15)', () => {
    test('stopped and stopping: 409 session_stopped; terminal: 409 session_terminal', async () => {
      const { session } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.isObedient = false;
      const start = () =>
        server.refused('start_run', { params: id(session), body: { input: { prompt: 'x' } } });
      await server.send('stop_session', { params: id(session) });
      expect(await start()).toMatchObject({ status: 409, error: 'session_stopped' });
      leg.end('cancelled');
      await sessionIn(server, session.id, 'stopped');
      expect(await start()).toMatchObject({ status: 409, error: 'session_stopped' });
      await server.send('stop_session', { params: id(session), body: { mode: 'terminate' } });
      expect(await start()).toMatchObject({ status: 409, error: 'session_terminal' });
      const { body } = await server.send('list_runs', { params: id(session) });
      expect(body.runs).toHaveLength(1);
    });
  });
});

describe('a session whose folder is missing on this machine (D-11, D-246)', () => {
  const loseFolder = ({ config, quickstart }: TestServer, session: { readonly id: string }) =>
    rm(join(config.dataDir, 'workspaces', quickstart.tenant_id, session.id), { recursive: true });

  test('on SQLite fails for good, with all queued runs', async () => {
    const server = await startServer();
    const session = await openSession(server, 'asker');
    const run = await startRun(server, session, 'x');
    const asked = await pendingIn(server, session.id);
    const queued = [
      await startRun(server, session, 'next'),
      await startRun(server, session, 'last'),
    ];
    await loseFolder(server, session);
    await answer(server, asked, { answer: 'red' });
    const lost = await ended(server, run);
    expect(lost).toMatchObject({ status: 'failed', error_code: 'sandbox_unavailable' });
    const failed = await readSession(server, session.id);
    expect(failed).toMatchObject({ status: 'failed', status_reason: 'workspace_lost' });
    for (const one of queued) {
      expect((await readRun(server, one)).status).toBe('cancelled');
      expect((await logOf(server, one)).map(({ type }) => type)).toEqual(['run_cancelled']);
    }
    expect(await readSession(server, session.id)).toEqual(failed);
    const refused = await server.refused('resume_session', { params: id(session) });
    expect(refused).toMatchObject({ status: 409, error: 'session_terminal' });
  });

  test('on PostgreSQL continues with a restored folder', async () => {
    const server = await startServer({ database: 'postgres' });
    const session = await openSession(server, 'asker');
    const run = await startRun(server, session, 'x');
    const asked = await pendingIn(server, session.id);
    await loseFolder(server, session);
    await answer(server, asked, { answer: 'red' });
    expect(await ended(server, run)).toMatchObject({ status: 'completed' });
    expect(await readSession(server, session.id)).toMatchObject({ status: 'idle' });
  });
});
