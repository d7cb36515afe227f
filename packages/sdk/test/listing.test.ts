import { expect, test } from 'vitest';
import { answering, clientAt, json, sessionRecord } from './answering.ts';

const ids = Array.from({ length: 7 }, (_, index) => `sess_${index}`);

test('a list fetches each page when it is needed', async () => {
  await using server = await listing();
  const found: string[] = [];
  for await (const session of clientAt(server).sessions.list({ limit: 3, status: 'idle' })) {
    found.push(session.id);
    if (found.length === 4) break;
  }
  expect(found).toEqual(ids.slice(0, 4));
  expect(server.seen.map(({ query }) => Object.fromEntries(query))).toEqual([
    { limit: '3', status: 'idle' },
    { limit: '3', status: 'idle', cursor: '3' },
  ]);
});

test('a list is read to its end', async () => {
  await using server = await listing();
  const found: string[] = [];
  for await (const session of clientAt(server).sessions.list({ limit: 3 })) found.push(session.id);
  expect(found).toEqual(ids);
});

test('one page can be read alone, and the next one later', async () => {
  await using server = await listing();
  const { sessions } = clientAt(server);
  const first = await sessions.list({ limit: 5 }).page();
  expect(first.items.map(({ record }) => record.id)).toEqual(ids.slice(0, 5));
  const second = await sessions.list({ limit: 5, cursor: first.nextCursor }).page();
  expect(second).toMatchObject({
    items: [{ id: 'sess_5' }, { id: 'sess_6' }],
    nextCursor: undefined,
  });
});

test('a cursor that points to itself ends the list', async () => {
  await using server = await answering(
    json(200, { sessions: [sessionRecord], next_cursor: 'same' }),
  );
  let pages = 0;
  for await (const _page of clientAt(server).sessions.list().pages()) pages += 1;
  expect(pages).toBe(2);
});

function listing() {
  return answering((seen, response) => {
    const start = Number(seen.query.get('cursor') ?? 0);
    const end = start + Number(seen.query.get('limit'));
    const sessions = ids.slice(start, end).map((id) => ({ ...sessionRecord, id }));
    const more = end < ids.length ? { next_cursor: String(end) } : {};
    return json(200, { sessions, ...more })(seen, response);
  });
}
