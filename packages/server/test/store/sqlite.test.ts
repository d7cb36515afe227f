import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { MigratableDatabase } from '../../src/store/migrate.ts';
import type { Transaction } from '../../src/store/sql-database.ts';
import { sql } from '../../src/store/sql.ts';
import { createLocation, openTestDatabase } from '../support/databases.ts';

let location: string;
let database: MigratableDatabase;

beforeEach(async () => {
  location = await createLocation('sqlite');
  database = await openTestDatabase('sqlite', { location });
  await database.transaction((tx) => tx.script('create table notes (id text primary key)'));
});

const insert = (tx: Transaction, id: string) => tx.run(sql`insert into notes (id) values (${id})`);
const count = () => database.get(sql`select count(*) as n from notes`);

describe('a group commit on SQLite', () => {
  test('every connection that writes syncs each commit and checks foreign keys (D-320)', async () => {
    await database.transaction(async (tx) => {
      expect(await tx.get(sql`pragma journal_mode`)).toEqual({ journal_mode: 'wal' });
      expect(await tx.get(sql`pragma synchronous`)).toEqual({ synchronous: 2 });
      expect(await tx.get(sql`pragma foreign_keys`)).toEqual({ foreign_keys: 1 });
    });
  });

  test('savepoints keep their pages in memory once the migrations have run', async () => {
    const location = await createLocation('sqlite');
    const migrated = await openDatabase({ location, onFatal: () => {}, report: () => {} });
    onTestFinished(() => migrated.close());
    const inMemory = { temp_store: 2 };
    await migrated.transaction(async (tx) => {
      expect(await tx.get(sql`pragma temp_store`)).toEqual(inMemory);
    });
    await database.transaction(async (tx) => {
      expect(await tx.get(sql`pragma temp_store`)).not.toEqual(inMemory);
    });
  });

  test('a read cannot write', async () => {
    await database.transaction((tx) => insert(tx, 'kept'));
    const removal = sql`delete from notes returning id`;
    await expect(database.all(removal)).rejects.toThrow(StorageUnavailable);
    await expect(database.get(removal)).rejects.toThrow(StorageUnavailable);
    expect(await count()).toEqual({ n: 1 });
  });

  test('a read while a transaction is open sees what is durable, and all of it afterwards', async () => {
    const seen: unknown[] = [];
    await database.transaction(async (tx) => {
      await insert(tx, 'a');
      seen.push(await count());
    });
    seen.push(await count());
    expect(seen).toEqual([{ n: 0 }, { n: 1 }]);
  });

  test('a transaction rejects only after the rows it has seen are durable', async () => {
    const outcomes: string[] = [];
    const kept = database.transaction(async (tx) => {
      await insert(tx, 'a');
      tx.onCommit(() => outcomes.push('kept'));
    });
    const refused = database
      .transaction(async (tx) => {
        if ((await tx.get(sql`select id from notes`)) !== undefined) throw new Error('taken');
      })
      .catch((error: unknown) => outcomes.push(String(error)));
    await Promise.all([refused, kept]);
    expect(outcomes).toEqual(['kept', 'Error: taken']);
  });

  test('a first transaction that fails leaves nothing, and those behind it are kept', async () => {
    const outcomes = await Promise.allSettled([
      database.transaction(async (tx) => {
        await insert(tx, 'first');
        throw new Error('no');
      }),
      database.transaction((tx) => insert(tx, 'second')),
      database.transaction(async (tx) => {
        await insert(tx, 'third');
        throw new Error('no');
      }),
      database.transaction((tx) => insert(tx, 'fourth')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(await database.all(sql`select id from notes order by id`)).toEqual([
      { id: 'fourth' },
      { id: 'second' },
    ]);
  });

  test('a failure after a write repeats the others of its group once, with their effects once', async () => {
    const attempts: string[] = [];
    const effects: string[] = [];
    const write = (id: string) =>
      database.transaction(async (tx) => {
        attempts.push(id);
        tx.onCommit(() => effects.push(id));
        await insert(tx, id);
        if (id.startsWith('bad')) throw new Error(id);
      });
    const outcomes = await Promise.allSettled([write('a'), write('bad b'), write('c')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(attempts).toEqual(['a', 'bad b', 'a', 'bad b', 'c']);
    // The next groups have savepoints.
    await Promise.allSettled([write('d'), write('bad e'), write('f')]);
    expect(attempts.slice(5)).toEqual(['d', 'bad e', 'f']);
    expect(effects).toEqual(['a', 'c', 'd', 'f']);
    const kept = await database.all<{ id: string }>(sql`select id from notes order by id`);
    expect(kept.map(({ id }) => id)).toEqual(effects);
  });

  test('a failure before any write repeats nothing', async () => {
    const attempts: string[] = [];
    const write = (id: string) =>
      database.transaction(async (tx) => {
        attempts.push(id);
        await tx.get(sql`select id from notes`);
        if (id === 'refused') throw new Error('refused');
        await insert(tx, id);
      });
    await Promise.allSettled([write('a'), write('refused'), write('b')]);
    expect(attempts).toEqual(['a', 'refused', 'b']);
    expect(await count()).toEqual({ n: 2 });
  });

  test('work that throws before its first statement rejects with its own error', async () => {
    const broken = database.transaction(() => {
      throw new Error('at once');
    });
    const neighbour = database.transaction((tx) => insert(tx, 'neighbour'));
    await expect(broken).rejects.toThrow('at once');
    await neighbour;
    expect(await count()).toEqual({ n: 1 });
  });

  test('effects of a group run in the order of its transactions', async () => {
    const seen: number[] = [];
    await Promise.all(
      [0, 1, 2, 3, 4].map((index) =>
        database.transaction(async (tx) => {
          tx.onCommit(() => seen.push(index));
          for (let n = index; n < 4; n++) await tx.get(sql`select ${n} as n`);
        }),
      ),
    );
    expect(seen).toEqual([0, 1, 2, 3, 4]);
  });

  describe('waits for transactions of the next turns', () => {
    const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
    let seen: string[];
    const transaction = (id: string) =>
      database.transaction(async (tx) => {
        tx.onCommit(() => seen.push(`${id} committed`));
        await insert(tx, id);
        seen.push(`${id} written`);
      });

    beforeEach(() => {
      seen = [];
    });

    test('two share their commit with one of the next turn', async () => {
      const first = [transaction('a'), transaction('b')];
      await nextTurn();
      await Promise.all([...first, transaction('c')]);
      const written = ['a written', 'b written', 'c written'];
      expect(seen).toEqual([...written, 'a committed', 'b committed', 'c committed']);
    });

    test('a single one commits without waiting', async () => {
      const first = transaction('a');
      await nextTurn();
      await Promise.all([first, transaction('b')]);
      expect(seen).toEqual(['a written', 'a committed', 'b written', 'b committed']);
    });

    test('the first commits after a few turns, however many bring more', async () => {
      const all = [transaction('a')];
      for (let turn = 0; turn < 20; turn += 1) {
        all.push(transaction(`turn ${turn}`));
        await nextTurn();
      }
      await Promise.all(all);
      expect(seen.indexOf('a committed')).toBeLessThan(seen.indexOf('turn 10 written'));
    });
  });

  test.each(['first', 'behind another'])(
    'a transaction that awaits anything but the store times out, and the others continue: %s',
    async (place) => {
      const isFirst = place === 'first';
      const before = isFirst ? undefined : database.transaction((tx) => insert(tx, 'before'));
      let attempts = 0;
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      let reached: (() => void) | undefined;
      const waiting = new Promise<void>((resolve) => {
        reached = resolve;
      });
      const stuck = database.transaction(async (tx) => {
        attempts += 1;
        await insert(tx, 'stuck');
        reached?.();
        await new Promise(() => {});
      });
      const neighbour = database.transaction((tx) => insert(tx, 'neighbour'));
      const outcome = stuck.catch((error: unknown) => error);
      await waiting;
      vi.advanceTimersByTime(5_000);
      expect(String(await outcome)).toMatch(/may await nothing but the store/);
      await Promise.all([before, neighbour]);
      const kept = await database.all<{ id: string }>(sql`select id from notes order by id`);
      expect(kept.map(({ id }) => id)).toEqual(isFirst ? ['neighbour'] : ['before', 'neighbour']);
      expect(attempts).toBe(1);
    },
  );

  test('transactions beyond the bound of the queue are rejected', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10_001 }, (_, index) =>
        database.transaction((tx) => insert(tx, `n${index}`)),
      ),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toBeInstanceOf(StorageUnavailable);
    expect(await count()).toEqual({ n: 10_000 });
  });

  test('a commit that SQLite refuses rejects the whole group, and the next group succeeds', async () => {
    await database.transaction((tx) =>
      tx.script(
        'create table replies (note text references notes (id) deferrable initially deferred)',
      ),
    );
    const orphan = database.transaction((tx) =>
      tx.run(sql`insert into replies values (${'none'})`),
    );
    const neighbour = database.transaction((tx) => insert(tx, 'neighbour'));
    await expect(orphan).rejects.toThrow(StorageUnavailable);
    await expect(neighbour).rejects.toThrow(StorageUnavailable);
    expect(await count()).toEqual({ n: 0 });
    await database.transaction((tx) => insert(tx, 'next'));
    expect(await count()).toEqual({ n: 1 });
  });

  test('while another process writes, a transaction rejects as unavailable, and succeeds afterwards', async () => {
    const other = new DatabaseSync(location);
    other.exec('begin immediate');
    const refused = [1, 2, 3].map((n) => database.transaction((tx) => insert(tx, `n${n}`)));
    for (const each of refused) await expect(each).rejects.toThrow(StorageUnavailable);
    other.exec('rollback');
    other.close();
    await database.transaction((tx) => insert(tx, 'a'));
    expect(await count()).toEqual({ n: 1 });
  });

  test('a statement is prepared once per connection, however often it runs', async () => {
    const write = (id: string) => database.transaction((tx) => insert(tx, id));
    await write('warm');
    await count();
    const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
    onTestFinished(() => prepare.mockRestore());
    for (let n = 0; n < 20; n++) {
      await write(`n${n}`);
      await count();
    }
    expect(prepare).not.toHaveBeenCalled();
  });

  test('checkpoints run while the service works, so the log stays bounded', async () => {
    const page = new Uint8Array(64 * 1024);
    await database.transaction((tx) => tx.script('create table pages (n integer, bytes blob)'));
    for (let n = 0; n < 800; n++) {
      await database.transaction((tx) => tx.run(sql`insert into pages values (${n}, ${page})`));
    }
    const other = new DatabaseSync(location, { readOnly: true });
    const log = other.prepare('pragma wal_checkpoint(noop)').get();
    other.close();
    expect(log?.['log']).toBeLessThan(9_000);
    expect(await database.get(sql`select count(*) as n from pages`)).toEqual({ n: 800 });
  });

  test('a script that ends the transaction is refused', async () => {
    const script = database.transaction((tx) => tx.script('commit'));
    await expect(script).rejects.toThrow(/must not commit/);
    await database.transaction((tx) => insert(tx, 'a'));
    expect(await count()).toEqual({ n: 1 });
  });

  test('a path that cannot be opened is named in the error', async () => {
    const nowhere = openTestDatabase('sqlite', { location: '/nonexistent/convoke.db' });
    await expect(nowhere).rejects.toThrow('/nonexistent/convoke.db: cannot open the database');
  });
});
