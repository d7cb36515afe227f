import { columnNames, sql } from '../../src/store/sql.ts';
import type { RunFixture } from './run-fixture.ts';

export interface CopiedRows {
  readonly table: string;
  readonly count: number;
  /** The prefix of these columns in each copy, before its number from 1; of a `number`, nothing. */
  readonly changed: Readonly<Record<string, string>>;
}

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
  await database.transaction(async (tx) => {
    await tx.run(sql`
      with recursive n(i) as (
        select 1 union all select i + 1 from n where i < cast(${count} as bigint)
      )
      insert into ${name} (${columnNames(columns)})
      select ${columnNames(copied)} from n cross join ${name}`);
    await tx.run(sql`analyze ${name}`);
  });
}
