/**
 * A process that commits for ever and prints one line for each commit once it is acknowledged. When an fsync fails it
 * prints `fatal`, then any commit acknowledged after it, and exits.
 */
import { openSqlite } from '../../src/store/dialects/sqlite.ts';
import { sql } from '../../src/store/sql.ts';

const [path = ''] = process.argv.slice(2);
const database = await openSqlite({
  path,
  report: (message, error) => console.log('report', message, String(error)),
  onFatal: (error) => {
    console.log('fatal', error instanceof Error && 'errcode' in error ? error.errcode : error);
    setImmediate(() => process.exit(70));
  },
});
await database.transaction((tx) =>
  tx.script('create table notes (id integer primary key, body text)'),
);

const body = 'x'.repeat(32_000);
let next = 0;

async function write(): Promise<void> {
  for (;;) {
    const id = next++;
    const outcome = await database
      .transaction((tx) => tx.run(sql`insert into notes (id, body) values (${id}, ${body})`))
      .then(
        () => 'ok',
        (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
      );
    console.log(outcome, id);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

await Promise.all([write(), write(), write(), write()]);
