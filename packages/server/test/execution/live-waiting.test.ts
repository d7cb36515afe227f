import { expect, test } from 'vitest';
import { answer, begin, ended, pendingIn, readRun, runIn } from '../support/api-steps.ts';
import { MovingClock } from '../support/clocks.ts';
import { eventually } from '../support/eventually.ts';
import { Puppet } from '../support/puppet-harness.ts';
import { startServer } from '../support/server.ts';

test('waiting for a person does not count towards the time limit of a run', async () => {
  const clock = new MovingClock();
  const puppet = new Puppet();
  const limits = { run_seconds: 60, wait_hours: 2 };
  const agents = { puppet: puppet.agent({ limits }) };
  const server = await startServer({ clock, harnesses: [puppet], agents });
  const { session, run } = await begin(server, 'puppet');
  const leg = await puppet.leg();
  leg.isLive = true;
  leg.emit({ type: 'permission_request', ref: 'live', toolName: 't', toolInput: {} });
  const asked = await pendingIn(server, session.id);
  for (let minute = 0; minute < 5; minute += 1) {
    clock.advance(60_000);
    expect((await readRun(server, run)).status).toBe('waiting');
  }
  await answer(server, asked, { decision: 'allow' });
  await eventually(() => leg.answers.get('live'));
  await runIn(server, run, 'running');
  // Twice: the limit starts again after a wait, whatever time had been left.
  clock.advance(60_000);
  clock.advance(60_000);
  expect((await ended(server, run)).error_code).toBe('run_timeout');
});
