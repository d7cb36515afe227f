import pg from 'pg';
import { expect, test } from 'vitest';
import { postgresUrl } from './services.ts';

test('a test worker is handed a PostgreSQL that answers', async () => {
  const client = new pg.Client({ connectionString: postgresUrl() });
  await client.connect();
  const answer = await client.query('select 1 as one');
  await client.end();
  expect(answer.rows).toEqual([{ one: 1 }]);
});
