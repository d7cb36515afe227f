import { RunText, isTerminalEventType } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { cancelRun } from '../../src/app/runs.ts';
import { noteOfLeftCall } from '../../src/domain/recovery.ts';
import type { Run } from '../../src/domain/run.ts';
import type { ToolCall, Touches } from '../../src/domain/tool-call.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import type { LegNote, PlacedNote } from '../../src/execution/leg-notes.ts';
import { recordLeg } from '../../src/execution/record-leg.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture, delta, hour, over } from '../support/run-fixture.ts';

const again = 'It was not done: do it now';

describe.each(databaseKinds)('a run whose worker is gone goes on, on %s (D-88)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind, {}, { afterLoss: 'repeat' });
  });

  const types = async (run: Run) => (await world.logOf(run.id)).map(({ type }) => type);
  const callsOf = async (run: Run) => world.store.read.toolCalls.ofRun(run.id);
  async function lose(run: Run, { isAlone = true } = {}): Promise<Run> {
    world.clock.advance(15_001);
    const leases = { owner: 'me', isExecuting: () => false, canTrustExpiry: () => true, isAlone };
    await reconcileRuns(world, leases);
    return world.read(run);
  }
  async function started(): Promise<ClaimedLeg> {
    return world.claimed(await world.start(await world.open()));
  }
  const answer = async (run: Run, ref: string, body: Record<string, string | boolean>) => {
    const asked = await world.store.read.interactions.findByRequest(run.id, ref);
    if (asked === undefined) throw new Error('no question was asked');
    const request = { sessionId: run.sessionId, key: asked.key, body, by };
    return answerInteraction(world, world.scope, request);
  };
  const beginCall = (leg: ClaimedLeg, parts: Partial<ToolCall> = {}) =>
    world.record(leg, { notes: [intent(leg, parts)] });

  test('from its last recovery point: what was said after it is discarded', async () => {
    const leg = await started();
    await world.record(leg, { items: [delta('kept. '), delta('lost ')], notes: [point(1)] });
    await world.record(leg, { items: [delta('too')] });
    const run = await lose(leg.run);
    expect(run).toMatchObject({ status: 'running', lease: null, outputText: 'kept. ' });
    expect((await world.logOf(run.id)).at(-1)).toEqual({
      type: 'run_interrupted',
      data: {
        run_id: run.id,
        attempt: 1,
        reason: 'worker_lost',
        discard_from_event_id: '000000000003',
      },
    });
    expect((await world.session(run.sessionId))?.status).toBe('running');
    const next = await world.claimed(run, 'worker-2');
    expect(next.input.kind).toBe('continue');
    await world.record(next, {
      items: [delta('said again')],
      end: { status: 'completed', ...over, outputText: 'kept. said again' },
    });
    const log = await world.logOf(run.id);
    expect(log.slice(-3).map(({ type, data }) => [type, data])).toEqual([
      ['run_resumed', { run_id: run.id, attempt: 2, reason: 'worker_lost' }],
      ['message_delta', expect.objectContaining({ text: 'said again' })],
      ['run_completed', { run_id: run.id, recovered: true }],
    ]);
    expect(joined(log)).toBe('kept. said again');
  });

  test('from the start when it was lost before its first recovery point', async () => {
    const leg = await started();
    await world.record(leg, { items: [delta('all of it')] });
    const run = await lose(leg.run);
    expect(run).toMatchObject({ status: 'running', outputText: null });
    const told = (await world.logOf(run.id)).at(-1);
    expect(told?.data).toMatchObject({ discard_from_event_id: '000000000001' });
    expect((await world.claimed(run)).input).toMatchObject({ kind: 'continue', calls: new Map() });
  });

  test('without discarding anything when nothing was said since', async () => {
    const leg = await started();
    await world.record(leg, { items: [delta('kept')], notes: [point(1)] });
    const run = await lose(leg.run);
    expect((await world.logOf(run.id)).at(-1)?.data).not.toHaveProperty('discard_from_event_id');
    expect(run.outputText).toBe('kept');
  });

  test('also when its answer is too long for the record', async () => {
    const leg = await started();
    const long = delta('x'.repeat(600_000));
    await world.record(leg, { items: [long, long, delta('lost')], notes: [point(2)] });
    const run = await lose(leg.run);
    expect(run.outputText).toBeNull();
    const told = (await world.logOf(run.id)).at(-1);
    expect(told?.data).toMatchObject({ discard_from_event_id: '000000000004' });
  });

  test('three losses in a row end it, and a recovery point starts the count again', async () => {
    let leg = await started();
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await world.record(leg, { items: [delta('a')], notes: [point(1)] });
      const run = await lose(leg.run);
      expect(run).toMatchObject({ status: 'running', losses: 1, lossesTotal: attempt });
      leg = await world.claimed(run);
    }
    let run = await lose(leg.run);
    // The pause before the next attempt is longer after each loss.
    expect(await world.claim(run)).toBeUndefined();
    world.clock.advance(5_000);
    run = await lose((await world.claimed(run)).run);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
    expect((await types(run)).filter(isTerminalEventType)).toEqual(['error']);
  });

  test('asks about a call that may have been carried out, and waits (D-84)', async () => {
    const leg = await started();
    await beginCall(leg, { input: { amount: 5 } });
    const run = await lose(leg.run);
    expect(run).toMatchObject({ status: 'waiting', lease: null, pendingInteractions: 1 });
    expect((await world.session(run.sessionId))?.status).toBe('waiting');
    const [told, asked] = (await world.logOf(run.id)).slice(-2);
    expect(told?.data).toMatchObject({ calls_in_doubt: 1 });
    expect(asked).toMatchObject({
      type: 'user_question',
      data: {
        request_id: 'in-doubt:call-1',
        options: [{ label: 'It was done' }, { label: again }, { label: 'I do not know: leave it' }],
        about: { kind: 'call_in_doubt', tool_name: 'pay', tool_input: { amount: 5 } },
      },
    });
    expect(await world.claim(run)).toBeUndefined();
    await answer(run, 'in-doubt:call-1', { answer: 'It was done' });
    expect(await world.read(run)).toMatchObject({ status: 'running', lease: null });
    const { input } = await world.claimed(run);
    expect(input.kind === 'continue' && input.calls.get('call-1')).toMatchObject({ state: 'left' });
  });

  test.each([
    [{ answer: again }, { state: 'again', input: { amount: 5 } }],
    [{ answer: 'I do not know: leave it' }, { state: 'left', note: noteOfLeftCall }],
    [{ answer: 'do it now' }, { state: 'left', note: 'do it now' }],
    [
      { declined: true, message: 'not mine' },
      { state: 'left', note: 'not mine' },
    ],
  ])('takes %j as the answer about a call', async (body, known) => {
    const leg = await started();
    await beginCall(leg, { input: { amount: 5 } });
    const run = await lose(leg.run);
    await answer(run, 'in-doubt:call-1', body);
    const next = await world.claimed(run);
    expect(next.input.kind === 'continue' && next.input.calls.get('call-1')).toEqual(known);
    // Only the second option lets the call begin once more, and then only once.
    const first = await begins(world, { leg: next, call: intent(next) });
    expect(first).toBe(known.state === 'again');
    const later = await lose(next.run);
    expect(later.status).toBe(known.state === 'again' ? 'waiting' : 'running');
  });

  test('repeats what may be repeated: a file that is replaced, and what the agent declares', async () => {
    const leg = await started();
    await beginCall(leg, { toolName: 'write_file', touches: 'workspace' });
    const run = await lose(leg.run);
    expect(run.status).toBe('running');
    expect(await callsOf(run)).toMatchObject([{ status: 'again' }]);
  });

  test('never repeats a call that a person allowed: one allow, one execution (D-39)', async () => {
    const leg = await started();
    const item = {
      type: 'permission_request',
      ref: 'call-1',
      toolName: 'write_file',
      toolInput: {},
    };
    await world.record(leg, {
      items: [{ ...item, type: 'permission_request' }],
      end: { status: 'waiting', ...over },
    });
    await answer(leg.run, 'call-1', { decision: 'allow' });
    const resumed = await world.claimed(leg.run);
    await beginCall(resumed, { toolName: 'write_file', touches: 'workspace' });
    expect(await lose(resumed.run)).toMatchObject({ status: 'waiting', pendingInteractions: 1 });
  });

  test('an allowed call that was not begun is still allowed', async () => {
    const leg = await started();
    const item = {
      type: 'permission_request',
      ref: 'call-1',
      toolName: 'pay',
      toolInput: {},
    } as const;
    await world.record(leg, {
      items: [item],
      notes: [point(0)],
      end: { status: 'waiting', ...over },
    });
    await answer(leg.run, 'call-1', { decision: 'allow' });
    const run = await lose((await world.claimed(leg.run)).run);
    const { input } = await world.claimed(run);
    expect(input.kind === 'continue' && input.answers.get('call-1')).toMatchObject({ allow: true });
  });

  test('knows the results of the calls that ended', async () => {
    const leg = await started();
    const result = { ok: true, output: 'paid' };
    const call = { ref: 'call-1', epoch: leg.run.leaseEpoch, result, endedAt: 1 };
    await world.record(leg, { notes: [intent(leg), note({ kind: 'end', call, settle })] });
    const run = await lose(leg.run);
    const { input } = await world.claimed(run);
    expect(input.kind === 'continue' && input.calls.get('call-1')).toEqual({
      state: 'ended',
      ...result,
    });
  });

  test('the worker that comes back can neither begin nor end a call (D-96)', async () => {
    const leg = await started();
    await beginCall(leg);
    const run = await lose(leg.run);
    const result = { ok: true, output: 'late' };
    const call = { ref: 'call-1', epoch: leg.run.leaseEpoch, result, endedAt: 1 };
    for (const late of [intent(leg, { ref: 'late' }), note({ kind: 'end', call, settle })]) {
      expect(await world.record(leg, { notes: [late] })).toBeUndefined();
    }
    expect(await callsOf(run)).toMatchObject([{ ref: 'call-1', status: 'begun' }]);
  });

  test('the worker that comes back does not take the events of the next one for its own', async () => {
    const leg = await started();
    const run = await lose(leg.run);
    await world.record(await world.claimed(run, 'worker-2'), { items: [delta('next')] });
    // The answer to its last commit was lost, so it looks for what it wrote.
    const before = leg.run.lastSeq;
    expect(await begins(world, { leg, call: intent(leg), inDoubtAfter: before })).toBe(false);
    expect(await callsOf(run)).toEqual([]);
  });

  test('is not continued where the changes of its folder are gone', async () => {
    for (const touches of ['workspace', 'outside'] as const satisfies Touches[]) {
      const leg = await started();
      await beginCall(leg, { toolName: 'write_file', touches });
      const run = await lose(leg.run, { isAlone: false });
      expect(run.status).toBe(touches === 'outside' ? 'running' : 'failed');
    }
  });

  test('a cancel between two legs ends it (D-94)', async () => {
    const run = await lose((await started()).run);
    await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
    expect(await world.claim(run)).toBeUndefined();
    await endParkedCancellations(world);
    expect(await world.read(run)).toMatchObject({ status: 'cancelled' });
    expect((await types(run)).at(-1)).toBe('run_cancelled');
  });

  test('a question about a call expires like any other', async () => {
    const leg = await started();
    await beginCall(leg);
    await lose(leg.run);
    const asked = await world.store.read.interactions.findByRequest(leg.run.id, 'in-doubt:call-1');
    expect(asked?.expiresAt).toBe((asked?.createdAt ?? 0) + 72 * hour);
  });
});

