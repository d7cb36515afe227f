// Three real servers, one PostgreSQL, and every fault between them. The load continues during each fault; afterwards
// nothing may be stuck, lost, repeated, reordered or done twice. CONVOKE_TEST_ROUNDS=20 makes an overnight run.
import { setTimeout as lasting } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/eventually.ts';
import { query } from '../support/postgres-databases.ts';
import { type Fault, faultsOnNats, faultsOnPostgres, leaseMs } from './support/cluster-faults.ts';
import { ClusterLoad } from './support/cluster-load.ts';
import { ClusterWatch } from './support/cluster-watch.ts';
import { Cluster, tenantShare } from './support/cluster.ts';
import { rounds, seededRandom } from './support/random.ts';

const minute = 60_000;
/** How long the load runs undisturbed before and after a fault. */
const calmMs = 500;

describe('under load on three servers', () => {
  let cluster: Cluster;
  let load: ClusterLoad;
  let watch: ClusterWatch;
  let isBroken = false;

  beforeAll(async () => {
    cluster = await Cluster.open();
    watch = new ClusterWatch(cluster.database.url);
    load = await ClusterLoad.open(cluster, seededRandom('cluster'));
  }, 4 * minute);
  afterAll(async () => {
    await watch.stop();
    // Only the output of the servers shows what went wrong between them.
    if (isBroken)
      for (const {
        process: { output },
      } of cluster.replicas)
        process.stdout.write(output);
    process.stdout.write(`${JSON.stringify(load.tally)}\n`);
    await cluster.close();
  });

  describe.each([
    ['PostgreSQL', faultsOnPostgres],
    ['NATS', faultsOnNats],
  ] as const)('that wake each other by %s', (_, faults) => {
    test.each(faults)(
      '$title',
      async (fault) => {
        if (isBroken) throw new Error('an earlier fault failed, so the load is in no known state');
        isBroken = true;
        for (let round = 0; round < rounds(1); round++) await suffer(fault);
        isBroken = false;
        for (const { process } of cluster.replicas) expect(process.isRunning).toBe(true);
      },
      rounds(1) * 6 * minute,
    );
  });

  /** Returns when runs were completed and cancelled since, and every run under way has ended: none may be stuck. */
  async function suffer(fault: Fault): Promise<void> {
    const { happen, losesRuns, resumesRuns, keepsFromRenewing = false } = fault;
    const { lost, resumed, completed, cancelled } = load.tally;
    load.begin();
    await lasting(calmMs);
    const began = performance.now();
    await happen(cluster, load.durable);
    const isLong = keepsFromRenewing && performance.now() - began > leaseMs / 2;
    await lasting(calmMs);
    const goesOn = () => load.tally.completed > completed && load.tally.cancelled > cancelled;
    try {
      await until(goesOn, { what: 'completed and cancelled run' });
    } finally {
      // Its error, if it has one, is the reason.
      await load.rest();
    }
    if (!losesRuns && !isLong) expect(load.tally.lost, 'runs lost').toBe(lost);
    if (resumesRuns) expect(load.tally.resumed, 'runs resumed').toBeGreaterThan(resumed);
  }

  test(
    'afterwards every log is the same on every server, every run has ended, and no tool acted twice',
    async () => {
      expect(await load.checkAll()).toBeGreaterThan(50);
      const open = await query(cluster.database.url, 'select id from runs where ended_at is null');
      expect(open).toEqual([]);
      const { lines } = cluster.ledger;
      expect(new Set(lines).size).toBe(lines.length);
      expect(load.tally.paid).toBeGreaterThan(0);
      expect(load.tally.refused).toBeGreaterThan(0);
      expect(watch.looks).toBeGreaterThan(10);
      expect(watch.torn, 'sessions with two runs at once').toEqual(new Set());
      expect(watch.widest, 'the share of the tenant').toBe(tenantShare);
    },
    rounds(1) * 4 * minute,
  );
});
