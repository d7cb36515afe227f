import type { SqlValue, Statement, Transaction } from './sql-database.ts';
import { sql } from './sql.ts';

/** Few batch sizes mean few statement texts to prepare; a batch of any length is split into these. */
const sizes = [64, 16, 4, 2, 1];

/**
 * Returns a function that inserts rows in batches. The texts are built once: building them for each batch would cost as
 * much as the insert. `head` ends before `values`, and `tail` follows the rows. Nothing waits for the rows: they go
 * with the next statement.
 */
export function rowInserter(head: Statement, columns: number, tail: Statement = sql``) {
  const row = sql`(${sql.join(Array.from({ length: columns }, () => sql`${''}`))})`;
  const batches = sizes.map((size) => {
    const rows = Array.from({ length: size }, () => row);
    return { size, strings: sql`${head} values ${sql.join(rows)} ${tail}`.strings };
  });
  return (db: Transaction, rows: readonly (readonly SqlValue[])[]): void => {
    let from = 0;
    for (const { size, strings } of batches) {
      for (; rows.length - from >= size; from += size) {
        db.later({ strings, values: valuesOf(rows, from, from + size) });
      }
    }
  };
}

/** The values of the rows from one position to before another. A loop: `flat` takes longer than the insert of a row. */
function valuesOf(rows: readonly (readonly SqlValue[])[], from: number, to: number): SqlValue[] {
  const values: SqlValue[] = [];
  for (let at = from; at < to; at += 1) for (const value of rows[at] ?? []) values.push(value);
  return values;
}
