import { columnNames, sql } from '../../src/store/sql.ts';
import type { RunFixture } from './run-fixture.ts';

export interface CopiedRows {
  readonly table: string;
  readonly count: number;
  /** The prefix of these columns in each copy, before its number from 1; of a `number`, nothing. */
  readonly changed: Readonly<Record<string, string>>;
}

/** One statement for all would reach the time limit of statements on a slow machine. */
const rowsOfStatement = 1_000;

/** Copies the only row of a table many times: thousands of runs that sleep are there in a moment. */
export async function copyRows(
  { database }: Pick<RunFixture, 'database'>,
  { table, count, changed }: CopiedRows,
): Promise<void> {
  const name = columnNames([table]);
  const [row] = await database.all<Record<string, unknown>>(sql`select * from ${name}`);
  const columns = Object.keys(row ?? {});
  const copied = columns.map((column) => {
    const prefix = changed[column];
    if (prefix === undefined || row?.[column] === null) return column;
    return column === 'number' ? 'n.i + 1' : `'${prefix}' || cast(n.i as text)`;
  });
  const key = row?.['id'] as string;
  await database.transaction(async (tx) => {
    for (let from = 1; from <= count; from += rowsOfStatement) {
      const to = Math.min(from + rowsOfStatement - 1, count);
      await tx.run(sql`
        with recursive n(i) as (
          select cast(${from} as bigint) union all select i + 1 from n where i < cast(${to} as bigint)
        )
        insert into ${name} (${columnNames(columns)})
        select ${columnNames(copied)} from n cross join ${name} where id = ${key}`);
    }
    await tx.run(sql`analyze ${name}`);
  });
}
