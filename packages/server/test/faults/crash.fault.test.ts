import { describe, expect, test } from 'vitest';
import { createDatabase } from '../support/postgres-databases.ts';
import { CrashScenario } from './support/crash-scenario.ts';
import { rounds, seededRandom } from './support/random.ts';
import { integrityOf } from './support/sqlite-integrity.ts';

const minute = 60_000;
/** Each round has its own lifetime and its own mix of runs; CONVOKE_TEST_ROUNDS sets more for an overnight run. */
const usualRounds = rounds(6);
/** Chance decides what a crash interrupts, so rounds are added until every kind of interruption has occurred. */
const mostRounds = 4 * usualRounds;
const timeout = 40 * minute * Math.ceil(usualRounds / 6);

// On PostgreSQL most of the time is spent waiting for leases to expire: SQLite uses it.
describe.concurrent('the server is killed under twenty streaming runs: every received event stays, every run continues and ends once, every waiting run still waits', () => {
  test('on SQLite, and two more starts add no second end to any run (D-31, D-36, D-88)', {
    timeout,
  }, async ({ onTestFinished }) => {
    const random = seededRandom('crash on SQLite');
    const scenario = await CrashScenario.open({ random });
    onTestFinished(() => scenario.close());
    const { tally } = scenario;
    const isUntested = () =>
      [
        tally.recovered,
        tally.stillWaiting,
        tally.answeredAfterCrash,
        tally.behindInterrupted,
      ].includes(0);
    for (let round = 0; round < usualRounds || (isUntested() && round < mostRounds); round++) {
      await scenario.crash();
      expect(integrityOf(scenario.folder.dataDir)).toBe('ok');
      await scenario.recover();
    }
    await scenario.finish();
    process.stdout.write(`${JSON.stringify(tally)}\n`);
    expect(tally.recovered).toBeGreaterThan(0);
    expect(tally.stillWaiting).toBeGreaterThan(0);
    expect(tally.answeredAfterCrash).toBeGreaterThan(0);
    expect(tally.behindInterrupted).toBeGreaterThan(0);
    expect(tally.connections).toBeGreaterThan(0);
    expect(await scenario.restartTwice()).toBeGreaterThan(0);
  });

  test('on PostgreSQL, and two more starts add no second end to any run', {
    timeout,
  }, async ({ onTestFinished }) => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    const random = seededRandom('crash on PostgreSQL');
    const scenario = await CrashScenario.open({ random, databaseUrl: database.url });
    onTestFinished(() => scenario.close());
    // Few rounds: SQLite shows what a crash interrupts; this shows that recovery is the same here.
    const isUntested = () => scenario.tally.recovered === 0;
    const enough = Math.ceil(usualRounds / 4);
    for (let round = 0; round < enough || (isUntested() && round < mostRounds); round++) {
      await scenario.crash();
      await scenario.recover();
    }
    await scenario.finish();
    expect(await scenario.restartTwice()).toBeGreaterThan(0);
    process.stdout.write(`${JSON.stringify(scenario.tally)}\n`);
    expect(scenario.tally.recovered).toBeGreaterThan(0);
  });
});