describe('what an agent allows', () => {
  const lost = async (parts: Parameters<typeof createRunFixture>[1]) => {
    const world = await createRunFixture('sqlite', parts, { afterLoss: 'repeat' });
    const leg = await world.claimed(await world.start(await world.open()));
    await world.record(leg, { notes: [intent(leg)] });
    world.clock.advance(15_001);
    const leases = { owner: 'me', isExecuting: () => false, canTrustExpiry: () => true };
    await reconcileRuns(world, { ...leases, isAlone: true });
    const calls = await world.store.read.toolCalls.ofRun(leg.run.id);
    return { run: await world.read(leg.run), calls };
  };
  const policy = { onLoss: 'resume', attempts: 3, inDoubt: 'ask', repeatableTools: [] } as const;

  test('`in_doubt: tell` goes on and tells the model', async () => {
    const { run, calls } = await lost({ recovery: { ...policy, inDoubt: 'tell' } });
    expect(run.status).toBe('running');
    expect(calls).toMatchObject([{ status: 'left', note: noteOfLeftCall }]);
  });

  test('`in_doubt: fail` ends the run with its own code', async () => {
    const { run } = await lost({ recovery: { ...policy, inDoubt: 'fail' } });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'tool_in_doubt' } });
  });

  test('`repeatable_tools` repeats without a question', async () => {
    const { run, calls } = await lost({ recovery: { ...policy, repeatableTools: ['p*'] } });
    expect([run.status, calls[0]?.status]).toEqual(['running', 'again']);
  });

  test('`on_loss: fail` ends the run', async () => {
    const { run } = await lost({ recovery: { ...policy, onLoss: 'fail' } });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
  });
});

