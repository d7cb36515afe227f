import { describe, expect, test } from 'vitest';
import { sql } from '../../src/store/sql.ts';
import { databaseKinds } from '../support/databases.ts';
import { createRunFixture, over } from '../support/run-fixture.ts';

const minute = 60_000;

describe.each(databaseKinds)('unused sessions on %s (D-17)', (kind) => {
  test('are those whose last change is before a time, the oldest first', async () => {
    const world = await createRunFixture(kind);
    const start = world.clock.now();
    const open = async () => {
      const id = await world.open();
      world.clock.advance(10 * minute);
      return id;
    };
    const [first, second, used, last] = [await open(), await open(), await open(), await open()];
    const unused = async (before: number, limit = 10) =>
      (await world.store.read.sessions.unusedSince(before, limit)).map(({ id }) => id);
    expect(await unused(start)).toEqual([]);
    expect(await unused(start + 1)).toEqual([first]);
    expect(await unused(start + 10 * minute)).toEqual([first]);
    expect(await unused(start + 15 * minute)).toEqual([first, second]);
    expect(await unused(world.clock.now(), 3)).toEqual([first, second, used]);

    const run = await world.start(used);
    expect(await unused(world.clock.now() + 1)).toEqual([first, second, last]);
    await world.record(await world.claimed(run), { end: { status: 'completed', ...over } });
    expect(await unused(world.clock.now())).toEqual([first, second, last]);
    expect(await unused(world.clock.now() + 1)).toEqual([first, second, last, used]);
  });

  test('are found by the last of several changes in one transaction', async () => {
    const { store, scope, clock, open } = await createRunFixture(kind);
    const [moved, back, ended] = [await open(), await open(), await open()];
    const now = clock.now();
    const later = now + 30 * minute;
    await store.transaction(async (tx) => {
      const change = async (id: typeof moved, changes: readonly object[]) => {
        const session = await tx.sessions.lock(scope, id);
        if (session === undefined) throw new Error('no session');
        for (const each of changes) tx.sessions.save({ ...session, ...each });
      };
      await change(moved, [{ title: 'a' }, { updatedAt: later }]);
      await change(back, [{ updatedAt: later }, { updatedAt: now }]);
      await change(ended, [{ updatedAt: now }, { endedAt: now }]);
    });
    const unused = async (before: number) =>
      (await store.read.sessions.unusedSince(before, 10)).map(({ id }) => id);
    expect(await unused(now + 1)).toEqual([back]);
    expect(await unused(later + 1)).toEqual([back, moved]);
    expect(await store.read.sessions.find(scope, ended)).toMatchObject({ endedAt: now });
  });
});

test('on SQLite they are found without reading the others', async () => {
  const { database } = await createRunFixture('sqlite');
  const plan = await database.all<{ detail: string }>(sql`
    explain query plan select * from sessions
    where ended_at is null and changed_period <= ${1} and status in ('idle', 'stopped')
      and updated_at < ${1} order by changed_period limit ${1}`);
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH sessions USING INDEX sessions_unused (changed_period<?)',
  ]);
});
