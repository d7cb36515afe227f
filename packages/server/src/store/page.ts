import { limits } from '@convoke/contract';
import type { CutPage, PageRequest } from '../ports/page.ts';
import type { Reader, Statement } from './sql-database.ts';
import { sql } from './sql.ts';

const columns = {
  id: sql`id`,
  interaction_key: sql`interaction_key`,
  user_id: sql`m.user_id`,
  owner_id: sql`labels.owner_id`,
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

/** A list whose rows may be large. */
interface LargeRows {
  readonly table: 'runs' | 'interactions';
  readonly key: 'id' | 'interaction_key';
  readonly columns: Statement;
  /** Columns that may be large; the others are small by their own bounds. */
  readonly large: readonly Statement[];
  readonly where: Statement;
  readonly page: PageRequest;
}

/**
 * Reads the rows of a page whose large columns fit into `limits.pageMaxBytes` together (D-276); the first is read
 * whatever its size. The database adds up the lengths, which it knows without reading the columns, so what does not fit
 * is never in this process.
 */
export async function readLarge<Row>(db: Reader, list: LargeRows): Promise<CutPage<Row>> {
  const { key, page } = list;
  const [table, id] = [tables[list.table], columns[key]];
  const sizes = list.large.map((column) => sql`coalesce(octet_length(${column}), 0)`);
  const direction = page.order === 'asc' ? sql`` : sql`desc`;
  const rows = await db.all<Row & FoundRows>(sql`
    select ${list.columns}, fitting.found from (
      select ${id} as fitting_id, size, count(*) over () as found,
        sum(size) over (order by ${id} ${direction}) as size_so_far
      from (select ${id}, ${sql.join(sizes, ' + ')} as size from ${table}
        where ${list.where} ${pageOf(page, key)}) as listed) as fitting
    join ${table} on ${id} = fitting.fitting_id
    where size_so_far <= ${limits.pageMaxBytes} or size_so_far = size
    order by ${id} ${direction}`);
  return { items: rows, isCut: rows.length < (rows[0]?.found ?? 0) };
}

interface FoundRows {
  /** How many rows the page would have without the bound. */
  readonly found: number;
}

const tables = { runs: sql`runs`, interactions: sql`interactions` };
