import { describe, expect, test } from 'vitest';
import { renderSql, sql } from '../../src/store/sql.ts';

const render = (statement: ReturnType<typeof sql>) => ({
  sqlite: renderSql(statement.strings, 'sqlite'),
  postgres: renderSql(statement.strings, 'postgres'),
  values: statement.values,
});

describe('the sql tag (architecture idea 5)', () => {
  test('a value is bound and never becomes text', () => {
    const hostile = `'; drop table runs; --`;
    const statement = sql`select id from runs where id = ${hostile} and seq > ${7}`;
    expect(render(statement)).toEqual({
      sqlite: 'select id from runs where id = ? and seq > ?',
      postgres: 'select id from runs where id = $1 and seq > $2',
      values: [hostile, 7],
    });
  });

  test('a nested statement is inlined and its values keep their order', () => {
    const newer = sql`seq > ${3} and kind = ${'delta'}`;
    const statement = sql`select seq from events where run_id = ${'r'} and (${newer}) limit ${10}`;
    expect(render(statement)).toEqual({
      sqlite: 'select seq from events where run_id = ? and (seq > ? and kind = ?) limit +?',
      postgres: 'select seq from events where run_id = $1 and (seq > $2 and kind = $3) limit $4',
      values: ['r', 3, 'delta', 10],
    });
  });

  test('statements are joined with a separator, and an empty list is refused', () => {
    const ids = ['a', 'b', 'c'].map((id) => sql`${id}`);
    expect(render(sql`id in (${sql.join(ids)})`)).toMatchObject({
      postgres: 'id in ($1, $2, $3)',
      values: ['a', 'b', 'c'],
    });
    expect(render(sql.join([sql`a = ${1}`, sql`b is null`], ' and '))).toMatchObject({
      sqlite: 'a = ? and b is null',
      values: [1],
    });
    expect(() => sql.join([])).toThrow(RangeError);
  });

  test('row locks are text on PostgreSQL and nothing on SQLite', () => {
    expect(render(sql`select 1 ${sql.forUpdate}`)).toMatchObject({
      sqlite: 'select 1 ',
      postgres: 'select 1 for update',
    });
    expect(render(sql`select ${1} ${sql.forUpdateSkipLocked}`)).toMatchObject({
      sqlite: 'select ? ',
      postgres: 'select $1 for update skip locked',
    });
  });

  test('a limit is an expression on SQLite, which plans again at each use of a bare one', () => {
    expect(render(sql`select 1 limit ${5} offset ${6}`)).toMatchObject({
      sqlite: 'select 1 limit +? offset ?',
      postgres: 'select 1 limit $1 offset $2',
    });
    expect(render(sql`select 1 limit 5`)).toMatchObject({ sqlite: 'select 1 limit 5' });
  });

  test('on SQLite a write copies no pages to undo one statement: its failure dooms all', () => {
    expect(render(sql`insert into notes (id) values (${1})`)).toMatchObject({
      sqlite: 'insert or fail into notes (id) values (?)',
      postgres: 'insert into notes (id) values ($1)',
    });
    expect(render(sql`update notes set id = ${1}`)).toMatchObject({
      sqlite: 'update or fail notes set id = ?',
      postgres: 'update notes set id = $1',
    });
    const upsert = sql`insert into notes (id) values (${1}) on conflict (id) do update set id = 2`;
    expect(render(upsert).sqlite).toBe(
      'insert or fail into notes (id) values (?) on conflict (id) do update set id = 2',
    );
  });

  test('the same text has the same identity, composed or not', () => {
    const plain = (id: string) => sql`select ${id}`;
    const composed = (id: string) =>
      sql`select id from runs where ${sql`id = ${id}`} ${sql.forUpdate}`;
    expect(plain('a').strings).toBe(plain('b').strings);
    expect(composed('a').strings).toBe(composed('b').strings);
    expect(composed('a').strings).not.toBe(plain('a').strings);
  });

  test('texts with placeholders in different positions have different identities', () => {
    const one = sql`${sql`a`}b = ${1}`;
    const other = sql`${sql`a`}b = ${1}${2}`;
    expect(one.strings).not.toBe(other.strings);
    expect(render(other).sqlite).toBe('ab = ??');
  });

  test('a template has one text for each way in which it is composed', () => {
    const both = (a: number | typeof name, b: number | typeof name) => sql`f(${a}, ${b})`;
    const name = sql`x`;
    const texts = [both(1, name), both(name, 1), both(name, name), both(1, 2), both(name, sql`y`)];
    const expected = ['f(?, x)', 'f(x, ?)', 'f(x, x)', 'f(?, ?)', 'f(x, y)'];
    expect(texts.map((text) => render(text).sqlite)).toEqual(expected);
    // Again, from the texts that are known by now.
    expect([both(1, name), both(name, 1)].map((text) => render(text).sqlite)).toEqual([
      'f(?, x)',
      'f(x, ?)',
    ]);
  });

  test.each([undefined, true, false, Number.NaN, Number.POSITIVE_INFINITY, 1n, Symbol('s')])(
    'a value that no column can hold is refused by the tag: %s',
    (value) => {
      // @ts-expect-error Most of these are refused by the types already; this tests untyped callers.
      expect(() => sql`select ${value}`).toThrow(TypeError);
    },
  );
});
