import { describe, expect, test, vi } from 'vitest';
import { databaseKinds, openTestDatabase } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { idleSlot } from '../support/idle-slot.ts';
import { createRunFixture, over } from '../support/run-fixture.ts';

describe.each(databaseKinds)('on %s', (kind) => {
  test('a pending interaction is listed and answered by a process that did not raise it', async () => {
    const world = await createRunFixture(kind);
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    const ask = { type: 'user_question', ref: 'q', question: 'Why?' } as const;
    await world.record(leg, { items: [ask], end: { status: 'waiting', ...over } });

    // As in another process: no module and no connection of the first one.
    vi.resetModules();
    const { answerInteraction, listInteractions } = await import('../../src/app/interactions.ts');
    const { createStore } = await import('../../src/store/store.ts');
    const database = await openTestDatabase(kind, { location: world.location });
    const other = { ...world, database, store: createStore(database) };
    const { sessionId } = run;
    const page = { limit: 10, order: 'asc' } as const;
    const pending = { sessionId, status: 'pending', page } as const;
    const listed = await listInteractions(other, world.scope, pending);
    const [asked] = listed.items;
    expect(asked).toMatchObject({ question: 'Why?', status: 'pending' });
    if (asked === undefined) throw new Error('no question was found');
    const body = { answer: 'so' };
    await answerInteraction(other, world.scope, { sessionId, key: asked.key, body, by, allower });
    const { claimLeg } = await import('../../src/execution/claim-leg.ts');
    const resumed = await claimLeg(
      other,
      { scope: world.scope, sessionId, runId: run.id },
      idleSlot({
        owner: 'worker-2',
        machine: 'machine-1',
        expiresAt: world.clock.now() + 15_000,
      }),
    );
    const input = typeof resumed === 'string' ? resumed : resumed.input;
    const answers = new Map([['q', { kind: 'question', values: ['so'] }]]);
    expect(input).toEqual({ kind: 'resume', answers });
  });
});
