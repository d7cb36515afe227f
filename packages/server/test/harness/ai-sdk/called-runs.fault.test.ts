// A worker dies at any commit while its agent calls another agent and sleeps: each is started once, and the answer is
// whole.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calledRuns } from '../../support/calling-runs.ts';
import { databaseKinds } from '../../support/databases.ts';
import { Death, MortalLegs } from '../../support/mortal-legs.ts';
import { finishWaiting } from '../../support/waiting-legs.ts';
import { AiSdkPlace } from './agent.ts';

const place = await AiSdkPlace.open();
afterAll(() => place.close());

const prompt = `@@ ${[
  'say I ask. && call call_researcher {"prompt":"oak"} && call call_researcher {"prompt":"elm"}',
  'call sleep {"for":"1h","reason":"a pause"}',
  'say Done.',
].join(' ;; ')}`;
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

  test.each([0, 1, 2, 3])('in its leg %i, at each commit', async (leg) => {
    let deaths = 0;
    for (let commit = 0; commit < commitsMax; commit += 1) {
      for (const hasCommitted of [false, true]) {
        const death = new Death(commit, hasCommitted);
        const ended = await finishWaiting(legs, { prompt, death, leg });
        expect(ended).toMatchObject({ status: 'completed', outputText: whole, openWaits: 0 });
        expect(await calledRuns(legs.world, ended)).toHaveLength(2);
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
