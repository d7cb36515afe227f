import { beforeAll, describe, expect, test } from 'vitest';
import type { Holder } from '../../src/app/record.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { LegOutput } from '../../src/execution/leg-output.ts';
import { LegWriter, type LegWriterOptions } from '../../src/execution/recording/leg-writer.ts';
import type { Store } from '../../src/ports/store.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import {
  type RunFixture,
  createRunFixture,
  delta,
  hour,
  maker,
  noRules,
} from '../support/run-fixture.ts';

const optionsOf = (run: Run, holder: Holder): LegWriterOptions => ({
  holder,
  run,
  maker,
  rules: noRules,
  waitMs: hour,
  onLost: () => {},
  onRefused: () => {},
  onFailed: () => {},
});

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
    const writer = new LegWriter({ ...world, store }, optionsOf(run, holder));
    for (let word = 0; word < words; word += 1) void writer.push(delta('word '));
    void writer.checkpoint({ step: 1 }, true);
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

  test('is stored in one transaction with the usage that is reported with it', async () => {
    const { run, holder } = await world.claimed(await world.start(await world.open()));
    /** What the database shows after each commit. */
    const seen: { readonly hasPoint: boolean; readonly tokens: number }[] = [];
    const store: Store = {
      ...world.store,
      async transaction(work) {
        const result = await world.store.transaction(work);
        const { point } = await world.store.read.sessions.state(run.sessionId);
        const { usage } = await world.read(run);
        seen.push({ hasPoint: point !== null, tokens: usage?.inputTokens ?? 0 });
        return result;
      },
    };
    const writer = new LegWriter({ ...world, store }, optionsOf(run, holder));
    const usage = { type: 'usage', inputTokens: 5, outputTokens: 1 } as const;
    const state = { answers: 1 };
    const output = new LegOutput('', world.prices);
    const event = { type: 'checkpoint', state, recovery: true, usage } as const;
    await output.write(event, agentOf({ name: 'agent', model: 'big' }), writer);
    await writer.close();
    expect(seen).toEqual([{ hasPoint: true, tokens: 5 }]);
  });
});
