import { beforeAll, describe, expect, test } from 'vitest';
import { CallLedger } from '../../src/execution/call-ledger.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { LegWriter } from '../../src/execution/recording/leg-writer.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import type { Store } from '../../src/ports/store.ts';
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

const saveFolder = async () => undefined;
const call = { ref: 'call-1', toolName: 'pay', input: { amount: 5 }, touches: 'outside' } as const;

describe.each(databaseKinds)('the ledger of tool calls on %s (D-80)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  /** A leg whose commits wait until `open` is called. */
  async function gatedLeg() {
    const claimed = await world.claimed(await world.start(await world.open()));
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const store: Store = {
      ...world.store,
      async transaction(work) {
        reached.resolve();
        await gate.promise;
        return world.store.transaction(work);
      },
    };
    const writer = writerOf(claimed, store);
    const { signal } = new AbortController();
    const ledger = new CallLedger(world, { claimed, writer, signal, saveFolder });
    return { claimed, writer, ledger, reached: reached.promise, open: () => gate.resolve() };
  }
  function writerOf({ holder, run }: ClaimedLeg, store: Store): LegWriter {
    const onLost = () => {};
    const onBreach = () => {};
    const told = { onLost, onBreach, onRefused: () => {}, onFailed: () => {} };
    const options = { holder, run, waitMs: hour, maker, rules: noRules, ...told };
    const log = { ...world.log, error: () => {} };
    return new LegWriter({ ...world, store, log }, options);
  }
  const callsOf = ({ run }: ClaimedLeg) => world.store.read.toolCalls.ofRun(run.id);

  test('a call starts only after its intent is durable, with everything emitted before it', async () => {
    const { claimed, writer, ledger, reached, open } = await gatedLeg();
    await writer.push(delta('I will pay.'));
    let hasBegun = false;
    const begun = ledger.begin(call).then((may) => {
      hasBegun = true;
      return may;
    });
    await reached;
    // As many turns as a promise chain could need: only the commit is missing.
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect([hasBegun, await callsOf(claimed)]).toEqual([false, []]);
    open();
    expect(await begun).toEqual({ kind: 'begun' });
    expect(await callsOf(claimed)).toMatchObject([{ ...call, status: 'begun' }]);
    const types = (await world.logOf(claimed.run.id)).map(({ type }) => type);
    expect(types).toEqual(['run_started', 'message_delta']);
  });

  test('its result is durable before the leg continues', async () => {
    const { claimed, ledger, open } = await gatedLeg();
    open();
    await ledger.begin(call);
    await ledger.end(call.ref, { ok: true, output: 'paid' });
    expect(await callsOf(claimed)).toMatchObject([
      { status: 'ended', result: { ok: true, output: 'paid' } },
    ]);
  });

  test('a call begins once, whoever asks again: this leg, or a later one', async () => {
    const { claimed, ledger, open } = await gatedLeg();
    open();
    expect(await ledger.begin(call)).toEqual({ kind: 'begun' });
    expect(await ledger.begin(call)).toEqual({ kind: 'left' });
    const { signal } = new AbortController();
    const writer = writerOf(claimed, world.store);
    const other = new CallLedger(world, { claimed, writer, signal, saveFolder });
    await ledger.end(call.ref, { ok: true, output: 'paid' });
    expect(await other.begin(call)).toEqual({ kind: 'left' });
  });

  test('a call that may not begin does not begin because the answer of the commit was lost', async () => {
    const { claimed, ledger, open } = await gatedLeg();
    open();
    await ledger.begin(call);
    await ledger.end(call.ref, { ok: true, output: 'paid' });
    let answers = 0;
    const store: Store = {
      ...world.store,
      async transaction(work) {
        const result = await world.store.transaction(work);
        if ((answers += 1) === 1) throw new StorageUnavailable('the answer was lost');
        return result;
      },
    };
    const writer = writerOf(claimed, store);
    const { signal } = new AbortController();
    const later = new CallLedger(world, { claimed, writer, signal, saveFolder });
    // With an event: so the commit is found in the log.
    await writer.push(delta('Once more.'));
    const begun = [later.begin(call), later.begin({ ...call, ref: 'call-2' })];
    await until(() => answers === 1, { what: 'first commit' });
    await until(
      () => {
        world.clock.advance(500);
        return answers === 2;
      },
      { what: 'second commit' },
    );
    expect(await Promise.all(begun)).toEqual([{ kind: 'left' }, { kind: 'begun' }]);
  });

  test('nothing begins once the lease is lost', async () => {
    const { claimed, ledger, open } = await gatedLeg();
    open();
    await world.store.transaction(async (tx) =>
      tx.runs.save({ ...claimed.run, leaseEpoch: 9 }, claimed.run),
    );
    expect(await ledger.begin(call)).toEqual({ kind: 'left' });
    expect(await ledger.begin({ ...call, ref: 'call-2' })).toEqual({ kind: 'left' });
    expect(await callsOf(claimed)).toEqual([]);
  });
});
