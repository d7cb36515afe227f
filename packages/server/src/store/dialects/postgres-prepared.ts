import type { Statement } from '../sql-database.ts';
import { renderSql } from '../sql.ts';
import type { WireQuery } from './postgres-batch.ts';

/**
 * PostgreSQL keeps a named statement for as long as the connection lives, and lists of varying length make ever new
 * texts: past this bound a text gets no name and is parsed each time. With the four names that begin, scope and commit,
 * it is a thousand.
 */
const namesMax = 996;

type KnownQueries = WeakMap<readonly string[], { readonly text: string; readonly name?: string }>;

/** Renders and names each template once; all connections of the pool use the same names. */
export class PreparedQueries {
  #plain: KnownQueries = new WeakMap();
  #changingOne: KnownQueries = new WeakMap();
  #generation = 1;
  #names = 0;

  query(statement: Statement): WireQuery {
    return this.#named(this.#plain, statement, (text) => text);
  }

  /** The statement, failing unless it changes exactly one row: the count is no number when it is another. */
  changingOne(statement: Statement): WireQuery {
    return this.#named(
      this.#changingOne,
      statement,
      (text) =>
        `with changed as (${text} returning 1) select case count(*) when 1 then 1
          else cast(count(*) || ' rows changed instead of one' as bigint) end from changed`,
    );
  }

  /** Gives every text a new name, so that every connection prepares it again. */
  renew(): void {
    this.#plain = new WeakMap();
    this.#changingOne = new WeakMap();
    this.#generation++;
    this.#names = 0;
  }

  #named(
    known: KnownQueries,
    { strings, values }: Statement,
    wrap: (text: string) => string,
  ): WireQuery {
    let query = known.get(strings);
    if (query === undefined) {
      const text = wrap(renderSql(strings, 'postgres'));
      query = this.#names < namesMax ? { text, name: this.#nextName() } : { text };
      known.set(strings, query);
    }
    return { ...query, values };
  }

  #nextName(): string {
    return `convoke_${this.#generation}_${++this.#names}`;
  }
}
