import { createHash } from 'node:crypto';
import type { TransferConnection } from './connection.ts';

export const transferFormat = 1;

/** How much is put together before it is handed on; one larger row goes by itself. */
const chunkCharacters = 64 * 1024;

/**
 * The whole deployment as lines of JSON: a head, then each table's name and columns, its rows as arrays and
 * how many they were, and last a digest of everything before.
 */
export async function* exportLines(
  source: TransferConnection,
  schema: number,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  let chunk = '';
  const add = (value: unknown) => (chunk += `${JSON.stringify(value)}\n`);
  const taken = () => {
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
      if (chunk.length >= chunkCharacters) yield taken();
    }
    add({ rows });
  }
  yield taken();
  yield `${JSON.stringify({ sha256: hash.digest('hex') })}\n`;
}