const settle = () => {};

function note(content: LegNote, after = 0): PlacedNote {
  return { note: content, after };
}

/** A recovery point behind so many items of its batch. */
function point(after: number): PlacedNote {
  return note({ kind: 'checkpoint', state: { at: after }, isRecoveryPoint: true }, after);
}

function intent(leg: ClaimedLeg, parts: Partial<ToolCall> = {}): PlacedNote {
  const { ref = 'call-1', toolName = 'pay', touches = 'outside', input = { amount: 5 } } = parts;
  const call = { ref, toolName, touches, input, epoch: leg.run.leaseEpoch, begunAt: 1 };
  return note({ kind: 'begin', intent: call, settle });
}

interface Beginning {
  readonly leg: ClaimedLeg;
  readonly call: PlacedNote;
  readonly inDoubtAfter?: number;
}

async function begins(world: RunFixture, { leg, call, inDoubtAfter }: Beginning): Promise<boolean> {
  const recorded = await recordLeg(world, leg.holder, {
    take: () => ({ items: [], notes: [call], context: undefined, end: undefined }),
    waitMs: hour,
    inDoubtAfter,
    lossesTotal: leg.run.lossesTotal,
  });
  return recorded?.refused.has(call.note) === false;
}

/** The answer as a reader joins it from the events. */
function joined(log: readonly { type: string; data: unknown }[]): string {
  const text = new RunText();
  log.forEach((event, index) => text.take({ ...event, id: String(index + 1).padStart(12, '0') }));
  return text.text;
}
