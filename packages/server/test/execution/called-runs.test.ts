import { type ClientId, type RunId, runId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { cancelRun } from '../../src/app/runs/runs.ts';
import { stopSession } from '../../src/app/sessions.ts';
import { listTenantRuns } from '../../src/app/tenant-reads.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { readRules, rulesOfAgent } from '../../src/domain/rules/rule.ts';
import type { CallEvent } from '../../src/execution/recording/raise-calls.ts';
import { cancelCalledRuns } from '../../src/workers/cancel-called-runs.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { settleWaits } from '../../src/workers/settle-waits.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture, delta, hour, over } from '../support/run-fixture.ts';

const research = {
  type: 'wait',
  ref: 'call researcher 1',
  kind: 'run',
  name: 'researcher',
  input: { prompt: 'chairs' },
} as const satisfies CallEvent;
const parked = { status: 'waiting', ...over } as const;
const completed = (outputText: string) => ({ status: 'completed', outputText }) as const;
const failed = {
  status: 'failed',
  code: 'model_error',
  message: 'The model is down.',
  ...over,
} as const;

const everybody = ['agent', 'researcher', 'critic', 'editor', 'clerk', 'porter', 'guard'];
const calls = [...everybody, 'nobody'];
const limits = {
  runSeconds: 900,
  waitHours: 72,
  ceiling: { maxTokens: 100, maxCostMicros: null },
};
const others = [
  ...everybody.slice(1).map((name) => ({ name, framework: 'scripted', calls })),
  { name: 'spender', framework: 'scripted', calls, limits },
];

