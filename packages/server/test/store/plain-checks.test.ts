import { runStatuses, sessionStatuses } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Transaction } from '../../src/store/sql-database.ts';
import { sql } from '../../src/store/sql.ts';
import { databaseKinds } from '../support/databases.ts';
import { fillTables } from '../support/one-row-each.ts';
import { type RunFixture, createRunFixture } from '../support/run-fixture.ts';

/** A change of each checked column, of the one row that its table has. */
const changes = {
  run: (status: string) => sql`update runs set status = ${status}`,
  session: (status: string) => sql`update sessions set status = ${status}`,
  call: (status: string) => sql`update tool_calls set status = ${status}`,
  'touch of a call': (touches: string) => sql`update tool_calls set touches = ${touches}`,
  delivery: (status: string) => sql`update webhook_deliveries set status = ${status}`,
};
const allowed = {
  run: runStatuses,
  session: sessionStatuses,
  call: ['begun', 'ended', 'left', 'again'],
  'touch of a call': ['workspace', 'outside', 'both'],
  delivery: ['pending', 'sending', 'delivered', 'failed', 'blocked'],
};
const names = ['run', 'session', 'call', 'touch of a call', 'delivery'] as const;

describe.each(databaseKinds)('the checks of %s', (kind) => {
  let world: RunFixture;

  beforeAll(async () => {
    world = await createRunFixture(kind);
    await fillTables(world, world.scope);
  });

  /** What the database says to a change, which is never kept. */
  async function answerTo(name: (typeof names)[number], value: string): Promise<string> {
    const attempt = world.database.transaction(async (tx: Transaction) => {
      const changed = await tx.run(changes[name](value));
      throw new Error(`changed ${changed}`);
    });
    return attempt.catch((error: unknown) => String(error));
  }

  test.each(names)('accept every value of a %s, and no other', async (name) => {
    for (const value of allowed[name]) expect(await answerTo(name, value)).toBe('Error: changed 1');
    expect(await answerTo(name, 'lost')).toMatch(/check/i);
    expect(await answerTo(name, '')).toMatch(/check/i);
  });
});

describe('on SQLite', () => {
  test.each(names)('the check of a %s makes no temporary table', async (name) => {
    const { database } = await createRunFixture('sqlite');
    // Only a connection that may write knows the checks.
    const steps = await database.transaction((tx) =>
      tx.all<{ opcode: string }>(sql`explain ${changes[name]('')}`),
    );
    expect(steps.map(({ opcode }) => opcode)).not.toContain('OpenEphemeral');
  });

  test('the text of the schema cannot be changed, not even by a migration', async () => {
    const { database } = await createRunFixture('sqlite');
    const tables = () =>
      database.all(sql`select name, sql from sqlite_schema where type = 'table' order by name`);
    const before = await tables();
    const edit = `
      pragma writable_schema = on;
      update sqlite_schema set sql = replace(sql, 'status = ', 'status is ') where name = 'runs';`;
    await expect(database.transaction((tx) => tx.script(edit))).rejects.toThrow(
      /may not be modified/,
    );
    expect(await tables()).toEqual(before);
  });
});
