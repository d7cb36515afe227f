import { fromJsonText, toJsonText } from './json-text.ts';
import { generated } from './row-maker.ts';
import type { SqlValue, Statement } from './sql-database.ts';
import { columnNames, sql } from './sql.ts';

/**
 * Which statements write a column: an insert leaves `changed` ones to their defaults, an update leaves `fixed` ones
 * alone.
 */
export type Written = 'always' | 'fixed' | 'changed';

interface Column<Noun> {
  readonly name: string;
  readonly kind: 'text' | 'bigint';
  readonly written: Written;
  /** Source of the bound value, where `noun` is the noun and `write` this function. */
  readonly source: string;
  readonly write?: (noun: Noun) => SqlValue;
}

/** How a field is stored. Its type says which values it takes. */
export interface Field<in Noun, Value> {
  readonly columns: (field: string) => readonly Column<Noun>[];
  /** Source of the field's value, where `row` is the row and `read` this function. */
  readonly source: string;
  readonly read?: (stored: never) => Value;
}

/** A column of text, ids among them: those that are stored are well-formed. */
export function text<Value extends string | null>(
  name: string,
  written: Written = 'always',
): Field<unknown, Value> {
  return plain({ name, kind: 'text', written });
}

export function number<Value extends number | null>(
  name: string,
  written: Written = 'always',
): Field<unknown, Value> {
  return plain({ name, kind: 'bigint', written });
}

function plain<Value>(column: Omit<Column<unknown>, 'source'>): Field<unknown, Value> {
  const columns = (field: string) => [{ ...column, source: `noun.${field}` }];
  return { columns, source: `row.${column.name}` };
}

export function flag(name: string, written: Written = 'always'): Field<unknown, boolean> {
  return {
    columns: (field) => [{ name, kind: 'bigint', written, source: `noun.${field} ? 1 : 0` }],
    source: `row.${name} === 1`,
  };
}

/** A column of JSON text. */
export function jsonText<Value>(
  name: string,
  written: Written = 'always',
): Field<unknown, Value | null> {
  return {
    columns: (field) => [
      { name, kind: 'text', written, source: `write(noun.${field})`, write: toJsonText },
    ],
    source: `read(row.${name})`,
    read: fromJsonText<Value>,
  };
}

interface ColumnOf<Noun> {
  readonly kind: 'text' | 'bigint';
  readonly write: (noun: Noun) => SqlValue;
  readonly written?: Written;
}

/** A field that is not stored as it is: `read` makes its value of one or more columns. */
export function made<Noun, Row, Value>(
  columns: Readonly<Record<keyof Row & string, ColumnOf<Noun>>>,
  read: (row: Row) => Value,
): Field<Noun, Value> {
  return { columns: () => writtenOnly(columns), source: 'read(row)', read };
}

/** Columns that are computed from the noun, and not read. */
export function writtenOnly<Noun>(
  columns: Readonly<Record<string, ColumnOf<Noun>>>,
): readonly Column<Noun>[] {
  return Object.entries<ColumnOf<Noun>>(columns).map(([name, column]) => ({
    written: 'always',
    ...column,
    name,
    source: 'write(noun)',
  }));
}

/** The row of a noun, as it is selected: `NounTable.read` knows its columns. */
export interface NounRow {
  readonly id: string;
}

export interface NounTable<Noun, Row = NounRow> {
  /** A fast reader of rows with all columns. */
  readonly read: (row: Row) => Noun;
  /** The names of all columns that `read` reads. */
  readonly columns: Statement;
  readonly insert: (noun: Noun) => Statement;
  /** As `insert`, for one or more of them. */
  readonly insertAll: (nouns: readonly Noun[]) => Statement;
  /** As `insert`, for statements that add a `where`: a select takes its values. */
  readonly insertSelected: (noun: Noun) => Statement;
  /** The assignments of an update: `update … set ${assignments(noun)} where …`. */
  readonly assignments: (noun: Noun) => Statement;
}

export interface TableParts<Noun> {
  readonly fields: { readonly [Name in keyof Noun & string]-?: Field<Noun, Noun[Name]> };
  readonly extra?: readonly Column<Noun>[];
}

/**
 * The table of a noun: one line for each field, in the order of its columns, from which reading, inserting and updating
 * are rendered once. The functions that make values are generated as literals (`row-maker.ts`), so a table costs no
 * more than statements written by hand.
 */
export function nounTable<Noun, Row = NounRow>(
  table: string,
  { fields, extra = [] }: TableParts<Noun>,
): NounTable<Noun, Row> {
  const named = Object.entries<Field<Noun, unknown>>(fields);
  const read = named.flatMap(([name, field]) => field.columns(name));
  const columns = [...read, ...extra];
  const inserted = columns.filter(({ written }) => written !== 'changed');
  const updated = columns.filter(({ written }) => written !== 'fixed');
  const into = sql`insert into ${columnNames([table])} (${namesOf(inserted)})`;
  const row = sql`(${sql.join(inserted.map(() => sql`${''}`))})`;
  const insert = sql`${into} values ${row}`.strings;
  const selected = sql`${into} select ${sql.join(inserted.map(typed))}`.strings;
  const set = sql.join(updated.map(({ name }) => sql`${columnNames([name])} = ${''}`)).strings;
  const insertedOf = valuesMaker(inserted);
  const updatedOf = valuesMaker(updated);
  const entries = named.map(([name, { source, read }]) => ({ name, source, call: read }));
  return {
    read: generated<Row, Noun>({ of: 'row', as: 'object', entries, callName: 'read' }),
    columns: namesOf(read),
    insert: (noun) => ({ strings: insert, values: insertedOf(noun) }),
    insertAll: (nouns) => {
      const rows = nouns.map((noun) => ({ strings: row.strings, values: insertedOf(noun) }));
      return sql`${into} values ${sql.join(rows)}`;
    },
    insertSelected: (noun) => ({ strings: selected, values: insertedOf(noun) }),
    assignments: (noun) => ({ strings: set, values: updatedOf(noun) }),
  };
}

function namesOf<Noun>(columns: readonly Column<Noun>[]): Statement {
  return columnNames(columns.map(({ name }) => name));
}

/** PostgreSQL takes no types from the columns for values that are selected. */
function typed<Noun>({ kind }: Column<Noun>): Statement {
  return kind === 'text' ? sql`cast(${''} as text)` : sql`cast(${0} as bigint)`;
}

function valuesMaker<Noun>(columns: readonly Column<Noun>[]): (noun: Noun) => SqlValue[] {
  const entries = columns.map(({ name, source, write }) => ({ name, source, call: write }));
  return generated({ of: 'noun', as: 'array', entries, callName: 'write' });
}
