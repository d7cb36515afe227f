import { createHash } from 'node:crypto';
import type { TransferConnection } from './connection.ts';

export const transferFormat = 1;

/** Size at which a chunk is yielded; a larger row is a chunk of its own. */
const chunkCharacters = 64 * 1024;

/**
 * Exports the whole deployment as lines of JSON: a head, then for each table its name and columns, its rows as arrays
 * and their number, and last a digest of everything before.
 */
export async function* exportLines(
  source: TransferConnection,
  schema: number,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  let chunk = '';
  const add = (value: unknown) => (chunk += `${JSON.stringify(value)}\n`);
  const flush = () => {
    const text = chunk;
    chunk = '';
    hash.update(text);
    return text;
  };

  add({ convoke_export: transferFormat, schema });
  for (const table of await source.tables()) {
    let rows = 0;
    add({ table: table.name, columns: table.columns });
    for await (const row of source.rows(table)) {
      add(row);
      rows += 1;
      if (chunk.length >= chunkCharacters) yield flush();
    }
    add({ rows });
  }
  yield flush();
  yield `${JSON.stringify({ sha256: hash.digest('hex') })}\n`;
}
