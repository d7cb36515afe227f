import { runStatuses } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { prepareFile } from '../../src/app/files/files.ts';
import { createSchedule } from '../../src/app/schedules/schedules.ts';
import type { TenantScope } from '../../src/domain/scope.ts';
import type { StoreTransaction } from '../../src/ports/store.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { createRunFixture, over } from '../support/run-fixture.ts';

const page = { limit: 100, order: 'asc' } as const;

// Every statement names the tenant itself: a use case that forgets to look at the session first still finds nothing.
describe.each(databaseKinds)('on %s', (kind) => {
  test('a repository finds, lists, locks and removes nothing of one tenant in the scope of another (D-53)', async () => {
    const world = await createRunFixture(kind, { sessionFiles: true });
    const other = await world.seed.tenant(world.scope.organizationId);
    const run = await world.start(await world.open());
    const { sessionId } = run;
    const leg = await world.claimed(run);
    const ask = { type: 'user_question', ref: 'q', question: 'Why?' } as const;
    await world.record(leg, { items: [ask], end: { status: 'waiting', ...over } });
    const asked = await world.store.read.interactions.findByRequest(run.id, 'q');
    if (asked === undefined) throw new Error('no question was asked');
    const file = await prepareFile(world, world.scope, {
      sessionId,
      name: 'a.txt',
      contentType: 'text/plain',
      sizeBytes: undefined,
      sha256: undefined,
    });

    const plan = await createSchedule(world, world.scope, {
      plan: {
        name: 'Plan',
        agentName: 'agent',
        cron: '* * * * *',
        timeZone: 'UTC',
        input: { prompt: 'hi' },
        sessionMode: 'new',
        sessionId: null,
        overlap: 'skip',
        missed: 'once',
        missedWithinMs: 0,
        createdBy: { kind: 'client', id: 'cli_1' },
      },
      idempotencyKey: undefined,
      by,
      chargeRate: () => {},
    });
    const { id: scheduleId, tenantId } = plan.resource;
    const slot = { scheduleId, tenantId, slotAt: 1, firedAt: 1, runId: null, sessionId: null };
    await world.store.transaction((tx) =>
      tx.schedules.insertFires([{ ...slot, outcome: 'skipped', code: 'missed' }]),
    );

    const changed = { in: { sessionId }, phases: runStatuses };
    type Found = (tx: StoreTransaction, scope: TenantScope) => Promise<unknown>;
    const statements: Record<string, Found> = {
      'sessions.find': (tx, scope) => tx.sessions.find(scope, sessionId),
      'sessions.lock': (tx, scope) => tx.sessions.lock(scope, sessionId),
      'sessions.tryLock': (tx, scope) => tx.sessions.tryLock(scope, sessionId),
      'sessions.list': (tx, scope) => tx.sessions.list(scope, {}, page),
      'runs.find': (tx, scope) => tx.runs.find(scope, sessionId, run.id),
      'runs.findById': (tx, scope) => tx.runs.findById(scope, run.id),
      'runs.list': async (tx, scope) =>
        (await tx.runs.list(scope, { sessionId, filter: {}, page })).items,
      'interactions.find': (tx, scope) => tx.interactions.find(scope, sessionId, asked.key),
      'interactions.list': async (tx, scope) =>
        (await tx.interactions.list(scope, { sessionId, status: 'all', page, now: 0 })).items,
      'schedules.find': (tx, scope) => tx.schedules.find(scope, scheduleId),
      'schedules.lock': (tx, scope) => tx.schedules.lock(scope, scheduleId),
      'schedules.list': (tx, scope) => tx.schedules.list(scope, {}, page),
      'schedules.count': (tx, scope) => tx.schedules.count(scope),
      'schedules.listFires': (tx, scope) => tx.schedules.listFires(scope, scheduleId, page),
      'schedules.remove': (tx, scope) => tx.schedules.remove(scope, scheduleId),
      'tenantLists.runs': (tx, scope) =>
        tx.tenantLists.runs(scope, { kind: 'all' }, { ...page, filter: {} }),
      'tenantLists.lastOf': (tx, scope) =>
        tx.tenantLists.lastOf(scope, { kind: 'all' }, { ...page, limit: 1 }),
      'tenantLists.interactions': (tx, scope) => tx.tenantLists.interactions(scope, 'all', page),
      'tenantLists.topics': async (tx, scope) =>
        (await tx.tenantLists.topics(scope, [asked.key], 'asc')).items,
      'tenantLists.interaction': (tx, scope) => tx.tenantLists.interaction(scope, asked.key),
      'changedRuns.list': (tx, scope) => tx.changedRuns.list(scope, changed, { limit: 1 }),
      'changedRuns.count': (tx, scope) => tx.changedRuns.count(scope, changed, { limit: 1 }),
      'changedRuns.lastOf': (tx, scope) => tx.changedRuns.lastOf(scope, changed, { limit: 1 }),
      'files.find': (tx, scope) => tx.files.find(scope, sessionId, file.id),
      'files.list': (tx, scope) => tx.files.list(scope, sessionId, page),
      'files.remove': (tx, scope) => tx.files.remove(scope, sessionId, file.id),
    };
    const foreign = { ...world.scope, tenantId: other.id };
    for (const scope of [foreign, world.scope]) {
      const found = await world.store.transaction(async (tx) => {
        const names: string[] = [];
        for (const [name, find] of Object.entries(statements)) {
          const result = await find(tx, scope);
          if (Array.isArray(result) ? result.length > 0 : Boolean(result)) names.push(name);
        }
        return names;
      });
      expect(found).toEqual(scope === foreign ? [] : Object.keys(statements));
    }
  });
});
