import { BoundedMap } from '../runtime/bounded-map.ts';
import type { SqlValue, Statement } from './sql-database.ts';

/**
 * Builds a statement for both databases: sql`select … where id = ${id}`. A value is bound, never written into the text;
 * a nested statement is inlined together with its values.
 *
 * A bound value takes its type from the column. Where there is no column (`${n} / 2`, `select ${n}`) write
 * `cast(${n} as bigint)`: alone, a number is a real on SQLite and text on PostgreSQL.
 *
 * The `strings` array of a statement is its identity: the same text has the same array, so a database keeps its
 * prepared statements in a WeakMap and finds one without building any text.
 */
export function sql(strings: TemplateStringsArray, ...parts: (SqlValue | Statement)[]): Statement {
  return parts.every(isSqlValue) ? { strings, values: parts } : compose(strings, parts);
}

/** Joins one or more statements with a separator, as in `in (…)` or `values …`. */
sql.join = (
  statements: readonly Statement[],
  separator: ', ' | ' and ' | ' or ' | ' union all ' | ' + ' | ' ' = ', ',
): Statement => {
  if (statements.length === 0) throw new RangeError('sql.join needs at least one statement');
  const separators = statements.slice(1).map(() => separator);
  return inline(['', ...separators, ''], statements);
};

/** Names of our own tables and columns, written into the text with commas. Never what comes from outside. */
export function columnNames(names: readonly string[]): Statement {
  return { strings: [names.join(', ')], values: [] };
}

/** Row locks, on PostgreSQL only: SQLite has one writer and needs none. */
sql.forUpdate = postgresOnly('for update');
sql.forShare = postgresOnly('for share');
/** What a foreign key takes: blocks only the deletion of the row. */
sql.forKeyShare = postgresOnly('for key share');
sql.forUpdateSkipLocked = postgresOnly('for update skip locked');
/** Blocks updates of the row, but not rows that refer to it. */
sql.forNoKeyUpdate = postgresOnly('for no key update');
sql.forNoKeyUpdateSkipLocked = postgresOnly('for no key update skip locked');

/** Renders the text for one database: `$1` or `?`, with or without the row locks. */
export function renderSql(strings: readonly string[], dialect: 'sqlite' | 'postgres'): string {
  if (dialect === 'sqlite') {
    return strings
      .join('?')
      .replaceAll(postgresOnlyPattern, '')
      .replaceAll(bareLimit, 'limit +?')
      .replaceAll(insertion, 'insert or fail into')
      .replaceAll(update, 'update or fail $1 set');
  }
  const text = strings.reduce((before, after, index) => `${before}$${index}${after}`);
  return text.replaceAll(postgresOnlyPattern, '$1');
}

/**
 * SQLite plans with the value of a parameter that is the whole limit, so it parses and plans such a statement again at
 * each use, which takes four times as long as a short read. A sign in front of the parameter makes it an expression.
 */
const bareLimit = /\blimit \?/g;
/**
 * A write of several rows copies each page before its first change, to undo only this statement when a later row is
 * refused. A refused statement dooms its transaction, so nothing needs that, and `or fail` leaves it out.
 */
const insertion = /\binsert into\b/g;
const update = /\bupdate (\w+)\s+set\b/g;
const postgresOnlyPattern = /\u0001([^\u0001]*)\u0001/g;

function postgresOnly(text: string): Statement {
  return { strings: [`\u0001${text}\u0001`], values: [] };
}

function isSqlValue(part: SqlValue | Statement): part is SqlValue {
  if (part === null || typeof part === 'string' || part instanceof Uint8Array) return true;
  if (typeof part === 'number') {
    if (Number.isFinite(part)) return true;
  } else if (typeof part === 'object') {
    return false;
  }
  throw new TypeError(`SQL takes text, finite numbers, bytes and null, not ${String(part)}`);
}

/** A text that was composed, and those that are composed of it and one more text. */
interface ComposedText {
  strings?: readonly string[];
  /** By the place of the next inlined text in the template, and by that text. */
  readonly with: WeakMap<readonly string[], ComposedText>[];
}

/** By their template. Weak: a text lives as long as `interned` keeps it. */
const composed = new WeakMap<readonly string[], ComposedText>();

/** As `inline`, for a template: the text is built once for the same texts at the same places. */
function compose(template: readonly string[], parts: readonly (SqlValue | Statement)[]): Statement {
  let node = composed.get(template);
  if (node === undefined) composed.set(template, (node = { with: [] }));
  const values: SqlValue[] = [];
  for (const [index, part] of parts.entries()) {
    if (isSqlValue(part)) {
      values.push(part);
      continue;
    }
    for (const value of part.values) values.push(value);
    const known: WeakMap<readonly string[], ComposedText> = (node.with[index] ??= new WeakMap());
    let next = known.get(part.strings);
    if (next === undefined) known.set(part.strings, (next = { with: [] }));
    node = next;
  }
  node.strings ??= inline(template, parts).strings;
  return { strings: node.strings, values };
}

function inline(strings: readonly string[], parts: readonly (SqlValue | Statement)[]): Statement {
  const texts: string[] = [];
  const values: SqlValue[] = [];
  let text = strings[0] ?? '';
  parts.forEach((part, index) => {
    if (isSqlValue(part)) {
      texts.push(text);
      values.push(part);
      text = '';
    } else {
      const [first = '', ...others] = part.strings;
      text += first;
      for (const other of others) {
        texts.push(text);
        text = other;
      }
      values.push(...part.values);
    }
    text += strings[index + 1] ?? '';
  });
  texts.push(text);
  return { strings: intern(texts), values };
}

/**
 * How many composed texts keep their identity. Lists of varying length make ever new texts; past the bound the oldest
 * is evicted and, when used again, prepared again.
 */
const internedTextsMax = 1_000;
const interned = new BoundedMap<string, readonly string[]>(internedTextsMax);

function intern(texts: readonly string[]): readonly string[] {
  const key = texts.join('\u0000');
  const known = interned.get(key);
  if (known !== undefined) return known;
  interned.set(key, texts);
  return texts;
}
