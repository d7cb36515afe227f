import { beforeAll, describe, expect, test } from 'vitest';
import { LegWriter } from '../../src/execution/leg-writer.ts';
import type { Store } from '../../src/ports/store.ts';
import { databaseKinds } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import { type RunFixture, createRunFixture, delta, hour, maker } from '../support/run-fixture.ts';

/** More than one batch. */
const words = 600;

describe.each(databaseKinds)('a recovery point on %s (D-89)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind, {}, { afterLoss: 'repeat' });
  });

  test('is recorded with the last event that it covers, never before it', async () => {
    const { run, holder } = await world.claimed(await world.start(await world.open()));
    const gate = Promise.withResolvers<void>();
    let commits = 0;
    const store: Store = {
      ...world.store,
      async transaction(work) {
        if (commits > 0) await gate.promise;
        const result = await world.store.transaction(work);
        commits += 1;
        return result;
      },
    };
    const options = {
      holder,
      lastSeq: run.lastSeq,
      lossesTotal: 0,
      maker,
      waitMs: hour,
      onLost: () => {},
    };
    const writer = new LegWriter({ ...world, store }, options);
    for (let word = 0; word < words; word += 1) void writer.push(delta('word '));
    writer.checkpoint({ step: 1 }, true);
    await until(() => commits === 1, { what: 'first batch' });
    const { lastSeq } = await world.read(run);
    // A worker that dies here has said less than the point would claim.
    expect(lastSeq).toBeLessThan(words);
    expect((await world.store.read.sessions.state(run.sessionId)).point).toBeNull();
    gate.resolve();
    await writer.close();
    const { point } = await world.store.read.sessions.state(run.sessionId);
    expect(point).toMatchObject({ runId: run.id, seq: words + 1 });
  });
});
