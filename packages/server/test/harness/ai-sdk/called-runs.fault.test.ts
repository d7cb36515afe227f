// A worker dies at any commit while its agent calls another agent and sleeps: each is started once, and the answer is
// whole.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Run, isEnded } from '../../../src/domain/run/run.ts';
import { settleWaits } from '../../../src/workers/settle-waits.ts';
import { completed } from '../../support/calling-runs.ts';
import { databaseKinds } from '../../support/databases.ts';
import { Death, MortalLegs } from '../../support/mortal-legs.ts';
import { hour, delta } from '../../support/run-fixture.ts';
import { AiSdkPlace } from './agent.ts';

const place = await AiSdkPlace.open();
afterAll(() => place.close());

const steps = [
  'say I ask. && call call_researcher {"prompt":"oak"} && call call_researcher {"prompt":"elm"}',
  'call sleep {"for":"1h","reason":"a pause"}',
  'say Done.',
];
const whole = 'I ask.\n\nDone.';
/** More than a run of the script commits in one leg. */
const commitsMax = 12;

describe.each(databaseKinds)('on %s, a worker that dies', (kind) => {
  let legs: MortalLegs;
  beforeAll(async () => {
    const agent = place.agent({ calls: ['researcher'], settings: { sleep: true } });
    const others = [{ name: 'researcher', framework: 'scripted' }];
    legs = await MortalLegs.open({ kind, agent, harness: place.harness(), others });
    return () => legs.close();
  });

  async function calledBy(run: Run): Promise<Run[]> {
    const waits = await legs.world.store.read.waits.ofRun(run.id);
    const ids = waits.flatMap(({ childRunId }) => (childRunId === null ? [] : [childRunId]));
    return Promise.all(ids.map((id) => legs.world.read({ id })));
  }

  /** What the run waits for comes: one of the called runs ends, or else an hour passes. */
  async function come(run: Run): Promise<void> {
    const { world } = legs;
    const open = (await calledBy(run)).find((called) => !isEnded(called));
    if (open === undefined) {
      world.clock.advance(hour);
      await settleWaits(world);
      return;
    }
    const text = `About ${open.input}.`;
    await world.record(await world.claimed(open), { items: [delta(text)], end: completed(text) });
  }

  async function finish(death: Death, legOf: number): Promise<Run> {
    const { world } = legs;
    const client = (await world.seed.client(world.scope.organizationId)).record.id;
    const run = await world.start(await world.open(), `@@ ${steps.join(' ;; ')}`, client);
    let begun = 0;
    for (let turn = 0; turn < 40; turn += 1) {
      const now = await world.read(run);
      if (isEnded(now)) return now;
      if (now.lease !== null) await legs.recover();
      else if (now.status === 'running' && now.readyAt === null && now.continueAt === null)
        await come(now);
      else {
        await legs.execute(now, begun === legOf ? death : new Death());
        begun += 1;
      }
    }
    throw new Error('the run does not end');
  }

  test.each([0, 1, 2, 3])('in its leg %i, at each commit', async (leg) => {
    let deaths = 0;
    for (let commit = 0; commit < commitsMax; commit += 1) {
      for (const hasCommitted of [false, true]) {
        const death = new Death(commit, hasCommitted);
        const ended = await finish(death, leg);
        expect(ended).toMatchObject({ status: 'completed', outputText: whole, openWaits: 0 });
        expect(await calledBy(ended)).toHaveLength(2);
        expect(await legs.plain(ended)).toBe(whole);
        const results = (await legs.world.logOf(ended.id)).filter(
          ({ type }) => type === 'wait_ended',
        );
        expect(results).toHaveLength(3);
        if (death.hasCome) deaths += 1;
        else return expect(deaths).toBeGreaterThan(1);
      }
    }
    throw new Error('the leg has more commits than the test expects');
  });
});
