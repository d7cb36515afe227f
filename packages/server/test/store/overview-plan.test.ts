import { expect, test } from 'vitest';
import { tenantListRepository } from '../../src/store/repositories/runs/tenant-lists.ts';
import type { Statement } from '../../src/store/sql-database.ts';
import { sql } from '../../src/store/sql.ts';
import { createRunFixture, over } from '../support/run-fixture.ts';

// On PostgreSQL large inputs are outside the rows, so only SQLite pays for walking through them.
test('the overview counts pending requests without reading their inputs (D-780)', async () => {
  const { database, scope, clock, ...world } = await createRunFixture('sqlite');
  const leg = await world.claimed(await world.start(await world.open()));
  const toolInput = { text: 'x'.repeat(900 * 1024) };
  const ask = { type: 'permission_request', ref: 'p', toolName: 'save', toolInput } as const;
  await world.record(leg, { items: [ask], end: { status: 'waiting', ...over } });
  const asked: Statement[] = [];
  const lists = tenantListRepository({
    all: (statement) => database.all(statement),
    get: (statement) => (asked.push(statement), database.get(statement)),
  });
  const now = clock.now();
  expect(await lists.overview(scope, { most: 10, now })).toMatchObject({
    pendingInteractions: 1,
    oldestPendingAt: now,
  });
  const plans = await Promise.all(
    asked.map((each) => database.all<{ detail: string }>(sql`explain query plan ${each}`)),
  );
  const details = plans.flat().map(({ detail }) => detail);
  const ofRequests = details.filter((detail) => detail.includes('interactions'));
  expect(ofRequests).toHaveLength(1);
  expect(ofRequests[0]).toContain('USING COVERING INDEX interactions_pending');
});
