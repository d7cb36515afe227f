import { describe, expect, onTestFinished, test } from 'vitest';
import type { AfterLoss } from '../../src/domain/run/recovery.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { MortalLegs } from '../support/mortal-legs.ts';
import { Puppet } from '../support/puppet-harness.ts';

describe.each(databaseKinds)('a leg on %s that is prepared while its server stops', (kind) => {
  async function open(afterLoss: AfterLoss) {
    const puppet = new Puppet({ afterLoss });
    const agent = agentOf({ framework: puppet.framework });
    const legs = await MortalLegs.open({ kind, agent, harness: puppet });
    onTestFinished(() => legs.close());
    return { puppet, legs };
  }

  test.each(['repeat', 'continue', 'session'] as const)(
    'is handed back unstarted, and the next server starts it; framework: %s (D-85)',
    async (afterLoss) => {
      const { puppet, legs } = await open(afterLoss);
      const run = await legs.start('go');
      await legs.handBack(run);
      const between = await legs.world.read(run);
      expect(between).toMatchObject({ status: 'running', lease: null, lossesTotal: 0 });
      expect(puppet.hasStarted).toBe(false);
      const executed = legs.execute(between);
      const leg = await puppet.leg();
      expect(leg.input).toMatchObject({ kind: 'continue', reason: 'drained' });
      leg.say('done');
      leg.end();
      await executed;
      expect(await legs.world.read(run)).toMatchObject({ status: 'completed', outputText: 'done' });
      const log = await legs.world.logOf(run.id);
      expect(log.map(({ type }) => type)).toEqual([
        'run_started',
        'run_interrupted',
        'run_resumed',
        'message_delta',
        'run_completed',
      ]);
    },
  );

  test('is handed back also when the drain is over before it could start: nothing was lost (D-86)', async () => {
    const { puppet, legs } = await open('repeat');
    const run = await legs.start('go');
    await legs.handBack(run, 'is over');
    expect(await legs.world.read(run)).toMatchObject({
      status: 'running',
      lease: null,
      lossesTotal: 0,
    });
    expect(puppet.hasStarted).toBe(false);
  });

  test('keeps its session until it has ended, and holds up no other one (D-98)', async () => {
    const { puppet, legs } = await open('repeat');
    const { world } = legs;
    const run = await legs.start('first');
    const queued = await world.start(run.sessionId, 'second');
    await legs.handBack(run);
    const session = await world.store.read.sessions.find(world.scope, run.sessionId);
    expect(session).toMatchObject({ currentRunId: run.id });
    expect(await world.claim(queued, 'another')).toBeUndefined();
    expect(await world.claim(await legs.start('elsewhere'), 'another')).toBeDefined();
    const executed = legs.execute(await world.read(run));
    (await puppet.leg()).end();
    await executed;
    expect(await world.claim(queued, 'another')).toBeDefined();
  });

  test('starts if its program could not tell the prompt from one that it has worked on', async () => {
    const { puppet, legs } = await open('point');
    const run = await legs.start('go');
    const executed = legs.handBack(run);
    const leg = await puppet.leg();
    expect(leg.input).toEqual({ kind: 'prompt' });
    leg.end();
    await executed;
    expect(await legs.world.read(run)).toMatchObject({ status: 'completed' });
  });

  test('is asked to hand its run over as soon as it starts, if it has to start (D-85)', async () => {
    const { puppet, legs } = await open('point');
    const run = await legs.start('go');
    const executed = legs.handBack(run);
    const leg = await puppet.leg();
    await leg.asked.promise;
    leg.point();
    leg.end('yielded');
    await executed;
    expect(await legs.world.read(run)).toMatchObject({ status: 'running', lease: null });
    const log = await legs.world.logOf(run.id);
    expect(log.at(-1)).toMatchObject({ type: 'run_interrupted', data: { reason: 'drained' } });
  });
});
