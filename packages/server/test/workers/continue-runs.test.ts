import { RunText, interruptedText, isTerminalEventType } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { cancelRun } from '../../src/app/runs/runs.ts';
import { noteOfLeftCall } from '../../src/domain/run/recovery.ts';
import { noteOfLostChange } from '../../src/domain/run/workspace-behind.ts';
import { type Run, type RunningRun, isLeased } from '../../src/domain/run/run.ts';
import type { ToolCall } from '../../src/domain/run/tool-call.ts';
import { type ClaimedLeg, recallClaim } from '../../src/execution/claim-leg.ts';
import type { LegNote, PlacedNote } from '../../src/execution/recording/leg-notes.ts';
import { recordLeg } from '../../src/execution/recording/record-leg.ts';
import { recoverRun } from '../../src/execution/recover-run.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import {
  type RunFixture,
  createRunFixture,
  delta,
  hour,
  maker,
  over,
} from '../support/run-fixture.ts';

const again = 'It was not done: do it now';
const goOn = 'Go on with the files as they were saved';

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
    const [last, told] = (await world.logOf(run.id)).slice(-2);
    // For readers that do not know the event behind it; those that do drop it with the rest.
    expect(last).toMatchObject({ type: 'message_delta', data: { text: interruptedText } });
    expect(told).toEqual({
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
      ['run_resumed', { run_id: run.id, attempt: 2, reason: 'worker_lost', workspace: 'same' }],
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
    const log = await world.logOf(run.id);
    expect(log.at(-1)?.data).not.toHaveProperty('discard_from_event_id');
    expect(log.at(-2)?.data).toMatchObject({ text: 'kept' });
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
    [{ answer: again }, { state: 'again' }],
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
    const call = { toolName: 'pay', input: { amount: 5 } };
    expect(next.input.kind === 'continue' && next.input.calls.get('call-1')).toEqual({
      ...call,
      ...known,
    });
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
    expect(input.kind === 'continue' && input.calls.get('call-1')).toMatchObject({
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

  describe('with several machines (D-91)', () => {
    const cluster = { isAlone: false };
    /** A run whose lost leg wrote a file on machine-1 that no archive has. */
    async function withUnsavedFile(): Promise<ClaimedLeg> {
      const leg = await started();
      await beginCall(leg, { toolName: 'write_file', touches: 'workspace' });
      const result = { ok: true, output: 'written' };
      const call = { ref: 'call-1', epoch: leg.run.leaseEpoch, result, endedAt: 1 };
      await world.record(leg, { notes: [note({ kind: 'end', call, settle })] });
      return leg;
    }
    async function heldTooLong(run: Run): Promise<Run> {
      world.clock.advance(60_000);
      return lose(run, cluster);
    }

    test('any machine continues it when its folder was not touched', async () => {
      const leg = await started();
      await beginCall(leg, { toolName: 'write_file', touches: 'outside' });
      const run = await lose(leg.run, cluster);
      const next = await world.claimed(run, 'worker-2', 'machine-2');
      expect(next.isElsewhere).toBe(true);
      expect((await world.logOf(run.id)).at(-1)?.data).toMatchObject({ workspace: 'restored' });
    });

    test('only its own machine continues it at once when no archive has its files', async () => {
      const run = await lose((await withUnsavedFile()).run, cluster);
      expect(await world.claim(run, 'worker-2', 'machine-2')).toBeUndefined();
      const next = await world.claimed(run, 'worker-3', 'machine-1');
      expect(next.isElsewhere).toBe(false);
      expect((await world.logOf(run.id)).at(-1)?.data).toMatchObject({ workspace: 'same' });
      // Lost once more before it did anything: the files of the first leg are still in no archive.
      const again = await lose(next.run, cluster);
      world.clock.advance(5_000);
      expect(await world.claim(again, 'worker-2', 'machine-2')).toBeUndefined();
    });

    test('a server without the agent leaves it for 30 s to servers that have it (D-88)', async () => {
      const without = { ...world, agents: { ...world.agents, find: () => undefined } };
      const leases = { owner: 'other', isExecuting: () => false, canTrustExpiry: () => true };
      const pass = () => reconcileRuns(without, { ...leases, isAlone: false });
      const [taken, left] = [await started(), await started()];
      world.clock.advance(15_000 + 30_000 - 1);
      await pass();
      expect(await world.read(taken.run)).toMatchObject({ status: 'running', lease: {} });
      // Any server that has the agent takes it at once.
      await recoverRun(world, {
        run: await world.read(taken.run),
        isLost: isLeased,
        hasSameFolder: false,
      });
      expect(await world.read(taken.run)).toMatchObject({ status: 'running', lease: null });
      world.clock.advance(1);
      await pass();
      const ended = { status: 'failed', error: { code: 'worker_lost' } };
      expect(await world.read(left.run)).toMatchObject(ended);
    });

    test('a leg that ended has its files archived', async () => {
      const leg = await withUnsavedFile();
      await world.record(leg, { notes: [point(0)], end: { status: 'yielded', ...over } });
      const run = await lose((await world.claimed(leg.run)).run, cluster);
      expect(await world.claim(run, 'worker-2', 'machine-2')).toBeDefined();
    });

    test('a person is asked when the machine does not come back, and may go on without its files', async () => {
      const leg = await withUnsavedFile();
      const run = await heldTooLong(await lose(leg.run, cluster));
      expect(run).toMatchObject({ status: 'waiting', pendingInteractions: 1 });
      const ref = `workspace-behind:${leg.run.leaseEpoch}`;
      const question = (await world.logOf(run.id)).at(-1);
      expect(question?.data).toMatchObject({
        request_id: ref,
        options: [{ label: goOn }, { label: 'End the run' }],
        about: { kind: 'workspace_behind', calls: [{ tool_name: 'write_file' }] },
      });
      await answer(run, ref, { answer: goOn });
      // Not even the machine that has the files takes them once they are given up.
      expect(await world.claim(run, 'worker-1', 'machine-1')).toBeUndefined();
      await heldTooLong(run);
      const next = await world.claimed(run, 'worker-1', 'machine-1');
      expect(next.isElsewhere).toBe(true);
      expect(next.input.kind === 'continue' && next.input.calls.get('call-1')).toMatchObject({
        state: 'left',
        note: noteOfLostChange,
      });
      expect((await world.logOf(run.id)).at(-1)?.data).toMatchObject({ workspace: 'behind' });
    });

    test('any other answer ends it', async () => {
      const leg = await withUnsavedFile();
      const run = await heldTooLong(await lose(leg.run, cluster));
      await answer(run, `workspace-behind:${leg.run.leaseEpoch}`, { answer: 'go on' });
      expect(await heldTooLong(run)).toMatchObject({
        status: 'failed',
        error: { code: 'worker_lost' },
      });
    });
  });

  test('a cancel between two legs ends it (D-94)', async () => {
    const run = await lose((await started()).run);
    await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
    expect(await world.claim(run)).toBeUndefined();
    await endParkedCancellations(world);
    expect(await world.read(run)).toMatchObject({ status: 'cancelled' });
    expect((await types(run)).at(-1)).toBe('run_cancelled');
  });

  test('every leg after the first says why it starts (D-87)', async () => {
    const leg = await started();
    await world.record(leg, {
      items: [{ type: 'user_question', ref: 'q', question: 'Which?' }],
      notes: [point(0)],
      end: { status: 'waiting', ...over },
    });
    await answer(leg.run, 'q', { answer: 'red' });
    const resumed = await world.claimed(leg.run);
    expect(resumed.input.kind).toBe('resume');
    await world.claimed(await lose(resumed.run));
    const reasons = (await world.logOf(leg.run.id)).flatMap(({ type, data }) =>
      type === 'run_resumed' ? [data['reason']] : [],
    );
    expect(reasons).toEqual(['answered', 'worker_lost']);
  });

  test('a claim whose answer was lost starts with the same input', async () => {
    const leg = await started();
    await world.record(leg, {
      items: [{ type: 'user_question', ref: 'q', question: 'Which?' }],
      end: { status: 'waiting', ...over },
    });
    await answer(leg.run, 'q', { answer: 'red' });
    const at = world.clock.now();
    const { run, holder, input } = await world.claimed(leg.run, 'worker-2');
    const lease = { owner: 'worker-2', machine: 'machine-1', expiresAt: at + 15_000 };
    expect(await recallClaim(world, holder, { lease, at })).toMatchObject({ input });
    const lost = await lose(run);
    const next = await world.claimed(lost, 'worker-3');
    const later = { lease: { ...lease, owner: 'worker-3' }, at: world.clock.now() };
    expect(await recallClaim(world, holder, later)).toMatchObject({ input: next.input });
  });

  test('shows since when it waits to go on', async () => {
    const run = await lose((await started()).run);
    expect(run.interruptedAt).toBe(world.clock.now());
    expect((await world.claimed(run)).run.interruptedAt).toBeNull();
  });

  test('the time of its legs adds up; of a lost one, until its lease expired (D-95)', async () => {
    const leg = await started();
    const { lease } = leg.run as RunningRun;
    const began = world.clock.now();
    world.clock.advance(60_000);
    const run = await lose(leg.run);
    const first = lease.expiresAt - began;
    expect([run.executedMs, run.legStartedAt]).toEqual([first, null]);
    // Waiting for the next leg does not count.
    world.clock.advance(60_000);
    const next = await world.claimed(run);
    world.clock.advance(2_000);
    await world.record(next, {
      items: [{ type: 'user_question', ref: 'q', question: 'Which?' }],
      end: { status: 'waiting', ...over },
    });
    world.clock.advance(60_000);
    expect((await world.read(run)).executedMs).toBe(first + 2_000);
  });

  test('a checkpoint of a newer release is left to its servers (D-99)', async () => {
    const leg = await started();
    const newer = { format: 2, agent: 'digest' };
    await world.record(leg, { notes: [point(0)] });
    await world.store.transaction(async (tx) =>
      tx.sessions.saveCheckpoint(leg.run.sessionId, { text: '{}', ...newer }),
    );
    const run = await lose(leg.run);
    expect(await world.claim(run)).toBeUndefined();
    world.harnesses.set('scripted', { afterLoss: 'repeat', checkpointFormat: 2 });
    expect(await world.claim(run)).toBeDefined();
    world.harnesses.set('scripted', { afterLoss: 'repeat' });
  });

  test('says so when the agent was changed since its last checkpoint (D-99)', async () => {
    for (const agent of ['digest', 'another']) {
      const leg = await started();
      await world.store.transaction(async (tx) =>
        tx.sessions.saveCheckpoint(leg.run.sessionId, { text: '{}', format: 1, agent }),
      );
      const { run } = await world.claimed(await lose(leg.run));
      const { data } = (await world.logOf(run.id)).at(-1) ?? {};
      expect(data?.['agent_changed']).toBe(agent === 'digest' ? undefined : true);
    }
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
  const policy = {
    onLoss: 'resume',
    attempts: 3,
    inDoubt: 'ask',
    repeatableTools: [],
    cutMessage: 'continue',
  } as const;

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

describe('an agent that keeps its own record', () => {
  interface Lost {
    readonly isAlone?: boolean;
    readonly hasPoint?: boolean;
    readonly afterLoss?: 'continue' | 'session';
  }

  async function lost({ isAlone = true, hasPoint = true, afterLoss = 'continue' }: Lost = {}) {
    const world = await createRunFixture('sqlite', {}, { afterLoss });
    const leg = await world.claimed(await world.start(await world.open()));
    await world.record(leg, { items: [delta('said. ')], notes: hasPoint ? [point(0)] : [] });
    world.clock.advance(15_001);
    const leases = { owner: 'me', isExecuting: () => false, canTrustExpiry: () => true };
    await reconcileRuns(world, { ...leases, isAlone });
    return { run: await world.read(leg.run), log: await world.logOf(leg.run.id) };
  }

  test('goes on after what it said: nothing is discarded', async () => {
    const { run, log } = await lost();
    expect(run).toMatchObject({ status: 'running', lease: null, outputText: 'said. ' });
    expect(log.at(-1)?.type).toBe('run_interrupted');
    expect(log.at(-1)?.data).not.toHaveProperty('discard_from_event_id');
  });

  test('goes on from the point if its record has whole messages only', async () => {
    const { run, log } = await lost({ afterLoss: 'session' });
    expect(run).toMatchObject({ status: 'running', lease: null, outputText: null });
    expect(log.at(-1)?.data).toHaveProperty('discard_from_event_id');
  });

  test.each(['continue', 'session'] as const)(
    'is lost with its machine (%s)',
    async (afterLoss) => {
      const { run } = await lost({ isAlone: false, afterLoss });
      expect(run).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
    },
  );

  test('is lost before its first recovery point', async () => {
    const { run } = await lost({ hasPoint: false });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
  });

  test('begins again before its first recovery point if its record has whole messages only', async () => {
    const { run, log } = await lost({ hasPoint: false, afterLoss: 'session' });
    expect(run).toMatchObject({ status: 'running', lease: null, outputText: null });
    expect(log.at(-1)?.data).toHaveProperty('discard_from_event_id');
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
    maker,
  });
  return recorded?.refused.has(call.note) === false;
}

/** The answer as a reader joins it from the events. */
function joined(log: readonly { type: string; data: unknown }[]): string {
  const text = new RunText();
  log.forEach((event, index) => text.take({ ...event, id: String(index + 1).padStart(12, '0') }));
  return text.text;
}
