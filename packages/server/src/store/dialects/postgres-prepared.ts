import type { QueryConfig } from 'pg';
import type { Statement } from '../sql-database.ts';
import { renderSql } from '../sql.ts';

/**
 * PostgreSQL keeps a named statement for as long as the connection lives, and lists of varying length make ever new
 * texts: past this bound a text gets no name and is parsed each time.
 */
const namesMax = 1_000;

/** Renders and names each template once; all connections of the pool use the same names. */
export class PreparedQueries {
  #known = new WeakMap<readonly string[], { text: string; name?: string }>();
  #generation = 1;
  #names = 0;

  query(statement: Statement): QueryConfig {
    const { strings, values } = statement;
    let known = this.#known.get(strings);
    if (known === undefined) {
      const text = renderSql(strings, 'postgres');
      known = this.#names < namesMax ? { text, name: this.#nextName() } : { text };
      this.#known.set(strings, known);
    }
    return { ...known, values: [...values] };
  }

  /** Gives every text a new name, so that every connection prepares it again. */
  renew(): void {
    this.#known = new WeakMap();
    this.#generation++;
    this.#names = 0;
  }

  #nextName(): string {
    return `convoke_${this.#generation}_${++this.#names}`;
  }
}
