// A worker dies at any commit while its script sleeps and calls an agent: each is waited for once, and the answer is
// whole.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Run, isEnded } from '../../../src/domain/run/run.ts';
import { scriptedHarness } from '../../../src/harness/scripted/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { settleWaits } from '../../../src/workers/settle-waits.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { completed } from '../../support/calling-runs.ts';
import { databaseKinds } from '../../support/databases.ts';
import { Death, MortalLegs } from '../../support/mortal-legs.ts';
import { hour } from '../../support/run-fixture.ts';

const script = [
  { say: 'One ' },
  { sleep: '1h' },
  { say: 'two ' },
  { call: { agent: 'researcher', prompt: '{{prompt}}' } },
  { say: '{{answer}} three.' },
];
const whole = 'One two About oak. three.';
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

  async function calledBy(run: Run): Promise<Run[]> {
    const waits = await legs.world.store.read.waits.ofRun(run.id);
    const ids = waits.flatMap(({ childRunId }) => (childRunId === null ? [] : [childRunId]));
    return Promise.all(ids.map((id) => legs.world.read({ id })));
  }

  async function come(run: Run): Promise<void> {
    const { world } = legs;
    const open = (await calledBy(run)).find((called) => !isEnded(called));
    if (open === undefined) {
      world.clock.advance(hour);
      await settleWaits(world);
      return;
    }
    await world.record(await world.claimed(open), { end: completed('About oak.') });
  }

  async function finish(death: Death, legOf: number): Promise<Run> {
    const { world } = legs;
    const client = (await world.seed.client(world.scope.organizationId)).record.id;
    const run = await world.start(await world.open(), 'oak', client);
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

  test.each([0, 1, 2])('in its leg %i, at each commit', async (leg) => {
    let deaths = 0;
    for (let commit = 0; commit < commitsMax; commit += 1) {
      for (const hasCommitted of [false, true]) {
        const death = new Death(commit, hasCommitted);
        const run = await finish(death, leg);
        expect(run).toMatchObject({ status: 'completed', outputText: whole, openWaits: 0 });
        expect(await calledBy(run)).toHaveLength(1);
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
