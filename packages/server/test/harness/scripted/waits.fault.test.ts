// A worker dies at any commit while its script sleeps and calls an agent: each is waited for once, and the answer is
// whole.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scriptedHarness } from '../../../src/harness/scripted/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { calledRuns } from '../../support/calling-runs.ts';
import { databaseKinds } from '../../support/databases.ts';
import { Death, MortalLegs } from '../../support/mortal-legs.ts';
import { finishWaiting } from '../../support/waiting-legs.ts';

const script = [
  { say: 'One ' },
  { sleep: '1h' },
  { say: 'two ' },
  { call: { agent: 'researcher', prompt: '{{prompt}}' } },
  { say: '{{answer}} three.' },
];
const whole = 'One two About it. three.';
/** More than a run of the script commits in one leg. */
const commitsMax = 14;

describe.each(databaseKinds)('on %s, a worker that dies', (kind) => {
  let legs: MortalLegs;
  beforeAll(async () => {
    const recovery = { ...agentOf({}).recovery, attempts: 20 };
    const calls = ['researcher'];
    const agent = agentOf({ framework: 'scripted', settings: { script }, calls, recovery });
    const harness = scriptedHarness({ clock: systemClock });
    const others = [{ name: 'researcher', framework: 'scripted' }];
    legs = await MortalLegs.open({ kind, agent, harness, others });
  });
  afterAll(() => legs.close());

  test.each([0, 1, 2])('in its leg %i, at each commit', async (leg) => {
    let deaths = 0;
    for (let commit = 0; commit < commitsMax; commit += 1) {
      for (const hasCommitted of [false, true]) {
        const death = new Death(commit, hasCommitted);
        const run = await finishWaiting(legs, { prompt: 'oak', death, leg });
        expect(run).toMatchObject({ status: 'completed', outputText: whole, openWaits: 0 });
        expect(await calledRuns(legs.world, run)).toHaveLength(1);
        expect(await legs.plain(run)).toBe(whole);
        const log = await legs.world.logOf(run.id);
        expect(log.filter(({ type }) => type === 'wait_ended')).toHaveLength(2);
        if (death.hasCome) deaths += 1;
        else return expect(deaths).toBeGreaterThan(1);
      }
    }
    throw new Error('the leg has more commits than the test expects');
  });
});
