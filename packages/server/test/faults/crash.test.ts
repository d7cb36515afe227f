import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnDatabase, createDatabase } from '../support/postgres-databases.ts';
import { CrashScenario } from './support/crash-scenario.ts';
import { rounds, seededRandom } from './support/random.ts';
import { integrityOf } from './support/sqlite-integrity.ts';

const minute = 60_000;
/** D-26: time within which runs of a killed server continue, alone and in a cluster. */
const recoveryMs = 10_000;
const clusterRecoveryMs = 30_000;
/** Each round has its own lifetime and its own mix of runs; CONVOKE_TEST_ROUNDS sets more for an overnight run. */
const usualRounds = rounds(8);
/** Chance decides what a crash interrupts, so rounds are added until every kind of interruption has occurred. */
const mostRounds = 3 * usualRounds;

describe('the server is killed under twenty streaming runs, on SQLite (P1, P3, P5, D-26, D-31, D-36)', () => {
  let scenario: CrashScenario;

  beforeAll(async () => {
    const random = seededRandom('crash on SQLite');
    scenario = await CrashScenario.open({ random, recoveryMs });
  });
  afterAll(() => scenario.close());

  test(
    'every received event stays, every run ends once, and every waiting run still waits',
    async () => {
      const { tally } = scenario;
      const isUntested = () =>
        [tally.recovered, tally.stillWaiting, tally.answeredAfterCrash, tally.behindLost].includes(
          0,
        );
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
      expect(tally.behindLost).toBeGreaterThan(0);
      expect(tally.connections).toBeGreaterThan(0);
    },
    10 * minute * Math.ceil(usualRounds / 8),
  );

  test(
    'two more starts add no second end to any run',
    async () => expect(await scenario.restartTwice()).toBeGreaterThan(0),
    minute,
  );
});

describe('the server is killed under twenty streaming runs, on PostgreSQL', () => {
  let database: OwnDatabase;
  let scenario: CrashScenario;

  beforeAll(async () => {
    database = await createDatabase();
    scenario = await CrashScenario.open({
      random: seededRandom('crash on PostgreSQL'),
      // The lease of the dead server must expire first: another replica could hold it (D-26).
      recoveryMs: clusterRecoveryMs,
      databaseUrl: database.url,
    });
  });
  afterAll(async () => {
    await scenario.close();
    await database.drop();
  });

  test(
    'every received event stays, every run ends once, and every waiting run still waits',
    async () => {
      // Few rounds: SQLite has shown what a crash interrupts; this shows that recovery is the same here.
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
    },
    10 * minute * Math.ceil(usualRounds / 8),
  );
});
