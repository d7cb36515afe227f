import { connect, createServer, type Socket } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { openPostgres } from '../../src/store/dialects/postgres.ts';
import type { MigratableDatabase } from '../../src/store/migrate.ts';
import type { Transaction } from '../../src/store/sql-database.ts';
import { sql } from '../../src/store/sql.ts';
import { PostgresServer } from '../faults/support/postgres-server.ts';
import { createLocation, openTestDatabase } from '../support/databases.ts';
import { query } from '../support/postgres-databases.ts';
import { administer } from '../support/postgres-databases.ts';

let location: string;
let database: MigratableDatabase;

beforeAll(async () => {
  location = await createLocation('postgres');
  database = await openTestDatabase('postgres', { location });
  await database.transaction((tx) =>
    tx.script('create table notes (id text primary key, n bigint)'),
  );
});

const insert = (tx: Transaction, id: string) =>
  tx.run(sql`insert into notes (id, n) values (${id}, ${0})`);
const ids = async () => {
  const rows = await database.all<{ id: string }>(sql`select id from notes`);
  return new Set(rows.map((row) => row.id));
};
const terminateAll = () =>
  administer(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${new URL(location).pathname.slice(1)}'`,
  );

describe('PostgreSQL', () => {
  test('connections killed under load lose no acknowledged commit, and the service recovers on its own (D-321)', async () => {
    const acknowledged: string[] = [];
    const failures: unknown[] = [];
    let stop = false;
    const write = async (writer: number) => {
      for (let n = 0; !stop; n++) {
        const id = `load-${writer}-${n}`;
        await database
          .transaction((tx) => insert(tx, id))
          .then(
            () => acknowledged.push(id),
            (error: unknown) => failures.push(error),
          );
      }
    };
    const writers = Array.from({ length: 8 }, (_, writer) => write(writer));
    for (let round = 1; round <= 5; round++) {
      await expect.poll(() => acknowledged.length).toBeGreaterThan(round * 50);
      await terminateAll();
    }
    await expect.poll(() => acknowledged.length).toBeGreaterThan(300);
    stop = true;
    await Promise.all(writers);
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.filter((error) => !(error instanceof StorageUnavailable))).toEqual([]);
    const kept = await ids();
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });

  test('killed idle connections are replaced without reopening the database', async () => {
    const outcomes: unknown[] = [];
    await terminateAll();
    await expect
      .poll(async () => {
        const outcome = await ids().catch((error: unknown) => error);
        outcomes.push(outcome);
        return outcome;
      })
      .toBeInstanceOf(Set);
    const errors = outcomes.filter((outcome) => outcome instanceof Error);
    expect(errors.every((error) => error instanceof StorageUnavailable)).toBe(true);
  });

  test('a connection lost inside a transaction keeps nothing of it', async () => {
    const lost = database.transaction(async (tx) => {
      await insert(tx, 'half');
      await terminateAll();
      await insert(tx, 'other half');
    });
    await expect(lost).rejects.toThrow(StorageUnavailable);
    expect(await ids()).not.toContain('half');
  });

  test('a connection lost during the commit is neither reported as success nor retried', async () => {
    await database.transaction((tx) =>
      tx.script(`
        create table doomed (id text primary key);
        create function cut() returns trigger language plpgsql as
          $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
        create constraint trigger cut after insert on doomed
          deferrable initially deferred for each row execute function cut();`),
    );
    let runs = 0;
    const effects: string[] = [];
    const inDoubt = database.transaction(async (tx) => {
      runs++;
      tx.onCommit(() => effects.push('effect'));
      await tx.run(sql`insert into doomed values (${'a'})`);
    });
    await expect(inDoubt).rejects.toThrow(StorageUnavailable);
    await expect(inDoubt).rejects.toThrow(/during a commit/);
    expect({ runs, effects }).toEqual({ runs: 1, effects: [] });
  });

  test('a deadlock is resolved by running one of the two again', async () => {
    await database.transaction(async (tx) => {
      await insert(tx, 'left');
      await insert(tx, 'right');
    });
    const both = Promise.withResolvers<void>();
    let locked = 0;
    let runs = 0;
    let effects = 0;
    const add = (tx: Transaction, id: string) =>
      tx.run(sql`update notes set n = n + 1 where id = ${id}`);
    const cross = (first: string, second: string) =>
      database.transaction(async (tx) => {
        runs++;
        tx.onCommit(() => effects++);
        await add(tx, first);
        if (++locked === 2) both.resolve();
        await both.promise;
        await add(tx, second);
      });
    await Promise.all([cross('left', 'right'), cross('right', 'left')]);
    const rows = await database.all(sql`select n from notes where id in (${'left'}, ${'right'})`);
    expect(rows).toEqual([{ n: 2 }, { n: 2 }]);
    expect(runs).toBeGreaterThan(2);
    expect(effects).toBe(2);
  });

  test('a transaction that always deadlocks fails after three retries', async () => {
    let runs = 0;
    const raise = database.transaction(async (tx) => {
      runs++;
      await tx.script(`do $$ begin raise sqlstate '40P01'; end $$`);
    });
    await expect(raise).rejects.toThrow(StorageUnavailable);
    expect(runs).toBe(4);
  });

  test('a failed statement that was not awaited dooms its transaction', async () => {
    const careless = database.transaction(async (tx) => {
      await insert(tx, 'careless');
      insert(tx, 'careless').catch(() => {});
    });
    await expect(careless).rejects.toThrow(/duplicate key/);
    expect(await ids()).not.toContain('careless');
  });

  test('a statement that takes too long rejects as unavailable, and its connection survives', async () => {
    const slow = database.transaction(async (tx) => {
      await tx.script('set local statement_timeout = 20');
      await tx.script('select pg_sleep(10)');
    });
    await expect(slow).rejects.toThrow(StorageUnavailable);
    expect(await ids()).toBeInstanceOf(Set);
  });

  test('a server that stops answering is unavailable after five seconds, and is used again when it answers', async () => {
    const network = await startNetwork(location);
    const remote = await openTestDatabase('postgres', { location: network.url });
    network.cut();
    const started = performance.now();
    const silent = remote.transaction((tx) => insert(tx, 'silent'));
    await expect(silent).rejects.toThrow(StorageUnavailable);
    // The system itself would try for many minutes.
    expect(performance.now() - started).toBeLessThan(60_000);
    network.mend();
    await remote.transaction((tx) => insert(tx, 'mended'));
    expect(await ids()).toContain('mended');
  });

  test('values of any length, alphabet and number arrive as they were sent, in one message', async () => {
    const texts = [1, 1_000, 300_000].flatMap((length) => [
      'a'.repeat(length),
      'a'.repeat(length - 1) + 'é',
      '€'.repeat(length),
      '𝄞'.repeat(length),
    ]);
    texts.push('', '0', '\u007f\u0080', 'lone \ud800 surrogate');
    const sizes = [0, 1, 100_000];
    await database.transaction(async (tx) => {
      // Issued together, so they are one message of some megabytes.
      const [returned, bytes, numbers] = await Promise.all([
        Promise.all(texts.map((text) => tx.get(sql`select ${text}::text as text`))),
        Promise.all(
          sizes.map((size) =>
            tx.get(sql`select ${'é'}::text as text, ${new Uint8Array(size).fill(255)}::bytea as b`),
          ),
        ),
        tx.get(sql`select ${-1}::bigint as a, ${1.5}::float8 as b, ${null}::text as c`),
      ]);
      // UTF-8 has no lone surrogates.
      const stored = texts.map((text) => ({ text: text.toWellFormed() }));
      expect(returned).toEqual(stored);
      expect(bytes).toEqual(sizes.map((size) => ({ text: 'é', b: Buffer.alloc(size, 255) })));
      expect(numbers).toEqual({ a: -1, b: 1.5, c: null });
    });
    const values = Array.from({ length: 65_535 }, (_, n) => sql`${n}::int`);
    const count = sql`select cardinality(array[${sql.join(values)}]) as n`;
    expect(await database.get(count)).toEqual({ n: 65_535 });
  });

  test('a statement with too many values is refused before it is sent, and its connection serves the next', async () => {
    const values = Array.from({ length: 65_536 }, (_, n) => sql`${n}::int`);
    const tooMany = sql`select cardinality(array[${sql.join(values)}]) as n`;
    const single = await openPostgres({ url: location, report: () => {}, poolSize: 1 });
    onTestFinished(() => single.close());
    const process = () => single.get(sql`select pg_backend_pid() as id`);
    const first = await process();
    await expect(single.get(tooMany)).rejects.toThrow('65536 values');
    const refused = single.transaction(async (tx) => {
      await insert(tx, 'before the refusal');
      await tx.get(tooMany);
    });
    await expect(refused).rejects.toThrow('65536 values');
    await single.transaction((tx) => insert(tx, 'after the refusal'));
    // Nothing was waited for until it timed out, and no connection was replaced.
    expect(await process()).toEqual(first);
    expect(await ids()).toContain('after the refusal');
    expect(await ids()).not.toContain('before the refusal');
  });

  test('a template is prepared once per connection, however often it runs', async () => {
    await database.transaction(async (tx) => {
      for (let n = 0; n < 5; n++) await tx.get(sql`select ${n} as often`);
      const prepared = await tx.all(
        sql`select statement from pg_prepared_statements where statement like ${'%as often'}`,
      );
      expect(prepared).toEqual([{ statement: 'select $1 as often' }]);
    });
  });

  test('lists of varying length do not fill the server with prepared statements', async () => {
    await database.transaction(async (tx) => {
      for (let length = 1; length <= 1_100; length++) {
        const list = Array.from({ length }, () => sql`0`);
        await tx.get(sql`select 1 as one where 0 in (${sql.join(list)})`);
      }
      const prepared = await tx.get<{ n: number }>(
        sql`select count(*) as n from pg_prepared_statements`,
      );
      expect(prepared?.n).toBeLessThanOrEqual(1_000);
    });
  });

  test('a server that may lose an acknowledged commit is refused (D-320)', async () => {
    const forgetful = await createLocation('postgres');
    const name = new URL(forgetful).pathname.slice(1);
    await administer(`alter database ${name} set synchronous_commit = off`);
    await expect(openTestDatabase('postgres', { location: forgetful })).rejects.toThrow(
      /synchronous_commit is off/,
    );
  });

  test('a server that does not sync its disk is refused (D-320)', async () => {
    const careless = await PostgresServer.open();
    onTestFinished(() => careless.remove());
    await (await openPostgres({ url: careless.url, report: () => {} })).close();
    await query(careless.adminUrl, 'alter system set fsync = off');
    await query(careless.adminUrl, 'select pg_reload_conf()');
    await expect.poll(() => query(careless.adminUrl, 'show fsync')).toEqual([{ fsync: 'off' }]);
    const opened = openPostgres({ url: careless.url, report: () => {} });
    await expect(opened).rejects.toThrow(/fsync is off/);
  });

  test('an unreachable server is unavailable at once', async () => {
    const away = openPostgres({ url: 'postgres://postgres@127.0.0.1:1/none', report: () => {} });
    await expect(away).rejects.toThrow(StorageUnavailable);
  });
});

/** A proxy in front of PostgreSQL that can swallow every byte without closing anything. */
async function startNetwork(target: string) {
  const { hostname, port } = new URL(target);
  const sockets: Socket[] = [];
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(Number(port || 5432), hostname);
    sockets.push(near, far);
    near.on('data', (bytes) => isCut || far.write(bytes));
    far.on('data', (bytes) => isCut || near.write(bytes));
    for (const socket of [near, far]) socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = new URL(target);
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
    },
  };
}
