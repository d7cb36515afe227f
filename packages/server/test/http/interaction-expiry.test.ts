import { describe, expect, test } from 'vitest';
import { usualAgents } from '../support/agents.ts';
import {
  begin,
  cancel,
  ended,
  keyOf,
  logOf,
  pendingIn,
  readRun,
  runIn,
  startRun,
} from '../support/api-steps.ts';
import { MovingClock } from '../support/clocks.ts';
import { withIdlePasses } from '../support/idle-passes.ts';
import { eventually } from '../support/eventually.ts';
import { Puppet } from '../support/puppet-harness.ts';
import { startServer } from '../support/server.ts';

describe('an unanswered interaction (D-25, D-36)', () => {
  test('takes no answer after its expires_at, however late the pass is', async () => {
    const clock = new MovingClock();
    const server = await startServer({
      clock,
      wrapStore: withIdlePasses,
      agents: { asker: { ...usualAgents.asker, limits: { wait_hours: 0.05 } } },
    });
    const { session, run } = await begin(server, 'asker');
    const asked = await pendingIn(server, session.id);
    await runIn(server, run, 'waiting');
    clock.advance(181_000);
    const refused = await server.refused('answer_interaction', {
      params: keyOf(asked),
      body: { answer: 'red' },
    });
    expect(refused).toMatchObject({ status: 409, error: 'interaction_not_pending' });
    const listed = async (status: string) => {
      const params = { session_id: session.id };
      const { body } = await server.send('list_interactions', { params, query: { status } });
      return body.interactions.map((one) => `${one.interaction_key} ${one.status}`);
    };
    const expired = `${asked.interaction_key} expired`;
    expect([await listed('pending'), await listed('expired')]).toEqual([[], [expired]]);
    expect(await listed('all')).toEqual([expired]);
  });

  test('expires after the time its agent sets; its run fails and an answer is refused', async () => {
    const clock = new MovingClock();
    const server = await startServer({
      clock,
      agents: { asker: { ...usualAgents.asker, limits: { wait_hours: 0.05 } } },
    });
    const { session, run } = await begin(server, 'asker');
    const asked = await pendingIn(server, session.id);
    await runIn(server, run, 'waiting');
    expect(Date.parse(asked.expires_at ?? '') - Date.parse(asked.created_at)).toBe(180_000);
    clock.advance(90_000);
    expect((await readRun(server, run)).status).toBe('waiting');
    clock.advance(90_000);
    expect(await ended(server, run)).toMatchObject({
      status: 'failed',
      error_code: 'interaction_expired',
    });
    const refused = await server.refused('answer_interaction', {
      params: keyOf(asked),
      body: { answer: 'red' },
    });
    expect(refused).toMatchObject({ status: 409, error: 'interaction_not_pending' });
    const { body } = await server.send('list_interactions', {
      params: { session_id: session.id },
      query: { status: 'expired' },
    });
    expect(body.interactions).toMatchObject([{ interaction_key: asked.interaction_key }]);
    expect((await logOf(server, run)).at(-1)).toMatchObject({
      type: 'error',
      data: { error_code: 'interaction_expired' },
    });
    const next = await startRun(server, session, 'again');
    await cancel(server, next);
  });

  const askToPay = {
    name: 'pay',
    tools: ['pay'],
    effect: 'ask',
    wait_hours: 0.05,
    on_expiry: 'deny',
  };

  test('denies the call where its rule says so, and a live process hears of it (D-522)', async () => {
    const clock = new MovingClock();
    const puppet = new Puppet();
    const agents = { puppet: puppet.agent({ rules: [askToPay] }) };
    const server = await startServer({ clock, harnesses: [puppet], agents });
    const { session, run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    leg.isLive = true;
    leg.emit({ type: 'permission_request', ref: 'live', toolName: 'pay', toolInput: {} });
    const asked = await pendingIn(server, session.id);
    expect(asked).toMatchObject({ on_expiry: 'deny', rules: [{ name: 'pay' }] });
    expect(Date.parse(asked.expires_at ?? '') - Date.parse(asked.created_at)).toBe(180_000);
    clock.advance(181_000);
    const told = await eventually(() => leg.answers.get('live'));
    expect(told).toMatchObject({ kind: 'permission', allow: false, by: 'expiry' });
    const query = { status: 'expired' };
    const { body } = await server.send('list_interactions', {
      params: { session_id: session.id },
      query,
    });
    expect(body.interactions).toMatchObject([{ decision: 'deny', decided_by: 'expiry' }]);
    const refused = await server.refused('answer_interaction', {
      params: keyOf(asked),
      body: { decision: 'allow' },
    });
    expect(refused).toMatchObject({ status: 409, error: 'interaction_not_pending' });
    await eventually(async () => {
      const headers = { accept: 'application/json' };
      const feed = await server.send('follow_tenant_events', { query: { limit: '100' }, headers });
      return feed.body.events.some(({ type }) => type === 'interaction_answered');
    });
    await cancel(server, run);
  });
});
