import { type AgentRule, agentRules } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { readRules } from '../../src/domain/rules/rule.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { recordLeg } from '../../src/execution/recording/record-leg.ts';
import { expireInteractions } from '../../src/workers/retention/expire-interactions.ts';
import { databaseKinds } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture, hour, maker, over } from '../support/run-fixture.ts';

describe.each(databaseKinds)('a request without an answer in time on %s (D-522)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  type Asking = Partial<Pick<AgentRule, 'wait_hours' | 'on_expiry'>>;
  const request = (ref: string) =>
    ({ type: 'permission_request', ref, toolName: 'pay', toolInput: { ref } }) as const;

  /** A parked run that asks for each ref, by one rule. Its agent waits two hours. */
  async function asking(rule: Asking, ...refs: readonly string[]): Promise<Run> {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    const list = agentRules.parse([{ name: 'ask', tools: ['pay'], effect: 'ask', ...rule }]);
    await recordLeg(world, leg.holder, {
      take: () => ({
        items: refs.map(request),
        notes: [],
        context: undefined,
        end: { status: 'waiting', ...over },
      }),
      waitMs: 2 * hour,
      rules: { agentName: 'agent', agent: readRules(list), startedBy: null },
      inDoubtAfter: undefined,
      lossesTotal: 0,
      maker,
    });
    return world.read(run);
  }
  const stored = async (run: Run, ref = 'call') =>
    (await world.store.read.interactions.findByRequest(run.id, ref)) ?? expect.fail('not asked');
  const pass = () => expireInteractions(world);
  const allow = async (run: Run, ref = 'call') =>
    answerInteraction(world, world.scope, {
      sessionId: run.sessionId,
      key: (await stored(run, ref)).key,
      body: { decision: 'allow' },
      by,
      allower,
    });
  const denial = { type: 'permission_resolved', data: { decision: 'deny', by: 'expiry' } };
  const denials = async (run: Run) =>
    (await world.logOf(run.id)).filter(({ type }) => type === 'permission_resolved');

  test.each([
    [{ wait_hours: 1 }, hour],
    [{ wait_hours: 0.5 }, hour / 2],
    [{ wait_hours: 3 }, 2 * hour],
    [{ on_expiry: 'deny' }, 2 * hour],
    [{}, 2 * hour],
  ] as const)('%o waits %i ms, at most as long as its agent', async (rule, waits) => {
    const run = await asking(rule, 'call');
    const { createdAt, expiresAt } = await stored(run);
    expect(expiresAt - createdAt).toBe(waits);
    const [asked] = (await world.logOf(run.id)).slice(-1);
    const told = Object.keys(rule).length === 0 ? undefined : new Date(expiresAt).toISOString();
    expect(asked?.data['expires_at']).toBe(told);
  });

  test('is a denial, and the run is ready for its next leg', async () => {
    const run = await asking({ wait_hours: 1, on_expiry: 'deny' }, 'call');
    world.clock.advance(hour);
    await pass();
    expect((await stored(run)).status).toBe('pending');
    world.clock.advance(1);
    await pass();
    await pass();
    const reason = 'Not allowed: no answer came in time.';
    expect(await stored(run)).toMatchObject({
      status: 'expired',
      decidedBy: 'expiry',
      answeredBy: null,
      answer: { decision: 'deny', message: reason },
      appliedAt: null,
    });
    expect(await denials(run)).toMatchObject([denial]);
    expect(await world.read(run)).toMatchObject({ status: 'waiting', pendingInteractions: 0 });
    const leg = await world.claimed(run);
    expect(leg.input).toMatchObject({
      kind: 'resume',
      answers: new Map([['call', { kind: 'permission', allow: false, reason, by: 'expiry' }]]),
    });
    expect(await stored(run)).toMatchObject({ appliedAt: expect.any(Number) });
  });

  test('leaves the other requests of the run open', async () => {
    const run = await asking({ wait_hours: 1, on_expiry: 'deny' }, 'call', 'other');
    await allow(run, 'other');
    world.clock.advance(hour + 1);
    await pass();
    expect(await world.read(run)).toMatchObject({ status: 'waiting', pendingInteractions: 0 });
    const { input } = await world.claimed(run);
    const answers = input.kind === 'resume' ? input.answers : undefined;
    expect(answers?.get('call')).toMatchObject({ allow: false });
    expect(answers?.get('other')).toMatchObject({ allow: true });
  });

  test('ends the run where one of two expired requests does not deny', async () => {
    const run = await asking({ wait_hours: 1 }, 'call', 'other');
    world.clock.advance(hour + 1);
    await pass();
    expect(await world.read(run)).toMatchObject({
      status: 'failed',
      error: { code: 'interaction_expired' },
    });
    expect(await denials(run)).toEqual([]);
  });

  test('takes no answer, whether or not the pass has run (D-37)', async () => {
    const run = await asking({ wait_hours: 1, on_expiry: 'deny' }, 'call');
    world.clock.advance(hour + 1);
    await expect(allow(run)).rejects.toMatchObject({ code: 'interaction_not_pending' });
    await pass();
    await expect(allow(run)).rejects.toMatchObject({ code: 'interaction_not_pending' });
    expect(await denials(run)).toMatchObject([denial]);
  });

  test('of an answer in the last moment and passes at once exactly one counts', async () => {
    for (let round = 0; round < 10; round += 1) {
      const run = await asking({ wait_hours: 1, on_expiry: 'deny' }, 'call');
      world.clock.advance(hour + (round % 2));
      const [answered] = await Promise.allSettled([
        allow(run),
        ...(round % 2 === 0 ? [Promise.resolve(world.clock.advance(1))] : []),
        pass(),
        pass(),
      ]);
      await pass();
      const isAnswered = answered.status === 'fulfilled';
      expect([(await stored(run)).status, (await denials(run)).length]).toEqual(
        isAnswered ? ['answered', 1] : ['expired', 1],
      );
      expect((await denials(run))[0]?.data['decision']).toBe(isAnswered ? 'allow' : 'deny');
      expect(await world.read(run)).toMatchObject({ status: 'waiting', pendingInteractions: 0 });
    }
  });
});
