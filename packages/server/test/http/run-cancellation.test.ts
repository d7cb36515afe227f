import { beforeAll, describe, expect, test } from 'vitest';
import {
  at,
  begin,
  cancel,
  ended,
  follow,
  keyOf,
  logOf,
  openSession,
  pendingIn,
  readRun,
  readSession,
  runIn,
  startRun,
} from '../support/api-steps.ts';
import { MovingClock } from '../support/clocks.ts';
import type { Puppet } from '../support/puppet-harness.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { type TestServer, deployments } from '../support/server.ts';

const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

describe.each(deployments)('cancel on %s', (database) => {
  let server: TestServer;
  let puppet: Puppet;
  beforeAll(async () => {
    ({ server, puppet } = await startPuppetServer({ database }));
  });

  describe('cancel in every state (D-24)', () => {
    test('queued: 200, cancelled at once, with one event; the queue moves up', async () => {
      const { session, run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      const queued = await startRun(server, session, 'never');
      const next = await startRun(server, session, 'next');
      const { status, body } = await cancel(server, queued);
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: 'cancelled', last_event_id: '000000000001' });
      expect(body.cancel_requested_at).toBeDefined();
      expect(body.ended_at).toBeDefined();
      expect(body.started_at).toBeUndefined();
      expect(typesOf(await logOf(server, queued))).toEqual(['run_cancelled']);
      expect(await readRun(server, next)).toMatchObject({ queue_position: 1 });
      leg.end();
      expect((await puppet.leg()).context.prompt).toBe('next');
      await cancel(server, next);
      expect((await ended(server, run)).status).toBe('completed');
    });

    test('running: 202 cancelling, then cancelled; cancelling and cancelled: 200', async () => {
      const { run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.isObedient = false;
      leg.say('half a');
      const asked = await server.send('cancel_run', {
        params: at(run),
        body: { reason: 'changed my mind' },
      });
      expect([asked.status, asked.body.status]).toEqual([202, 'cancelling']);
      const again = await cancel(server, run);
      expect([again.status, again.body.status]).toEqual([200, 'cancelling']);
      expect(again.body.cancel_requested_at).toBe(asked.body.cancel_requested_at);
      leg.end('cancelled');
      const log = await logOf(server, run);
      expect(typesOf(log)).toEqual(['run_started', 'message_delta', 'run_cancelled']);
      expect(log.at(-1)?.data).toEqual({ run_id: run.id });
      const over = await cancel(server, run);
      expect([over.status, over.body.status]).toEqual([200, 'cancelled']);
      expect(over.body.output_text).toBe('half a');
    });

    test('a run that completes after a recorded cancel still ends cancelled', async () => {
      const { run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      leg.isObedient = false;
      await cancel(server, run);
      leg.end('completed');
      expect((await ended(server, run)).status).toBe('cancelled');
    });

    test('waiting: 202, then cancelled, and so is its question', async () => {
      const { session, run } = await begin(server, 'asker');
      const asked = await pendingIn(server, session.id);
      await runIn(server, run, 'waiting');
      const { status, body } = await cancel(server, run);
      expect([status, body.status, body.pending_interactions]).toEqual([202, 'cancelling', 0]);
      expect((await ended(server, run)).status).toBe('cancelled');
      const refused = await server.refused('answer_interaction', {
        params: keyOf(asked),
        body: { answer: 'red' },
      });
      expect(refused).toMatchObject({ status: 409, error: 'interaction_not_pending' });
      expect((await readSession(server, session.id)).status).toBe('idle');
      expect(typesOf(await logOf(server, run)).at(-1)).toBe('run_cancelled');
    });

    test('completed and failed: 409 run_terminal, and nothing changes', async () => {
      for (const agent of ['echo', 'failing']) {
        const { run } = await begin(server, agent);
        const before = await ended(server, run);
        const refused = await server.refused('cancel_run', { params: at(run) });
        expect(refused).toMatchObject({ status: 409, error: 'run_terminal' });
        expect(await readRun(server, run)).toEqual(before);
      }
    });

    test('a run that is cancelled while it starts never completes', async () => {
      const sessions = await Promise.all(
        Array.from({ length: 10 }, () => openSession(server, 'sleeper')),
      );
      const runs = await Promise.all(
        sessions.map(async (session) => {
          const run = await startRun(server, session, 'x');
          await cancel(server, run);
          return run;
        }),
      );
      for (const run of runs) {
        expect((await ended(server, run)).status).toBe('cancelled');
        const types = typesOf(await logOf(server, run));
        expect(types.filter((type) => type === 'run_cancelled')).toHaveLength(1);
        expect(types.at(-1)).toBe('run_cancelled');
      }
    });
  });
});

describe('time limits (D-24, D-25)', () => {
  const clock = new MovingClock();
  let server: TestServer;
  let puppet: Puppet;
  beforeAll(async () => {
    ({ server, puppet } = await startPuppetServer({
      clock,
      // The clock is moved further than a token usually lasts.
      clientTokenSeconds: 36_000,
      puppetAgent: { limits: { run_seconds: 60 } },
      env: { CONVOKE_CANCEL_GRACE_SECONDS: '600' },
    }));
  });

  test('an agent that does not end within the grace period is killed, and its run ends cancelled', async () => {
    const { run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    leg.isObedient = false;
    await cancel(server, run);
    await leg.cancelled.promise;
    expect(leg.context.signal.aborted).toBe(true);
    clock.advance(300_000);
    expect((await readRun(server, run)).status).toBe('cancelling');
    clock.advance(300_000);
    expect((await ended(server, run)).status).toBe('cancelled');
    await leg.killed.promise;
    leg.say('what comes after the end is not part of the run');
    expect(typesOf(await logOf(server, run))).toEqual(['run_started', 'run_cancelled']);
  });

  test('an agent that exceeds its time limit is killed, and its run fails with run_timeout', async () => {
    const { run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    leg.say('so much to do');
    await (await follow(server, run)).until('message_delta');
    clock.advance(60_000);
    expect(await ended(server, run)).toMatchObject({
      status: 'failed',
      error_code: 'run_timeout',
      output_text: 'so much to do',
    });
    await leg.killed.promise;
  });
});