describe.each(databaseKinds)('a run that another run has called, on %s (D-920)', (kind) => {
  let world: RunFixture;
  let client: ClientId;
  beforeAll(async () => {
    world = await createRunFixture(kind, { framework: 'scripted', calls }, { others });
    world.harnesses.set('scripted', { replays: true, afterLoss: 'repeat' });
    client = (await world.seed.client(world.scope.organizationId)).record.id;
  });

  const begun = async () => {
    const run = await world.start(await world.open(), 'plan', client);
    return { run, leg: await world.claimed(run) };
  };

  /** A caller that is parked on its calls, and the runs that it has called. */
  async function calling(...items: CallEvent[]) {
    const { run, leg } = await begun();
    await world.record(leg, { items: items.length === 0 ? [research] : items, end: parked });
    return { caller: await world.read(run), called: await calledBy(run) };
  }

  async function calledBy(run: Pick<Run, 'id'>): Promise<Run[]> {
    const waits = await world.store.read.waits.ofRun(run.id);
    const ids = waits.flatMap(({ childRunId }) => (childRunId === null ? [] : [childRunId]));
    return Promise.all(ids.map((id) => world.read({ id })));
  }

  async function only(called: readonly Run[]): Promise<Run> {
    const [first] = called;
    if (first === undefined || called.length !== 1) throw new Error(`${called.length} runs`);
    return first;
  }

  const waitOf = async (run: Pick<Run, 'id'>, ref: string = research.ref) =>
    world.store.read.waits.findByRef(run.id, ref);

  async function resultIn(run: Pick<Run, 'id'>, ref: string = research.ref) {
    const { input } = await world.claimed(await world.read(run));
    return 'waits' in input ? input.waits?.get(ref) : undefined;
  }

  const cancel = (run: Run) =>
    cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id, by: 'cli_by' });

  test('is an ordinary run in a session of its own, while its caller sleeps', async () => {
    const { caller, called } = await calling();
    const child = await only(called);
    expect(caller).toMatchObject({ status: 'running', lease: null, openWaits: 1 });
    expect(child).toMatchObject({
      status: 'queued',
      agentName: 'researcher',
      ancestors: `${caller.id}/`,
      clientId: client,
      createdBy: caller.createdBy,
      input: '{"prompt":"chairs"}',
    });
    expect(child.sessionId).not.toBe(caller.sessionId);
    expect((await world.logOf(caller.id)).at(-1)).toMatchObject({
      type: 'wait_started',
      data: { kind: 'run', child_run_id: child.id, child_session_id: child.sessionId },
    });
  });

  test('gives its caller the answer: its end, the wait and the wake-up are one transaction', async () => {
    const { caller, called } = await calling();
    const child = await only(called);
    await world.record(await world.claimed(child), {
      items: [delta('Oak.')],
      end: { ...completed('Oak.'), output: { wood: 'oak' } },
    });
    expect((await world.logOf(caller.id)).at(-1)).toMatchObject({
      type: 'wait_ended',
      data: { kind: 'run', name: 'researcher', outcome: 'completed' },
    });
    expect(await resultIn(caller)).toMatchObject({
      result: { outcome: 'completed' },
      called: {
        id: child.id,
        sessionId: child.sessionId,
        text: 'Oak.',
        output: { wood: 'oak' },
      },
    });
  });

  test('is started once, whatever its caller repeats', async () => {
    const { run, leg } = await begun();
    await world.record(leg, { items: [research] });
    await world.record(leg, { items: [research, research], end: parked });
    expect(await calledBy(run)).toHaveLength(1);
    expect(await world.read(run)).toMatchObject({ openWaits: 1 });
  });

  test('that ends while a leg of its caller executes is found at the end of that leg', async () => {
    const { run, leg } = await begun();
    await world.record(leg, { items: [research] });
    const child = await only(await calledBy(run));
    await world.record(await world.claimed(child), { end: completed('Oak.') });
    expect(await world.read(run)).toMatchObject({ openWaits: 0, readyAt: null });
    await world.record(leg, { items: [], end: parked });
    expect(await resultIn(run)).toMatchObject({ called: { text: 'Oak.' } });
  });

  test('that fails is a value for its caller', async () => {
    const { caller, called } = await calling();
    await world.record(await world.claimed(await only(called)), { end: failed });
    const result = { outcome: 'failed', code: 'model_error', message: 'The model is down.' };
    expect(await resultIn(caller)).toMatchObject({ result });
  });

  test('that a person cancels is a value for its caller', async () => {
    const { caller, called } = await calling();
    await cancel(await only(called));
    expect(await resultIn(caller)).toMatchObject({ result: { outcome: 'cancelled' } });
  });

  const ends: Readonly<Record<string, (caller: Run) => Promise<unknown>>> = {
    'is cancelled': cancel,
    'is stopped with its session': (caller) =>
      stopSession(world, world.scope, {
        id: caller.sessionId,
        mode: 'terminate',
        reason: 'x',
        by: 'cli_by',
      }),
    fails: async (caller) => {
      await world.record(await world.claimed(caller), { end: failed });
    },
    completes: async (caller) => {
      await world.record(await world.claimed(caller), { end: completed('without it') });
    },
  };

  test.each(Object.entries(ends))(
    'is cancelled, and all below it, where its caller %s',
    async (how, end) => {
      const { run, leg } = await begun();
      await world.record(leg, { items: [research] });
      const child = await only(await calledBy(run));
      const review = { ...research, ref: 'call critic 1', name: 'critic' };
      await world.record(await world.claimed(child), { items: [review], end: parked });
      const grandchild = await only(await calledBy(child));
      const isAwake = how === 'fails' || how === 'completes';
      // Of a caller that ends on its own, the leg still executes.
      if (isAwake)
        await world.record(leg, { items: [], end: how === 'fails' ? failed : completed('') });
      else {
        await world.record(leg, { items: [], end: parked });
        await end(await world.read(run));
      }
      expect(await world.store.read.waits.doomed(1000)).not.toEqual([]);
      await settled();
      expect(await world.read(child)).toMatchObject({
        status: 'cancelled',
        cancelledBy: isAwake ? null : 'cli_by',
      });
      expect(await world.read(grandchild)).toMatchObject({ status: 'cancelled' });
      const types = (await world.logOf(run.id)).map(({ type }) => type);
      expect(types).not.toContain('wait_ended');
    },
  );

  /** What the passes of a server do, until they find nothing more. */
  async function settled(): Promise<void> {
    for (let round = 0; round < 4; round += 1) {
      await cancelCalledRuns(world);
      await endParkedCancellations(world);
    }
    expect(await world.store.read.waits.doomed(1000)).toEqual([]);
  }

  test('that takes too long is cancelled, and its caller goes on', async () => {
    const { caller, called } = await calling({ ...research, due: { inMs: hour } });
    const child = await only(called);
    const leg = await world.claimed(child);
    world.clock.advance(hour);
    await settleWaits(world);
    expect(await resultIn(caller)).toMatchObject({ result: { outcome: 'timed_out' } });
    await settled();
    expect(await world.read(child)).toMatchObject({ status: 'cancelling', cancelledBy: null });
    await world.record(leg, { end: completed('too late') });
    expect(await world.read(child)).toMatchObject({ status: 'cancelled' });
    expect((await waitOf(caller))?.result).toEqual({ outcome: 'timed_out' });
  });

  test('is not started for a run that is being cancelled', async () => {
    const { run, leg } = await begun();
    await cancel(run);
    await world.record(leg, { items: [research], end: parked });
    expect(await calledBy(run)).toEqual([]);
    expect(await world.read(run)).toMatchObject({ status: 'cancelled' });
  });

  const refused: readonly [string, Partial<CallEvent>, RegExp][] = [
    ['an agent that agent.yaml does not name', { name: 'stranger' }, /may not call stranger/],
    ['an agent that does not exist', { name: 'nobody' }, /does not exist or is not enabled/],
    ['itself', { name: 'agent' }, /agent is one of the callers/],
    ['files', { input: { prompt: 'x', files: ['file_1'] } }, /takes no files/],
    ['an input that the agent does not take', { input: { question: 1 } }, /input/],
  ];

  test.each(refused)('is refused as a value: %s', async (_name, parts, message) => {
    const { run, leg } = await begun();
    const other = { ...research, ref: 'call researcher 2' };
    await world.record(leg, { items: [{ ...research, ...parts }, other], end: parked });
    const wait = await waitOf(run);
    expect(wait).toMatchObject({ status: 'settled', childRunId: null });
    expect(wait?.result).toMatchObject({ outcome: 'refused', code: 'refused' });
    expect(wait?.result).toHaveProperty('message', expect.stringMatching(message));
    // The other call of the batch is started all the same, and the caller gets its refusal at once.
    expect(await calledBy(run)).toHaveLength(1);
    expect(await resultIn(run)).toMatchObject({ state: 'settled', number: 1 });
    expect(await world.read(run)).toMatchObject({ openWaits: 1 });
    const ended = (await world.logOf(run.id)).find(({ type }) => type === 'wait_ended');
    expect(ended?.data).toMatchObject({ outcome: 'refused', error_code: 'refused' });
  });

  test('is refused where the client behind the caller may start no runs any more', async () => {
    const run = await world.start(await world.open());
    await world.record(await world.claimed(run), { items: [research], end: parked });
    expect((await waitOf(run))?.result).toMatchObject({ outcome: 'refused' });
  });

  test('is no caller of its callers, and stands at most five deep', async () => {
    let { run, leg } = await begun();
    for (const name of ['researcher', 'critic', 'editor', 'clerk', 'porter']) {
      const back = { ...research, ref: 'call agent 1', name: 'agent' };
      await world.record(leg, { items: [{ ...research, name }, back] });
      expect((await waitOf(run, back.ref))?.result).toMatchObject({ outcome: 'refused' });
      run = await only(await calledBy(run));
      leg = await world.claimed(run);
    }
    expect(run.ancestors?.split('/')).toHaveLength(6);
    await world.record(leg, { items: [{ ...research, name: 'guard' }] });
    expect(await calledBy(run)).toEqual([]);
    const why = { message: 'Calls go 5 deep at most.' };
    expect((await waitOf(run))?.result).toMatchObject(why);
  });

  test('is one of a hundred of its caller at most', async () => {
    const { run, leg } = await begun();
    const many = Array.from({ length: 102 }, (_, at) => ({ ...research, ref: `call ${at}` }));
    await world.record(leg, { items: many, end: parked });
    expect(await calledBy(run)).toHaveLength(100);
    expect((await waitOf(run, 'call 100'))?.result).toHaveProperty(
      'message',
      'A run calls at most 100 others.',
    );
  });

  const rules = (effect: 'approval' | 'deny') => ({
    agentName: 'agent',
    startedBy: null,
    agent: rulesOfAgent(
      agentOf(
        effect === 'approval'
          ? { approvalRequiredTools: ['call_*'] }
          : {
              rules: readRules([
                { name: 'no-calls', tools: ['call_*'], effect: 'deny', reason: 'Not today.' },
              ]),
            },
      ),
    ),
  });

  async function asked() {
    const { run, leg } = await begun();
    await world.record(leg, { items: [research], end: parked }, rules('approval'));
    const [request] = await world.store.read.interactions.pending(run.id, 2);
    if (request === undefined) throw new Error('nobody was asked');
    expect(request).toMatchObject({
      kind: 'permission',
      toolName: 'call_researcher',
      toolInput: { prompt: 'chairs' },
    });
    return { run: await world.read(run), request };
  }

  const answer = (run: Run, key: string, body: object) =>
    answerInteraction(world, world.scope, {
      sessionId: run.sessionId,
      key: key as never,
      body: body as never,
      by,
      allower,
    });

  test('waits for a person where a rule says so, and only the approved input is started', async () => {
    const { run, request } = await asked();
    expect(run).toMatchObject({ status: 'waiting', openWaits: 0, pendingInteractions: 1 });
    expect(await calledBy(run)).toEqual([]);
    const updated_input = { prompt: 'tables' };
    await answer(run, request.key, { decision: 'allow', updated_input });
    const leg = await world.claimed(await world.read(run));
    const forged = { ...research, input: { prompt: 'thrones' } };
    await world.record(leg, { items: [forged], end: parked }, rules('approval'));
    expect((await only(await calledBy(run))).input).toBe('{"prompt":"tables"}');
  });

  test('that a person does not allow is a value, with the words of that person', async () => {
    const { run, request } = await asked();
    await answer(run, request.key, { decision: 'deny', message: 'Too expensive.' });
    const leg = await world.claimed(await world.read(run));
    await world.record(leg, { items: [research], end: parked }, rules('approval'));
    expect(await calledBy(run)).toEqual([]);
    const result = { outcome: 'refused', code: 'denied', message: 'Too expensive.' };
    expect(await resultIn(run)).toMatchObject({ result });
  });

  test('that a rule denies is a value, and the decision is in the log', async () => {
    const { run, leg } = await begun();
    await world.record(leg, { items: [research], end: parked }, rules('deny'));
    const message = expect.stringContaining('Not today.');
    const result = { outcome: 'refused', code: 'denied', message };
    expect(await resultIn(run)).toMatchObject({ result });
    const types = (await world.logOf(run.id)).map(({ type }) => type);
    expect(types).toContain('call_decided');
  });

  test('counts for the ceilings of its callers, however deep (D-923)', async () => {
    const run = await world.start(await world.open('spender'), 'plan', client);
    await world.record(await world.claimed(run), { items: [research], end: parked });
    const child = await only(await calledBy(run));
    const below = await world.claimed(child);
    await world.record(below, { items: [{ ...research, name: 'critic' }] });
    const grandchild = await only(await calledBy(child));
    const used = await world.claimed(grandchild);
    await world.store.transaction(async (tx) => {
      await tx.runs.extendLog({
        runId: grandchild.id,
        epoch: used.run.leaseEpoch,
        count: 0,
        now: world.clock.now(),
        usage: { inputTokens: 60, outputTokens: 50, costMicros: null, currency: null },
      });
    });
    const { ceilings } = await world.store.read.budgets.ofRun(grandchild.id, world.clock.now());
    expect(ceilings).toMatchObject([{ runId: run.id, spent: { tokens: 110 } }]);
    const more = { ...research, ref: 'call guard 1', name: 'guard' };
    await world.record(below, { items: [more] });
    expect((await waitOf(child, more.ref))?.result).toHaveProperty(
      'message',
      'The budget of the run, or of one that called it, is used up.',
    );
  });

  test('is listed below each of its callers, and below no other run', async () => {
    const { caller, called } = await calling();
    const child = await only(called);
    const { called: foreign } = await calling();
    const review = { ...research, name: 'critic' };
    await world.record(await world.claimed(child), { items: [review], end: parked });
    const grandchild = await only(await calledBy(child));
    const below = async (ancestorRunId: RunId) => {
      const page = { limit: 100, order: 'asc', after: undefined } as const;
      const request = { filter: {}, ancestorRunId, page };
      return (await listTenantRuns(world, world.scope, request)).items.map(({ id }) => id);
    };
    expect(await below(caller.id)).toEqual([child.id, grandchild.id]);
    expect(await below(child.id)).toEqual([grandchild.id]);
    expect(await below(grandchild.id)).toEqual([]);
    expect(await below(runId('run_of_nobody'))).toEqual([]);
    expect(foreign).toHaveLength(1);
  });

  test('ends while its caller is cancelled: whoever is first, nothing follows the end', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { caller, called } = await calling();
      const leg = await world.claimed(await only(called));
      await Promise.all([
        world.record(leg, { end: completed('Oak.') }),
        cancel(caller),
        cancelCalledRuns(world),
      ]);
      await settled();
      expect((await world.logOf(caller.id)).at(-1)?.type).toBe('run_cancelled');
      expect(await world.read(caller)).toMatchObject({ status: 'cancelled', openWaits: 0 });
    }
  });
});
