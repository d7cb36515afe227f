import { beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { sql } from '../../../src/store/sql.ts';
import { databaseKinds, openTestDatabase } from '../../support/databases.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { A2aCalls, said } from './a2a-calls.ts';

const say = { say: '{{prompt}}' };
const agents = {
  asker: {
    description: 'Talks, then asks',
    publish: ['a2a'],
    script: [say, say, say, { ask: { question: 'Which?', options: ['a', 'b'] } }],
  },
};
const asked = { agent: 'asker' };

describe.each(databaseKinds)('a task with a long log on %s', (database) => {
  let server: TestServer;
  let calls: A2aCalls;
  /** Bytes of each page of a log that was read. */
  const pages: number[] = [];
  beforeAll(async () => {
    server = await startServer({ database, agents, wrapStore });
    calls = new A2aCalls(server);
  });
  const wrapStore = (store: Store): Store => {
    const { runEvents } = store.read;
    const after: typeof runEvents.after = async (...call) => {
      const page = await runEvents.after(...call);
      pages.push(page.events.reduce((sum, { body }) => sum + body.length, 0));
      return page;
    };
    const wrapped = { ...runEvents, after };
    const get = (read: Store['read'], name: string) =>
      name === 'runEvents' ? wrapped : (Reflect.get(read, name) as unknown);
    return { ...store, read: new Proxy(store.read, { get }) };
  };
  const read = async (id: string) => {
    pages.length = 0;
    return (await calls.call('GetTask', { id }, asked)).result;
  };

  test('of more bytes than a history has is read no further, and shows what it asks', async () => {
    const prompt = 'x'.repeat(1_500_000);
    const { id } = await calls.task(said(prompt), asked);
    const task = await read(id);
    // The row has no text of this length either.
    expect(task).not.toHaveProperty('artifacts');
    expect(task).toMatchObject({
      status: {
        state: 'TASK_STATE_INPUT_REQUIRED',
        message: {
          parts: [{ text: 'Which?' }, { data: { kind: 'question', question: 'Which?' } }],
        },
      },
    });
    const mebibyte = 1024 * 1024;
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(6 * mebibyte);
  });

  test('of more events than a history has is not read', async () => {
    const { id } = await calls.task(said('x'), asked);
    const { status, ...task } = (await read(id)) as { status: { message: { messageId: string } } };
    expect(pages.length).toBeGreaterThan(0);
    const location = server.config.databaseUrl ?? `${server.config.dataDir}/convoke.db`;
    const connection = await openTestDatabase(database, { location });
    await connection.transaction((tx) =>
      tx.run(sql`update runs set last_seq = 5001 where id = ${id}`),
    );
    const { messageId: _, ...message } = status.message;
    expect(await read(id)).toMatchObject({ ...task, status: { ...status, message } });
    expect(pages).toEqual([]);
    const done = await calls.task(said('a', { taskId: id }), asked);
    expect(await read(id)).toMatchObject({ id, status: done.status });
    expect(pages).toEqual([]);
  });
});
