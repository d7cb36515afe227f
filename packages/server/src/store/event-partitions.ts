import { type LogPartition, firstRunId } from '../domain/event-partition.ts';
import { timeOfText, timeText } from '../domain/id-time.ts';
import type { EventPartitions } from '../ports/event-partitions.ts';
import { isLockTimeout } from './lock-timeout.ts';
import type { MigratableDatabase, MigrationTransaction } from './migrate.ts';
import { sql } from './sql.ts';

/**
 * Whoever appends or reads waits behind the lock that a partition's coming or going needs, so that is
 * asked for this long and not longer; the next pass asks again. (`detach concurrently` would need no such
 * lock, but PostgreSQL refuses it beside a default partition.)
 */
const lockTimeoutMs = 100;

export function eventPartitions(database: MigratableDatabase): EventPartitions {
  return database.dialect === 'postgres' ? postgresPartitions(database) : noPartitions;
}

const noPartitions: EventPartitions = {
  list: async () => [],
  open: async () => {},
  drop: async () => false,
};

function postgresPartitions(database: MigratableDatabase): EventPartitions {
  /** False when a lock was not to be had at once. */
  async function unlessBusy(work: (tx: MigrationTransaction) => Promise<void>): Promise<boolean> {
    try {
      await database.transaction(async (tx) => {
        await tx.script(`set local lock_timeout = ${lockTimeoutMs}`);
        await tx.script(`select pg_advisory_xact_lock(hashtext('convoke event stretches'))`);
        await work(tx);
      });
      return true;
    } catch (error) {
      if (isLockTimeout(error)) return false;
      throw error;
    }
  }

  async function list(reader: Pick<MigratableDatabase, 'all'>): Promise<LogPartition[]> {
    const rows = await reader.all<{ name: string }>(sql`
      select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'run_events'::regclass order by relname`);
    return rows.flatMap(({ name }) => partitionNamed(name) ?? []);
  }

  return {
    list: () => list(database),

    async open(partitions) {
      const known = new Set((await list(database)).map(nameOf));
      for (const partition of partitions.filter((wanted) => !known.has(nameOf(wanted)))) {
        await unlessBusy(async (tx) => {
          // Another replica may have been faster.
          const isThere = (await list(tx)).some((each) => nameOf(each) === nameOf(partition));
          if (!isThere && !(await holdsEvents(tx, partition))) await tx.script(attaching(partition));
        });
      }
    },

    async drop(partition) {
      return unlessBusy((tx) => tx.script(`drop table if exists ${nameOf(partition)}`));
    },
  };
}

async function holdsEvents(
  tx: MigrationTransaction,
  { from, until }: LogPartition,
): Promise<boolean> {
  const row = await tx.get(sql`
    select 1 as one from run_events
    where run_id >= ${firstRunId(from)} and run_id < ${firstRunId(until)} limit 1`);
  return row !== undefined;
}

/**
 * Made first and attached then: appends and reads of other partitions go on meanwhile. Who names a partition
 * itself, as `pg_dump` does, is not held by the policy of the whole table, so each has its own.
 */
export function attaching(partition: LogPartition): string {
  const name = nameOf(partition);
  return `
    create table ${name} (like run_events including defaults including constraints);
    alter table ${name} enable row level security, force row level security;
    create policy of_tenant on ${name} using (may_touch(tenant_id));
    alter table run_events attach partition ${name}
      for values from ('${firstRunId(partition.from)}') to ('${firstRunId(partition.until)}');`;
}

function nameOf({ from, until }: LogPartition): string {
  return `run_events_${timeText(from)}_${timeText(until)}`;
}

function partitionNamed(name: string): LogPartition | undefined {
  const [, from, until] = /^run_events_([0-9a-z]{10})_([0-9a-z]{10})$/.exec(name) ?? [];
  if (from === undefined || until === undefined) return undefined;
  return { from: timeOfText(from), until: timeOfText(until) };
}
