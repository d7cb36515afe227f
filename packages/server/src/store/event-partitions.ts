import { type LogPartition, firstRunId } from '../domain/event-partition.ts';
import { timeOfText, timeText } from '../domain/id-time.ts';
import type { EventPartitions } from '../ports/event-partitions.ts';
import { isLockTimeout } from './lock-timeout.ts';
import type { MigratableDatabase, MigrationTransaction } from './migrate.ts';
import { sql } from './sql.ts';

/**
 * How long to wait for the table lock that creating or dropping a partition needs. Kept short because every append and
 * read queues behind that wait; the next pass tries again. (`detach concurrently` would need no such lock, but
 * PostgreSQL refuses it beside a default partition.)
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
  /** Returns false when the lock timed out. */
  async function unlessLocked(work: (tx: MigrationTransaction) => Promise<void>): Promise<boolean> {
    try {
      await database.transaction(async (tx) => {
        await tx.script(`set local lock_timeout = ${lockTimeoutMs}`);
        // Earlier releases use this name too, and must exclude this one during a rolling upgrade.
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
        await unlessLocked(async (tx) => {
          // Another replica may have created it since.
          const exists = (await list(tx)).some((each) => nameOf(each) === nameOf(partition));
          if (!exists && !(await holdsEvents(tx, partition)))
            await tx.script(attachPartitionSql(partition));
        });
      }
    },

    async drop(partition) {
      return unlessLocked((tx) => tx.script(`drop table if exists ${nameOf(partition)}`));
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
 * SQL that creates a partition, then attaches it, so that appends to and reads of other partitions are not blocked.
 * A statement that names the partition itself, as `pg_dump` does, is not subject to the policy of the whole table, so
 * each partition has its own.
 */
export function attachPartitionSql(partition: LogPartition): string {
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
