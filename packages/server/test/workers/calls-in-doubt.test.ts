import { beforeAll, describe, expect, test } from 'vitest';
import { doubtOptions, noteOfLeftCall } from '../../src/domain/run/call-in-doubt.ts';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture, delta, hour, over } from '../support/run-fixture.ts';
import { begins, expireLeases, intent, lossSteps, note, point, settle } from './lost-workers.ts';

const { done, again, unknown } = doubtOptions;

describe.each(databaseKinds)(
  'a run whose worker is gone with a call under way, on %s (D-83)',
  (kind) => {
    let world: RunFixture;
    beforeAll(async () => {
      world = await createRunFixture(kind, {}, { afterLoss: 'repeat' });
    });
    const { callsOf, lose, started, answer, beginCall } = lossSteps(() => world);

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
          question: 'The server stopped while pay was running. Did it complete?',
          options: [
            { label: 'Yes, it completed' },
            { label: 'No, run it now' },
            { label: "I'm not sure, skip it" },
          ],
          about: { kind: 'call_in_doubt', tool_name: 'pay', tool_input: { amount: 5 } },
        },
      });
      expect(await world.claim(run)).toBeUndefined();
      await answer(run, 'in-doubt:call-1', { answer: done.label });
      expect(await world.read(run)).toMatchObject({ status: 'running', lease: null });
      const { input } = await world.claimed(run);
      expect(input.kind === 'continue' && input.calls.get('call-1')).toMatchObject({
        state: 'left',
      });
    });

    test.each([
      [{ answer: again.label }, { state: 'again' }],
      [{ answer: unknown.label }, { state: 'left', note: noteOfLeftCall }],
      [{ answer: 'run it now' }, { state: 'left', note: 'run it now' }],
      // Former labels: a run that waits across the upgrade has them in its stored question.
      [{ answer: 'It was not done: do it now' }, { state: 'again' }],
      [{ answer: 'It was done' }, { state: 'left', note: 'Marked as completed.' }],
      [{ answer: 'I do not know: leave it' }, { state: 'left', note: noteOfLeftCall }],
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

    test.each([
      ['tool and approved input are those of the permission', { path: 'b', text: 'x' }, 'waiting'],
      ['its input is another one', { path: 'a', text: 'x' }, 'running'],
    ])('knows an allowed call under another ref if %s (D-176)', async (_if, input, status) => {
      const leg = await started();
      const item = {
        type: 'permission_request',
        ref: 'middleware-1',
        toolName: 'write_file',
        toolInput: { text: 'x', path: 'a' },
      } as const;
      await world.record(leg, { items: [item], end: { status: 'waiting', ...over } });
      const updated = { text: 'x', path: 'b' };
      await answer(leg.run, 'middleware-1', { decision: 'allow', updated_input: updated });
      const resumed = await world.claimed(leg.run);
      await beginCall(resumed, { toolName: 'write_file', touches: 'workspace', input });
      expect(await lose(resumed.run)).toMatchObject({ status });
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
      expect(input.kind === 'continue' && input.answers.get('call-1')).toMatchObject({
        allow: true,
      });
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

    test('a question about a call expires like any other', async () => {
      const leg = await started();
      await beginCall(leg);
      await lose(leg.run);
      const asked = await world.store.read.interactions.findByRequest(
        leg.run.id,
        'in-doubt:call-1',
      );
      expect(asked?.expiresAt).toBe((asked?.createdAt ?? 0) + 72 * hour);
    });
  },
);

describe('what an agent allows', () => {
  const lost = async (parts: Parameters<typeof createRunFixture>[1]) => {
    const world = await createRunFixture('sqlite', parts, { afterLoss: 'repeat' });
    const leg = await world.claimed(await world.start(await world.open()));
    await world.record(leg, { notes: [intent(leg)] });
    await expireLeases(world, true);
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

  test('`in_doubt: tell` continues and tells the model', async () => {
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
