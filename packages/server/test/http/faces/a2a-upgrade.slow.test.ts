import { expect, test } from 'vitest';
import { sql } from '../../../src/store/sql.ts';
import { usualAgents } from '../../support/agents.ts';
import { openTestDatabase } from '../../support/databases.ts';
import { startServer } from '../../support/server.ts';
import { A2aCalls, said } from './a2a-calls.ts';

test('a message that an earlier server took, whose keys had no agent, is not taken twice', async () => {
  const asker = { ...usualAgents.asker, publish: ['a2a'] };
  const agents = { ...usualAgents, asker };
  const server = await startServer({ database: 'postgres', agents });
  const calls = new A2aCalls(server);
  const message = said('once');
  const first = await calls.task(message);
  const { messageId } = message.message;
  const location = server.config.databaseUrl ?? '';
  const database = await openTestDatabase('postgres', { location });
  const renamed = await database.transaction((tx) =>
    tx.run(sql`
      update idempotency_keys set key = ${`a2a:${messageId}`} where key = ${`a2a/echo:${messageId}`}`),
  );
  expect(renamed).toBe(1);
  expect(await calls.task(message)).toEqual(first);
  // It was of that agent: another one takes it as its own.
  const other = await calls.task(message, { agent: 'asker' });
  expect(other.contextId).not.toBe(first.contextId);
});
