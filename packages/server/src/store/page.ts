import type { PageRequest } from '../ports/page.ts';
import type { Statement } from './sql-database.ts';
import { sql } from './sql.ts';

const columns = {
  id: sql`id`,
  interaction_key: sql`interaction_key`,
  user_id: sql`m.user_id`,
};

/** The end of a list statement: rows after the cursor, in order, at most `limit`. Ids sort by age (D-01). */
export function pageOf(page: PageRequest, column: keyof typeof columns): Statement {
  const { limit, order, after } = page;
  const id = columns[column];
  if (order === 'asc') {
    if (after === undefined) return sql`order by ${id} limit ${limit}`;
    return sql`and ${id} > ${after} order by ${id} limit ${limit}`;
  }
  if (after === undefined) return sql`order by ${id} desc limit ${limit}`;
  return sql`and ${id} < ${after} order by ${id} desc limit ${limit}`;
}
