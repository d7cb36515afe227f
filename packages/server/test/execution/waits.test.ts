import { beforeAll, describe, expect, test } from 'vitest';
import { cancelRun } from '../../src/app/runs/runs.ts';
import { startRun } from '../../src/app/runs/start-run.ts';
import { sendSignal } from '../../src/app/runs/signals.ts';
import type { Json } from '../../src/domain/json.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { expireInteractions } from '../../src/workers/retention/expire-interactions.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { settleWaits } from '../../src/workers/settle-waits.ts';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture, hour, over } from '../support/run-fixture.ts';

const nap = { type: 'wait', ref: 'sleep nap', kind: 'timer', name: 'nap' } as const;
const longNap = { ...nap, due: { inMs: hour } };
const receive = { ...nap, ref: 'receive paid', kind: 'signal', name: 'paid' } as const;
const parked = { status: 'waiting', ...over } as const;

describe.each(databaseKinds)('a run that sleeps, on %s (D-850)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind, { framework: 'scripted' });
    world.harnesses.set('scripted', { replays: true, afterLoss: 'repeat' });
  });

  async function sleeping(items: Parameters<RunFixture['record']>[1]['items'] = [longNap]) {
    const run = await world.start(await world.open());
    await world.record(await world.claimed(run), { items, end: parked });
    return world.read(run);
  }

  test('is running, and has no lease (D-11: waiting means a person)', async () => {
    const run = await sleeping();
    expect(run).toMatchObject({ status: 'running', lease: null, openWaits: 1, readyAt: null });
    expect((await world.session(run.sessionId))?.status).toBe('running');
    expect(await world.claim(run)).toBeUndefined();
    const { dueAt } = (await world.store.read.waits.open(run.id, 1))[0] ?? {};
    expect((await world.logOf(run.id)).at(-1)).toMatchObject({
      type: 'wait_started',
      data: { kind: 'timer', name: 'nap', until: new Date(dueAt ?? 0).toISOString() },
    });
  });

  test('wakes when its time is over, once, and the leg has the wait', async () => {
    const run = await sleeping();
    await settleWaits(world);
    expect((await world.read(run)).readyAt).toBeNull();
    world.clock.advance(hour);
    await Promise.all([settleWaits(world), settleWaits(world)]);
    await settleWaits(world);
    const ended = (await world.logOf(run.id)).filter(({ type }) => type === 'wait_ended');
    expect(ended).toMatchObject([{ data: { name: 'nap', outcome: 'fired' } }]);
    const leg = await world.claimed(await world.read(run));
    const { input } = leg;
    const settled = { state: 'settled', kind: 'timer', number: 1, result: { outcome: 'fired' } };
    expect(input).toMatchObject({ kind: 'continue', reason: 'answered' });
    expect('waits' in input && input.waits?.get('sleep nap')).toEqual(settled);
    expect(await world.read(run)).toMatchObject({ status: 'running', openWaits: 0 });
    expect(await world.store.read.waits.hasUnapplied(run.id)).toBe(false);
  });

  test('is raised once, whatever its leg repeats', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    await world.record(leg, { items: [longNap] });
    expect(await world.read(run)).toMatchObject({ status: 'running', openWaits: 1 });
    await world.record(leg, { items: [{ ...longNap, due: { inMs: 1 } }], end: parked });
    expect(await world.read(run)).toMatchObject({ lease: null, openWaits: 1 });
    expect(await world.store.read.waits.ofRun(run.id)).toHaveLength(1);
  });

  test('that was settled while its leg ended is ready at once: no wake-up is lost (D-853)', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    await world.record(leg, { items: [longNap] });
    world.clock.advance(hour);
    await settleWaits(world);
    expect(await world.read(run)).toMatchObject({ status: 'running', openWaits: 0, readyAt: null });
    await world.record(leg, { items: [], end: parked });
    expect(await world.claim(run)).toBeDefined();
  });

  test('refuses a message of a chat, and says until when it sleeps (D-913)', async () => {
    const run = await sleeping([longNap]);
    const chat = { sessionId: run.sessionId, input: { prompt: 'hi' }, clientId: null } as const;
    const request = { ...chat, createdBy: 'usr_1', idempotencyKey: undefined, chargeRate() {} };
    const asked = { ...request, isRefusedWhileWaiting: true };
    const { dueAt } = (await world.store.read.waits.open(run.id, 1))[0] ?? {};
    const until = new Date(dueAt ?? 0).toISOString().slice(0, 16).replace('T', ' ');
    await expect(startRun(world, world.scope, asked)).rejects.toMatchObject({
      code: 'session_busy',
      message: `The agent waits until ${until} UTC for "nap".`,
    });
    world.clock.advance(hour);
    await settleWaits(world);
    expect((await startRun(world, world.scope, asked)).resource.status).toBe('queued');
  });

  test('wakes beside a question that nobody has answered', async () => {
    const question = { type: 'user_question', ref: 'q', question: 'Ship it?' } as const;
    const run = await sleeping([question, { ...nap, due: { inMs: 1000 } }]);
    expect(run).toMatchObject({ status: 'waiting', pendingInteractions: 1, openWaits: 1 });
    world.clock.advance(1000);
    await settleWaits(world);
    const leg = await world.claimed(await world.read(run));
    expect(leg.run).toMatchObject({ status: 'running', pendingInteractions: 1 });
    await world.record(leg, { items: [question], end: parked });
    expect(await world.read(run)).toMatchObject({ status: 'waiting', readyAt: null });
    await world.record(leg, { items: [] });
  });

  test('is not ended by a question whose time is over while it works, and is once it parks again (D-916)', async () => {
    const question = { type: 'user_question', ref: 'q', question: 'Ship it?' } as const;
    const run = await sleeping([question, { ...nap, due: { inMs: 1000 } }]);
    world.clock.advance(1000);
    await settleWaits(world);
    // The question is for an hour, as `record` has it.
    world.clock.advance(hour);
    await expireInteractions(world);
    const leg = await world.claimed(await world.read(run));
    await expireInteractions(world);
    expect(leg.run).toMatchObject({ status: 'running', pendingInteractions: 1 });
    const more = { ...longNap, ref: 'sleep nap#2' };
    await world.record(leg, { items: [question, more], end: parked });
    expect(await world.read(run)).toMatchObject({ status: 'waiting', openWaits: 1 });
    await expireInteractions(world);
    expect(await world.read(run)).toMatchObject({
      status: 'failed',
      error: { code: 'interaction_expired' },
      openWaits: 0,
    });
  });

  test('keeps no other run from its end, however many of its questions are over (D-916)', async () => {
    const questions = Array.from({ length: 100 }, (_, at) => {
      return { type: 'user_question', ref: `q${at}`, question: 'Ship it?' } as const;
    });
    const awake = await sleeping([...questions, { ...nap, due: { inMs: 1000 } }]);
    world.clock.advance(1000);
    await settleWaits(world);
    const other = await sleeping([{ type: 'user_question', ref: 'q', question: 'And this?' }]);
    world.clock.advance(hour + 1);
    await expireInteractions(world);
    expect(await world.read(awake)).toMatchObject({ pendingInteractions: 100 });
    expect(await world.read(other)).toMatchObject({ error: { code: 'interaction_expired' } });
  });

  test('that needs no answer any more completes, although the time for it is over (D-916)', async () => {
    const question = { type: 'user_question', ref: 'q', question: 'Ship it?' } as const;
    const run = await sleeping([question, { ...nap, due: { inMs: 1000 } }]);
    world.clock.advance(1000);
    await settleWaits(world);
    const leg = await world.claimed(await world.read(run));
    world.clock.advance(hour);
    expect(await expireInteractions(world)).toBe(false);
    await world.record(leg, { items: [], end: { status: 'completed', outputText: 'Too late.' } });
    expect(await world.read(run)).toMatchObject({ status: 'completed', pendingInteractions: 0 });
  });

  test('cancels its waits with the run, and no timer fires afterwards', async () => {
    const run = await sleeping();
    await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
    await endParkedCancellations(world);
    world.clock.advance(hour);
    await settleWaits(world);
    expect(await world.read(run)).toMatchObject({ status: 'cancelled', openWaits: 0 });
    expect((await world.logOf(run.id)).at(-1)?.type).toBe('run_cancelled');
    expect((await world.store.read.waits.ofRun(run.id))[0]?.status).toBe('cancelled');
  });

  test('that is being cancelled opens no more', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
    await world.record(leg, { items: [longNap], end: parked });
    expect(await world.read(run)).toMatchObject({ status: 'cancelled', openWaits: 0 });
    expect(await world.store.read.waits.ofRun(run.id)).toEqual([]);
  });

  test('is no notice when it continues: a fan-in would be one each', async () => {
    const run = await sleeping();
    world.clock.advance(hour);
    await settleWaits(world);
    await world.claimed(await world.read(run));
    const rows = await world.database.all<{ body: string }>({
      strings: ['select body from outbox where body like ', ''],
      values: [`%${run.id}%`],
    });
    expect(rows.map(({ body }) => JSON.parse(body).type)).not.toContain('run_resumed');
  });

  function send({ id: runId }: Run, data: Json, idempotencyKey?: string) {
    const by = { kind: 'client', id: 'cli_shop', requestId: 'req_1', address: null } as const;
    const message = { runId, name: 'paid', data, by, idempotencyKey, chargeRate: () => {} };
    return sendSignal(world, world.scope, message);
  }

  const received = async (run: Run) =>
    (await world.store.read.waits.ofRun(run.id)).map(({ result }) => result);

  test('gets a message at once where it waits for one, and once (D-856)', async () => {
    const run = await sleeping([receive]);
    const both = await Promise.all([send(run, 20, 'evt'), send(run, 20, 'evt')]);
    expect(both.filter(({ isReplayed }) => isReplayed)).toHaveLength(1);
    expect(both.every(({ isReceived }) => isReceived)).toBe(true);
    const { input } = await world.claimed(await world.read(run));
    const result = { outcome: 'received', data: 20 };
    expect('waits' in input && input.waits?.get('receive paid')).toMatchObject({ result });
    expect(JSON.stringify(await world.logOf(run.id))).not.toContain('20}');
  });

  test('keeps messages that come early, and takes each once, the oldest first', async () => {
    const run = await world.start(await world.open());
    expect(await send(run, 'first')).toMatchObject({ isReceived: false });
    await send(run, 'second');
    const leg = await world.claimed(run);
    await world.record(leg, { items: [receive], end: parked });
    const next = await world.claimed(await world.read(run));
    await world.record(next, { items: [{ ...receive, ref: 'receive paid#2' }], end: parked });
    const last = await world.claimed(await world.read(run));
    await world.record(last, { items: [{ ...receive, ref: 'receive paid#3' }], end: parked });
    expect(await received(run)).toMatchObject([{ data: 'first' }, { data: 'second' }, null]);
    expect(await world.read(run)).toMatchObject({ openWaits: 1, readyAt: null });
  });

  test('loses no message to the end of the time for it: whichever is first', async () => {
    const run = await sleeping([{ ...receive, due: { inMs: 1000 } }]);
    world.clock.advance(1000);
    const [{ isReceived }] = await Promise.all([send(run, 20), settleWaits(world)]);
    const [result] = await received(run);
    expect(result?.outcome).toBe(isReceived ? 'received' : 'timed_out');
    const { kept } = await world.store.read.waits.messages(run.id);
    expect(kept).toBe(isReceived ? 0 : 1);
  });

  test('that has ended, or is being cancelled, takes no message', async () => {
    const run = await sleeping([receive]);
    await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
    await expect(send(run, 20)).rejects.toMatchObject({ code: 'run_terminal' });
    await endParkedCancellations(world);
    await expect(send(run, 20)).rejects.toMatchObject({ code: 'run_terminal' });
  });
});
