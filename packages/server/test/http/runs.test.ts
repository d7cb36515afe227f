import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../support/agents.ts';
import {
  begin,
  cancel,
  ended,
  follow,
  logOf,
  openSession,
  readRun,
  readSession,
  runIn,
  startRun,
} from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import type { Puppet } from '../support/puppet-harness.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { type TestServer, deployments, startServer } from '../support/server.ts';

const queueMax = 2;
const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

describe.each(deployments)('runs on %s', (database) => {
  let server: TestServer;
  let puppet: Puppet;
  beforeAll(async () => {
    ({ server, puppet } = await startPuppetServer({
      database,
      puppetAgent: { model: 'strings' },
      env: { CONVOKE_SESSION_QUEUE_MAX: String(queueMax) },
      expectsFaults: true,
    }));
  });

  describe('start (D-22)', () => {
    test('answers 201 with the fields of D-20; a finished run has them all', async () => {
      const session = await openSession(server, 'puppet');
      const { status, body: started } = await server.send('start_run', {
        params: { session_id: session.id },
        body: { input: { prompt: 'hello' } },
      });
      expect(status).toBe(201);
      // Spec §4.2: the record as it is stored. The first leg starts with the same commit.
      const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(started).toEqual({
        id: expect.stringMatching(/^run_[0-9a-hjkmnp-tv-z]{26}$/),
        session_id: session.id,
        agent_name: 'puppet',
        agent_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        status: 'running',
        started_at: created_at,
        last_event_id: '000000000001',
        input: { prompt: 'hello' },
        labels: {},
        created_by: { kind: 'client', id: expect.stringMatching(/^cli_/), name: 'Quickstart' },
        pending_interactions: 0,
        attempt: 1,
        created_at,
      });
      expect(await readRun(server, started)).toEqual(started);
      const leg = await puppet.leg();
      leg.say('Hello ');
      leg.say('you.');
      leg.emit({ type: 'usage', inputTokens: 3, outputTokens: 5 });
      leg.end();
      const run = await ended(server, started);
      expect(run).toEqual({
        id: started.id,
        session_id: session.id,
        agent_name: 'puppet',
        agent_digest: started.agent_digest,
        status: 'completed',
        input: { prompt: 'hello' },
        labels: {},
        created_by: started.created_by,
        output_text: 'Hello you.',
        pending_interactions: 0,
        attempt: 1,
        last_event_id: '000000000004',
        created_at: started.created_at,
        started_at: expect.any(String),
        ended_at: expect.any(String),
        usage: { input_tokens: 3, output_tokens: 5 },
      });
    });

    test.each([
      [{}, 'invalid_body', 'input.prompt'],
      [{ prompt: '' }, 'invalid_body', 'input.prompt'],
      [{ prompt: 7 }, 'invalid_body', 'input.prompt'],
      [{ prompt: 'x', temperature: 1 }, 'unknown_field', 'input.temperature'],
      [{ prompt: 'x', files: [] }, 'unknown_field', 'input.files'],
    ])('refuses the input %j as %s', async (input, error, field) => {
      const session = await openSession(server, 'sleeper');
      const refused = await server.refused('start_run', {
        params: { session_id: session.id },
        body: { input },
      });
      expect(refused).toMatchObject({ status: 400, error });
      expect(refused.message).toContain(field);
      expect((await readSession(server, session.id)).status).toBe('idle');
    });

    test('an accepted prompt is the one that runs, whatever the agent folder says by then', async () => {
      await server.writeAgent('moody', puppet.agent({ session_files: true }));
      const { session } = await eventually(() => begin(server, 'moody', 'first'));
      const first = await puppet.leg();
      await server.send('start_run', {
        params: { session_id: session.id },
        body: { input: { prompt: 'with files', files: [] } },
      });
      await server.writeAgent('moody', puppet.agent({ session_files: false }));
      await eventually(async () => {
        const { body } = await server.send('list_agents');
        const moody = body.agents.find(({ name }) => name === 'moody');
        return moody?.session_files_supported === false;
      });
      first.end();
      const second = await puppet.leg();
      expect(second.context.prompt).toBe('with files');
      second.end();
      await server.removeAgent('moody');
    });

    test('refuses a file that is not a ready file of the session', async () => {
      const session = await openSession(server, 'echo');
      const { body: file } = await server.send('prepare_file', {
        params: { session_id: session.id },
        body: { name: 'a.txt' },
      });
      for (const id of [file.id, 'file_unknown']) {
        const refused = await server.refused('start_run', {
          params: { session_id: session.id },
          body: { input: { prompt: 'x', files: [id] } },
        });
        expect(refused).toMatchObject({ status: 409, error: 'file_not_ready' });
        expect(refused.message).toContain(id);
      }
    });

    test('with the same key and body returns the same run; another body is a conflict', async () => {
      const session = await openSession(server, 'echo');
      const params = { session_id: session.id };
      const start = (prompt: string) => ({
        params,
        body: { input: { prompt }, idempotency_key: 'start-once' },
      });
      const first = await server.send('start_run', start('x'));
      await ended(server, first.body);
      const again = await server.send('start_run', start('x'));
      expect(again.status).toBe(200);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(again.body).toMatchObject({ id: first.body.id, status: 'completed' });
      const refused = await server.refused('start_run', start('y'));
      expect(refused).toMatchObject({ status: 409, error: 'idempotency_conflict' });
      // D-57: a key belongs to its session.
      const other = await openSession(server, 'echo');
      const elsewhere = await server.send('start_run', {
        ...start('x'),
        params: { session_id: other.id },
      });
      expect(elsewhere.status).toBe(201);
      // A replay is answered even where a new run would be refused.
      await server.send('stop_session', { params, body: { mode: 'terminate' } });
      expect((await server.send('start_run', start('x'))).status).toBe(200);
    });

    test('in a session of a removed agent is 404 agent_not_found', async () => {
      await server.writeAgent('passing', usualAgents.echo);
      await expect
        .poll(async () => {
          const { body } = await server.send('list_agents');
          return body.agents.some(({ name }) => name === 'passing');
        })
        .toBe(true);
      const session = await openSession(server, 'passing');
      await server.removeAgent('passing');
      await expect
        .poll(async () => {
          const { body } = await server.send('list_agents');
          return body.agents.some(({ name }) => name === 'passing');
        })
        .toBe(false);
      const refused = await server.refused('start_run', {
        params: { session_id: session.id },
        body: { input: { prompt: 'x' } },
      });
      expect(refused).toMatchObject({ status: 404, error: 'agent_not_found' });
    });
  });

  describe('one at a time (D-23)', () => {
    test('the others are queued, and execute in the order they were started', async () => {
      const session = await openSession(server, 'puppet');
      const runs = [];
      for (const prompt of ['first', 'second', 'third']) {
        runs.push(await startRun(server, session, prompt));
      }
      const [first, second, third] = runs;
      if (!first || !second || !third) throw new Error('three were started');
      const leg = await puppet.leg();
      expect(leg.context.prompt).toBe('first');
      expect(await readRun(server, first)).not.toHaveProperty('queue_position');
      expect(await readRun(server, second)).toMatchObject({ status: 'queued', queue_position: 1 });
      expect(await readRun(server, third)).toMatchObject({ status: 'queued', queue_position: 2 });
      expect(
        (await server.send('list_runs', { params: { session_id: session.id } })).body.runs,
      ).toMatchObject([{ id: third.id }, { id: second.id }, { id: first.id }]);
      leg.end();
      for (const prompt of ['second', 'third']) {
        const next = await puppet.leg();
        expect(next.context.prompt).toBe(prompt);
        next.end();
      }
      const times = await Promise.all(runs.map((run) => ended(server, run)));
      expect(times.map(({ status }) => status)).toEqual(Array(3).fill('completed'));
      expect(times[1]?.started_at?.localeCompare(times[0]?.ended_at ?? '')).not.toBe(-1);
    });

    test('a run beyond the queue limit is refused as session_busy, and nothing changes', async () => {
      const { session, run } = await begin(server, 'sleeper');
      await runIn(server, run, 'running');
      for (let place = 1; place <= queueMax; place += 1) await startRun(server, session, 'x');
      const refused = await server.refused('start_run', {
        params: { session_id: session.id },
        body: { input: { prompt: 'x' } },
      });
      expect(refused).toMatchObject({ status: 409, error: 'session_busy' });
      const { body } = await server.send('list_runs', { params: { session_id: session.id } });
      expect(body.runs).toHaveLength(1 + queueMax);
      await server.send('stop_session', { params: { session_id: session.id } });
    });

    test('an agent with on_busy: reject has no queue', async () => {
      const { session, run } = await begin(server, 'busy');
      const start = {
        params: { session_id: session.id },
        body: { input: { prompt: 'x' } },
      };
      expect(await server.refused('start_run', start)).toMatchObject({
        status: 409,
        error: 'session_busy',
      });
      await cancel(server, run);
      await ended(server, run);
      expect((await server.send('start_run', start)).status).toBe(201);
    });
  });

  describe('how a run fails (D-21, D-25)', () => {
    test('its error event and its record agree', async () => {
      const { run } = await begin(server, 'failing', 'fly');
      const log = await logOf(server, run);
      expect(typesOf(log)).toEqual(['run_started', 'message_delta', 'error']);
      expect(log.at(-1)?.data).toEqual({ message: 'cannot fly', error_code: 'model_error' });
      expect(await readRun(server, run)).toMatchObject({
        status: 'failed',
        error_code: 'model_error',
        error_message: 'cannot fly',
        output_text: 'Trying. ',
      });
    });

    test('a session stays usable after its run failed', async () => {
      const { session, run } = await begin(server, 'failing');
      await ended(server, run);
      expect((await readSession(server, session.id)).status).toBe('idle');
      expect((await ended(server, await startRun(server, session, 'again'))).status).toBe('failed');
    });

    test.each(['agent_error', 'model_error', 'tool_error', 'sandbox_unavailable'] as const)(
      '%s, as the agent reports',
      async (code) => {
        const { run } = await begin(server, 'puppet');
        (await puppet.leg()).emit({ type: 'end', outcome: 'error', code, message: 'because' });
        expect(await ended(server, run)).toMatchObject({
          status: 'failed',
          error_code: code,
          error_message: 'because',
        });
      },
    );

    test('internal_error, when its framework breaks, without the reason', async () => {
      const { run } = await begin(server, 'puppet');
      (await puppet.leg()).break(new Error('a secret of the machine'));
      const failed = await ended(server, run);
      expect(failed).toMatchObject({ status: 'failed', error_code: 'internal_error' });
      expect(failed.error_message).not.toContain('secret');
      expect(server.errors.map(({ message }) => message)).toEqual(['harness failed']);
    });

    test('agent_error, when it waits without a question', async () => {
      const { run } = await begin(server, 'puppet');
      (await puppet.leg()).end('waiting');
      expect(await ended(server, run)).toMatchObject({
        status: 'failed',
        error_code: 'agent_error',
      });
    });
  });

  describe('list and read (D-28, D-53)', () => {
    test('filters by status, newest first unless asked otherwise', async () => {
      const session = await openSession(server, 'sleeper');
      const params = { session_id: session.id };
      const first = await startRun(server, session, 'a');
      await cancel(server, first);
      await ended(server, first);
      const second = await startRun(server, session, 'b');
      await runIn(server, second, 'running');
      const list = async (query: Record<string, string>) =>
        (await server.send('list_runs', { params, query })).body.runs.map(({ id }) => id);
      expect(await list({})).toEqual([second.id, first.id]);
      expect(await list({ order: 'asc' })).toEqual([first.id, second.id]);
      expect(await list({ status: 'cancelled' })).toEqual([first.id]);
      expect(await list({ status: 'completed' })).toEqual([]);
      const refused = await server.refused('list_runs', { params, query: { status: 'paused' } });
      expect(refused).toMatchObject({ status: 400, error: 'invalid_status' });
      await cancel(server, second);
    });

    test('a run of another session is not found, nor are its events, nor can it be cancelled', async () => {
      const { run } = await begin(server, 'echo');
      await ended(server, run);
      const other = await openSession(server, 'echo');
      for (const operation of ['get_run', 'follow_run_events', 'cancel_run'] as const) {
        const wrong = await server.refused(operation, {
          params: { session_id: other.id, run_id: run.id },
        });
        const never = await server.refused(operation, {
          params: { session_id: other.id, run_id: 'run_never' },
        });
        expect(wrong.status).toBe(404);
        expect(withoutId(wrong.text)).toBe(withoutId(never.text));
      }
    });
  });
});

describe('a server that stops under a run', () => {
  test('ends it as worker_lost, once, if it cannot continue (D-26)', async () => {
    const server = await startServer({ env: { CONVOKE_RECOVERY: 'fail' } });
    const { session, run } = await begin(server, 'sleeper');
    await (await follow(server, run)).until('message_delta');
    const queued = await startRun(server, session, 'queued');
    const restarted = await server.restart();
    expect(await readRun(restarted, run)).toMatchObject({
      status: 'failed',
      error_code: 'worker_lost',
      output_text: 'Zzz',
    });
    const log = await logOf(restarted, run);
    expect(typesOf(log)).toEqual(['run_started', 'message_delta', 'error']);
    // A queued run is not lost: it executes now.
    await runIn(restarted, queued, 'running');
    await cancel(restarted, queued);
  });
});

function withoutId(text: string): string {
  return text.replace(/"request_id":"[^"]*"/, '');
}
