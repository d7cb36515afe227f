import { beforeAll, describe, expect, test } from 'vitest';
import { ended, startRun } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { type TestServer, startServer } from '../support/server.ts';

describe.each(databaseKinds)('a list of sessions on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });

  test('filters by labels, all of which must match, with every other filter (D-252, D-253)', async () => {
    const open = async (labels: Record<string, string>, agent_name = 'echo') =>
      (await server.send('create_session', { body: { agent_name, labels } })).body;
    const made = [
      await open({ list: database, kind: 'a' }),
      await open({ list: database, kind: 'b' }, 'asker'),
      await open({ list: database, kind: 'a' }),
    ].toReversed();
    await open({ list: 'other', kind: 'a' });
    const [newest, middle, oldest] = made.map((session) => session.id);
    // A run has the labels of its session and is no session.
    await ended(server, await startRun(server, made[0] ?? expect.unreachable(), 'x'));
    await server.send('stop_session', { params: { session_id: oldest ?? '' } });
    const list = async (query: string) => {
      const { body } = await server.send('list_sessions', { query });
      return body.sessions.map((session) => session.id);
    };
    const label = `label=list:${database}`;
    expect(await list(label)).toEqual([newest, middle, oldest]);
    expect(await list(`${label}&order=asc`)).toEqual([oldest, middle, newest]);
    expect(await list(`${label}&label=kind:a`)).toEqual([newest, oldest]);
    expect(await list(`${label}&status=stopped`)).toEqual([oldest]);
    expect(await list(`${label}&label=kind:b&agent_name=asker`)).toEqual([middle]);
    expect(await list(`${label}&label=kind:c`)).toEqual([]);
    for (const order of ['asc', 'desc']) {
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const at = cursor === undefined ? '' : `&cursor=${cursor}`;
        const query = `${label}&order=${order}&limit=1${at}`;
        const { body } = await server.send('list_sessions', { query });
        paged.push(...body.sessions.map((session) => session.id));
        cursor = body.next_cursor;
      } while (cursor !== undefined);
      expect(paged).toEqual(await list(`${label}&order=${order}`));
    }
    const params = { session_id: newest ?? '' };
    await server.send('update_session', { params, body: { labels: { list: null } } });
    expect(await list(label)).toEqual([middle, oldest]);
    const refused = await server.refused('list_sessions', { query: 'label=Upper:x' });
    expect(refused).toMatchObject({ status: 400, error: 'invalid_label' });
  });
});
