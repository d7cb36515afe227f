import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as lasting } from 'node:timers/promises';
import { until } from '../../support/eventually.ts';
import { query } from '../../support/postgres-databases.ts';
import { type Cluster, type Replica, leaseSeconds, tenantShare } from './cluster.ts';

export const leaseMs = leaseSeconds * 1000;

export interface Fault {
  readonly title: string;
  /**
   * Whether runs of an agent that cannot continue may end as lost: only where a server died, or could not know that it
   * was still alive.
   */
  readonly losesRuns: boolean;
  /**
   * Set when servers cannot renew their leases during it: on a slow machine it may outlast them, and lose runs, too.
   */
  readonly keepsFromRenewing?: true;
  /** Whether it strikes a server whose runs then continue on another one. */
  readonly resumesRuns?: true;
  /**
   * Returns when the fault is over. `durable` names the sessions whose runs continue after the loss of their worker.
   */
  readonly happen: (cluster: Cluster, durable: ReadonlySet<string>) => Promise<void>;
}

const noFault: Fault = {
  title: 'no fault: any server serves any stream, cancel and answer',
  losesRuns: false,
  happen: () => lasting(2_000),
};

const killed: Fault = {
  title: 'a server is killed; its runs continue on another server (D-88)',
  losesRuns: true,
  resumesRuns: true,
  async happen(cluster, durable) {
    const replica = replicaOf(cluster, 0);
    await standsStillUnderRuns(cluster, { replica, durable });
    deepEqual(await replica.process.kill(), [], 'processes that outlive the server');
    await lasting(leaseMs);
    await replica.startAgain();
  },
};

const suspended: Fault = {
  title: 'a server is suspended for longer than its lease, and resumes',
  losesRuns: true,
  async happen(cluster) {
    const { process } = replicaOf(cluster, 1);
    process.signal('SIGSTOP');
    await lasting(leaseMs * 1.75);
    process.signal('SIGCONT');
  },
};

function cutOff(way: 'to-target' | 'from-target'): Fault {
  return {
    title: `a server is cut off from the database for longer than its lease, ${way}`,
    losesRuns: true,
    async happen(cluster) {
      const { toDatabase } = replicaOf(cluster, 2);
      toDatabase.cut(way);
      await lasting(leaseMs * 1.75);
      toDatabase.heal();
    },
  };
}

const databaseRestarts: Fault = {
  title: 'the database is stopped and started again',
  losesRuns: false,
  keepsFromRenewing: true,
  async happen({ database }) {
    database.stopAtOnce();
    await lasting(1_000);
    database.start();
  },
};

const connectionsKilled: Fault = {
  title: 'connections are killed in the middle of statements',
  losesRuns: false,
  async happen({ database }) {
    for (let time = 0; time < 8; time++) {
      await terminate(database.url, `application_name like 'convoke%' and random() < 0.5`);
      await lasting(150);
    }
  },
};

const clockSet: Fault = {
  title: 'the clock of one server is set forward and back by hours',
  losesRuns: false,
  async happen(cluster) {
    for (let step = 0; step < 4; step++) {
      replicaOf(cluster, 0).process.signal('SIGUSR2');
      await lasting(600);
    }
  },
};

const wakeUpsAway: Fault = {
  title: 'the wake-ups are unavailable for a while',
  losesRuns: false,
  async happen({ nats, database, wakeups }) {
    if (wakeups === 'postgres') {
      return terminate(database.url, `application_name = 'convoke wake-ups'`);
    }
    await nats.stop();
    await lasting(3_000);
    await nats.start();
  },
};

const replacedInTurn: Fault = {
  title: 'every server is replaced, one after the other, by one that wakes the others by NATS',
  losesRuns: false,
  async happen(cluster) {
    cluster.wakeByNats();
    for (const replica of cluster.replicas) {
      replica.process.signal('SIGTERM');
      deepEqual(await replica.process.ended, { code: 0, signal: null });
      await replica.startAgain();
    }
  },
};

/** Two faults of different servers at the same time: the third one is left. */
function together(one: Fault, other: Fault): Fault {
  return {
    title: `${one.title}; at the same time ${other.title}`,
    losesRuns: one.losesRuns || other.losesRuns,
    ...(one.resumesRuns && { resumesRuns: true }),
    async happen(cluster, durable) {
      await Promise.all([one.happen(cluster, durable), other.happen(cluster, durable)]);
    },
  };
}

/** Faults of servers that wake each other by PostgreSQL. At the end they wake each other by NATS. */
export const faultsOnPostgres: readonly Fault[] = [
  noFault,
  together(killed, cutOff('from-target')),
  together(suspended, cutOff('to-target')),
  databaseRestarts,
  connectionsKilled,
  clockSet,
  wakeUpsAway,
  replacedInTurn,
];

/** The faults whose outcome can depend on how servers wake each other. */
export const faultsOnNats: readonly Fault[] = [noFault, killed, databaseRestarts, wakeUpsAway];

/** Nearly the share of the tenant: the servers are busy, and a few runs may be between two legs. */
const executingFewest = tenantShare - 2;
const heldFewest = 2;

/**
 * Suspends the server at a moment at which all servers are busy and it executes runs that continue after its death.
 * While it is suspended none of them can end, so they are lost with it for certain.
 */
async function standsStillUnderRuns(
  { database }: Cluster,
  { replica, durable }: { readonly replica: Replica; readonly durable: ReadonlySet<string> },
): Promise<void> {
  const machine = readFileSync(join(replica.folder.dataDir, 'machine-id'), 'utf8').trim();
  const isBusy = async () => {
    const runs = (await query(
      database.url,
      `select session_id, last_machine from runs where lease_owner is not null and status = 'running'`,
    )) as { session_id: string; last_machine: string }[];
    const held = runs.filter(
      (run) => run.last_machine === machine && durable.has(run.session_id),
    ).length;
    return runs.length >= executingFewest && held >= heldFewest;
  };
  const isCaught = async () => {
    if (!(await isBusy())) return false;
    replica.process.signal('SIGSTOP');
    if (await isBusy()) return true;
    replica.process.signal('SIGCONT');
    return false;
  };
  await until(isCaught, { withinMs: 60_000, what: 'busy server with runs that continue' });
}

function replicaOf({ replicas }: Cluster, index: number): Replica {
  const replica = replicas[index];
  if (replica === undefined) throw new Error(`there is no replica ${index}`);
  return replica;
}

async function terminate(url: string, which: string): Promise<void> {
  await query(url, `select pg_terminate_backend(pid) from pg_stat_activity where ${which}`);
}
