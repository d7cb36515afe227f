import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import type { MigratableDatabase } from '../../src/store/migrate.ts';
import { UniqueViolation, type Reader, type Transaction } from '../../src/store/sql-database.ts';
import { sql } from '../../src/store/sql.ts';
import { createLocation, databaseKinds, openTestDatabase } from '../support/databases.ts';

const schema = `
  create table counters (id text primary key, n bigint not null);
  create table notes (id text primary key, slug text unique, body text, bytes BYTES, parent text references notes (id));`;

describe.each(databaseKinds)('a %s database', (kind) => {
  let database: MigratableDatabase;
  const reports: unknown[] = [];

  beforeAll(async () => {
    database = await openTestDatabase(kind, { report: (_message, error) => reports.push(error) });
    const bytes = kind === 'sqlite' ? 'blob' : 'bytea';
    await database.transaction((tx) => tx.script(schema.replace('BYTES', bytes)));
  });

  beforeEach(async () => {
    reports.length = 0;
    await database.transaction((tx) => tx.script('delete from notes; delete from counters;'));
  });

  const insert = (tx: Transaction, id: string) =>
    tx.run(sql`insert into notes (id) values (${id})`);
  const ids = async () => {
    const rows = await database.all<{ id: string }>(sql`select id from notes order by id`);
    return rows.map((row) => row.id);
  };

  test('a transaction that throws rolls back its own work and no other', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        database.transaction(async (tx) => {
          await insert(tx, `note-${String(index).padStart(2, '0')}`);
          if (index % 10 === 3) throw new Error(`refused ${index}`);
          return index;
        }),
      ),
    );
    const refused = outcomes.flatMap((outcome, index) =>
      outcome.status === 'rejected' ? [{ index, reason: String(outcome.reason) }] : [],
    );
    expect(refused).toEqual(
      [3, 13, 23, 33].map((index) => ({ index, reason: `Error: refused ${index}` })),
    );
    expect(await ids()).toHaveLength(36);
    expect(await ids()).not.toContain('note-13');
  });

  test('a read outside a transaction sees committed rows only', async () => {
    await database.transaction(async (tx) => {
      await insert(tx, 'draft');
      expect(await tx.get(sql`select id from notes`)).toEqual({ id: 'draft' });
      expect(await database.get(sql`select id from notes`)).toBeUndefined();
    });
    expect(await ids()).toEqual(['draft']);
  });

  test('effects run in order, after the commit and before the caller continues', async () => {
    const seen: string[] = [];
    const visible: Promise<unknown>[] = [];
    await database.transaction(async (tx) => {
      tx.onCommit(() => visible.push(database.get(sql`select id from notes`)));
      await insert(tx, 'a');
      tx.onCommit(() => seen.push('second'));
      tx.onCommit(() => seen.push('third'));
      expect(seen).toEqual([]);
    });
    seen.push('caller');
    expect(seen).toEqual(['second', 'third', 'caller']);
    expect(await Promise.all(visible)).toEqual([{ id: 'a' }]);
  });

  test('a rolled back transaction has no effects', async () => {
    const seen: string[] = [];
    const refused = database.transaction(async (tx) => {
      tx.onCommit(() => seen.push('effect'));
      await insert(tx, 'a');
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    expect(seen).toEqual([]);
  });

  test('an error of an effect is reported and reaches neither the caller nor the next effect', async () => {
    const seen: string[] = [];
    await database.transaction(async (tx) => {
      tx.onCommit(() => {
        throw new Error('no listener');
      });
      tx.onCommit(() => seen.push('next'));
    });
    expect(seen).toEqual(['next']);
    expect(reports).toEqual([new Error('no listener')]);
  });

  test('fifty transactions that read and then write one row lose no update', async () => {
    await database.transaction((tx) => tx.run(sql`insert into counters values (${'c'}, ${0})`));
    const read = sql`select n from counters where id = ${'c'} ${sql.forUpdate}`;
    await Promise.all(
      Array.from({ length: 50 }, () =>
        database.transaction(async (tx) => {
          const row = await tx.get<{ n: number }>(read);
          await tx.run(sql`update counters set n = ${(row?.n ?? 0) + 1} where id = ${'c'}`);
        }),
      ),
    );
    expect(await database.get(sql`select n from counters`)).toEqual({ n: 50 });
  });

  test('more transactions than one group or one pool holds are all served', async () => {
    // A group has 256. Transactions that wait for one of ten connections are refused after five seconds.
    const count = kind === 'sqlite' ? 600 : 60;
    const all = Array.from({ length: count }, (_, index) =>
      database.transaction((tx) => insert(tx, `n${index}`)),
    );
    expect(new Set(await Promise.all(all))).toEqual(new Set([1]));
    expect(await ids()).toHaveLength(count);
  });

  test('a second row under a primary or unique key is a unique violation that names the key', async () => {
    const add = (id: string, slug: string) =>
      database.transaction((tx) =>
        tx.run(sql`insert into notes (id, slug) values (${id}, ${slug})`),
      );
    await add('a', 'one');
    const sameId = await add('a', 'two').catch((error: unknown) => error);
    const sameSlug = await add('b', 'one').catch((error: unknown) => error);
    expect(sameId).toBeInstanceOf(UniqueViolation);
    expect(sameSlug).toBeInstanceOf(UniqueViolation);
    expect(sameId).toHaveProperty('constraint', kind === 'sqlite' ? 'notes.id' : 'notes_pkey');
    expect(sameSlug).toHaveProperty(
      'constraint',
      kind === 'sqlite' ? 'notes.slug' : 'notes_slug_key',
    );
    expect(await ids()).toEqual(['a']);
  });

  test('a row without its parent is refused, and not as a unique violation', async () => {
    const orphan = database.transaction((tx) =>
      tx.run(sql`insert into notes (id, parent) values (${'a'}, ${'nobody'})`),
    );
    await expect(orphan).rejects.toThrow(/foreign key/i);
    await expect(orphan).rejects.not.toBeInstanceOf(UniqueViolation);
  });

  test('a failed statement dooms its transaction even when the caller swallows the error', async () => {
    const swallowing = database.transaction(async (tx) => {
      await insert(tx, 'a');
      await insert(tx, 'a').catch(() => {});
    });
    await expect(swallowing).rejects.toBeInstanceOf(UniqueViolation);
    const goingOn = database.transaction(async (tx) => {
      await insert(tx, 'b');
      await insert(tx, 'b').catch(() => {});
      await insert(tx, 'c');
    });
    await expect(goingOn).rejects.toThrow(/earlier statement/);
    expect(await ids()).toEqual([]);
  });

  test('a statement whose last row is refused keeps none, and the others of its commit are kept', async () => {
    // The first time without savepoints on SQLite, the second time with them.
    for (const round of ['x', 'y']) {
      const outcomes = await Promise.allSettled([
        database.transaction((tx) => insert(tx, `${round}1`)),
        database.transaction(async (tx) => {
          const rows = [`${round}2`, `${round}3`, `${round}2`].map((id) => sql`(${id})`);
          await tx.run(sql`insert into notes (id) values ${sql.join(rows)}`).catch(() => {});
        }),
        database.transaction((tx) => insert(tx, `${round}4`)),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    }
    expect(await ids()).toEqual(['x1', 'x4', 'y1', 'y4']);
  });

  test('statements that are issued together, and writes that nothing awaits, happen in their order', async () => {
    const seen = await database.transaction(async (tx) => {
      tx.later(sql`insert into counters values (${'c'}, ${1})`);
      const [changes, row] = await Promise.all([
        tx.run(sql`update counters set n = n + ${1} where id = ${'c'}`),
        tx.get(sql`select n from counters where id = ${'c'}`),
      ]);
      tx.changeOneLater(sql`update counters set n = n * ${10} where id = ${'c'}`);
      return { changes, row };
    });
    expect(seen).toEqual({ changes: 1, row: { n: 2 } });
    expect(await database.all(sql`select n from counters`)).toEqual([{ n: 20 }]);
  });

  test('a write that nothing awaits and that fails keeps nothing of its transaction', async () => {
    const effects: string[] = [];
    const insert = sql`insert into counters values (${'c'}, ${1})`;
    const last = database.transaction(async (tx) => {
      tx.onCommit(() => effects.push('effect'));
      tx.later(insert);
      tx.later(insert);
    });
    await expect(last).rejects.toThrow(UniqueViolation);
    const before = database.transaction(async (tx) => {
      tx.later(insert);
      tx.later(insert);
      await tx.get(sql`select n from counters`);
    });
    await expect(before).rejects.toThrow(UniqueViolation);
    expect(await database.all(sql`select n from counters`)).toEqual([]);
    expect(effects).toEqual([]);
  });

  test.each([0, 2])(
    'a write that must change one row and changes %i fails its transaction',
    async (rows) => {
      const change = database.transaction(async (tx) => {
        for (let n = 0; n < rows; n++) {
          tx.later(sql`insert into counters values (${`c${n}`}, ${1})`);
        }
        tx.changeOneLater(sql`update counters set n = ${2} where n = ${1}`);
      });
      await expect(change).rejects.toThrow(`${rows} rows changed instead of one`);
      expect(await database.all(sql`select n from counters`)).toEqual([]);
    },
  );

  test('`on conflict do nothing` does not doom the transaction', async () => {
    const changed = await database.transaction(async (tx) => [
      await tx.run(sql`insert into notes (id) values (${'a'}) on conflict do nothing`),
      await tx.run(sql`insert into notes (id) values (${'a'}) on conflict do nothing`),
      await tx.run(sql`update notes set body = ${'x'} where id in (${'a'}, ${'b'})`),
    ]);
    expect(changed).toEqual([1, 0, 1]);
  });

  test('a transaction that has ended refuses to be used', async () => {
    let kept: Transaction | undefined;
    await database.transaction(async (tx) => {
      kept = tx;
    });
    await expect(kept?.run(sql`insert into notes (id) values (${'late'})`)).rejects.toThrow(
      /ended/,
    );
    expect(() => kept?.onCommit(() => {})).toThrow(/ended/);
    expect(await ids()).toEqual([]);
  });

  test('work that throws before its first await rejects its transaction', async () => {
    const refused = database.transaction(() => {
      throw new Error('at once');
    });
    await expect(refused).rejects.toThrow('at once');
  });

  test('any text of an agent, stored as JSON text, is returned byte for byte', async () => {
    const said = {
      nul: 'a\u0000b',
      emoji: '👩‍🚀',
      lone: '\ud800',
      line: '\u2028\r\n',
      quote: `'"\\`,
    };
    const text = JSON.stringify(said);
    await database.transaction((tx) =>
      tx.run(sql`insert into notes (id, body) values (${'a'}, ${text})`),
    );
    const row = await database.get<{ body: string }>(sql`select body from notes`);
    expect(row?.body).toBe(text);
    expect(JSON.parse(row?.body ?? '')).toEqual(said);
  });

  test('a column added while the service runs does not break prepared statements', async () => {
    const read = (reader: Reader) => reader.get(sql`select * from counters where n > ${0}`);
    await database.transaction((tx) => tx.run(sql`insert into counters values (${'c'}, ${1})`));
    for (let n = 0; n < 3; n++) await Promise.all([read(database), database.transaction(read)]);
    await database.transaction((tx) => tx.script('alter table counters add column late text'));
    const widened = { id: 'c', n: 1, late: null };
    expect(await database.transaction(read)).toEqual(widened);
    expect(await Promise.all(Array.from({ length: 12 }, () => read(database)))).toEqual(
      Array.from({ length: 12 }, () => widened),
    );
    await database.transaction((tx) => tx.script('alter table counters drop column late'));
    expect(await read(database)).toEqual({ id: 'c', n: 1 });
  });

  test('bytes, null and every safe integer are returned as they were stored', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await database.transaction(async (tx) => {
      await tx.run(sql`insert into notes (id, body, bytes) values (${'a'}, ${null}, ${bytes})`);
      await tx.run(sql`insert into counters values (${'big'}, ${Number.MAX_SAFE_INTEGER})`);
      await tx.run(sql`insert into counters values (${'time'}, ${-1})`);
    });
    const row = await database.get<{ body: null; bytes: Uint8Array }>(
      sql`select body, bytes from notes`,
    );
    expect(row?.body).toBeNull();
    expect(Uint8Array.from(row?.bytes ?? [])).toEqual(bytes);
    expect(
      await database.get(sql`select max(n) as max, count(*) as count, sum(n) as sum from counters`),
    ).toEqual({ max: Number.MAX_SAFE_INTEGER, count: 2, sum: Number.MAX_SAFE_INTEGER - 1 });
  });

  test('closing finishes pending transactions and rejects later ones', async () => {
    const location = await createLocation(kind);
    const closing = await openTestDatabase(kind, { location });
    const add = (n: number) =>
      closing.transaction((tx) => tx.run(sql`insert into counters values (${'c'}, ${n})`));
    await closing.transaction((tx) => tx.script('create table counters (id text, n bigint)'));

    const asked = Promise.all([1, 2, 3].map(add));
    await Promise.all([closing.close(), closing.close(), asked]);
    await expect(add(4)).rejects.toThrow(StorageUnavailable);
    await expect(closing.all(sql`select n from counters`)).rejects.toThrow(StorageUnavailable);

    const reopened = await openTestDatabase(kind, { location });
    expect(await reopened.get(sql`select sum(n) as sum from counters`)).toEqual({ sum: 6 });
  });
});
