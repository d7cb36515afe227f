import { randomUUID } from 'node:crypto';
import type { RunEvent, RunRecord } from '@convoke/contract';
import { RunText } from '@convoke/faces';
import { describe, expect, test } from 'vitest';
import { Dispatcher } from '../../src/execution/dispatcher.ts';
import {
  answer,
  begin,
  cancel,
  ended,
  logOf,
  pendingIn,
  readRun,
  runIn,
  textOf,
} from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import type { PuppetLeg } from '../support/puppet-harness.ts';
import { type PuppetServerOptions, startPuppetServer } from '../support/puppet-server.ts';
import { type TestServer, startServer } from '../support/server.ts';

/** Longer than any leg of these tests needs to yield. */
const patientMs = 120_000;
const resumes = { afterLoss: 'repeat' } as const;
const onLossFail = { on_loss: 'fail' };

describe.each(databaseKinds)('a server that drains, on %s', (database) => {
  test('fifty drains during one run neither end it nor repeat a word (D-85)', async () => {
    // The server's only slot is taken; the test starts and drains workers of its own.
    const env = { CONVOKE_RUN_CONCURRENCY: '1', CONVOKE_LEASE_SECONDS: '300' };
    const { server, puppet } = await startPuppetServer({ database, env });
    const other = await begin(server, 'puppet');
    await puppet.leg();
    const { run } = await begin(server, 'puppet');
    for (let drain = 0; drain < 50; drain += 1) {
      const worker = await startWorker(server);
      const leg = await puppet.leg();
      leg.isYielding = true;
      expect(leg.input.kind).toBe(drain === 0 ? 'prompt' : 'continue');
      expect(leg.context.state).toEqual(drain === 0 ? undefined : { words: drain });
      leg.say(`word-${drain} `);
      leg.point({ words: drain + 1 });
      await worker.slots.drain(patientMs);
    }
    const worker = await startWorker(server);
    const last = await puppet.leg();
    last.say('end');
    last.end();
    const words = Array.from({ length: 50 }, (_, word) => `word-${word} `).join('');
    expect(await ended(server, run)).toMatchObject({
      status: 'completed',
      attempt: 1,
      output_text: `${words}end`,
    });
    await worker.slots.drain(patientMs);
    await cancel(server, other.run);
    const log = await logOf(server, run);
    expect(textOf(log)).toBe(`${words}end`);
    const resumed = log.filter(({ type }) => type === 'run_resumed');
    expect(resumed.map(({ data }) => data['reason'])).toEqual(Array(50).fill('drained'));
    expect(log.at(-1)?.data).not.toHaveProperty('recovered');
  });

  test('a `scripted` run continues between two steps, and no step is repeated (D-85)', async () => {
    const steps = [{ say: 'on ' }, { sleep_ms: 1 }];
    const tireless = { script: [{ repeat: { times: 5000, steps } }] };
    let server = await startServer({ database, agents: { tireless } });
    const { run } = await begin(server, 'tireless');
    for (let drains = 0; drains < 2; drains += 1) {
      await executes(server, run);
      server = await drained(server, patientMs);
      await runIn(server, run, 'running');
    }
    await executes(server, run);
    await cancel(server, run);
    const { status, attempt, output_text } = await ended(server, run);
    expect([status, attempt]).toEqual(['cancelled', 1]);
    const log = await logOf(server, run);
    expect(textOf(log)).toBe(output_text);
    expect(log.filter(({ type }) => type === 'run_interrupted')).toHaveLength(2);
  });
});

describe('a leg that is asked to yield', () => {
  test('is what a draining server shows that it waits for', async () => {
    const { server, leg } = await executing();
    leg.isYielding = false;
    await leg.context.effects.begin({ ref: 'a', toolName: 'a', input: {}, touches: 'outside' });
    const stopped = server.stop(patientMs);
    await leg.asked.promise;
    const refused = await server.refused('get_readiness');
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ status: 'draining', legs: 1, in_flight: 1 });
    await leg.context.effects.end('a', { ok: true, output: '' });
    const later = await server.refused('get_readiness');
    expect(later.body).toMatchObject({ status: 'draining', legs: 1, in_flight: 0 });
    leg.end('yielded');
    await stopped;
  });

  test('ends its run cancelled if that was requested before its end (D-94)', async () => {
    const { server, puppet, run, leg } = await executing();
    leg.isYielding = false;
    leg.isObedient = false;
    const stopped = server.stop(patientMs);
    await leg.asked.promise;
    await cancel(server, run);
    leg.end('yielded');
    await stopped;
    const next = await server.restart();
    expect(await readRun(next, run)).toMatchObject({ status: 'cancelled' });
    expect(puppet.hasStarted).toBe(false);
  });

  test('leaves its open question behind, and its answer makes the run continue', async () => {
    const { server, puppet, run, leg } = await executing();
    leg.isLive = true;
    leg.emit({ type: 'permission_request', ref: 'live', toolName: 'pay', toolInput: {} });
    await pendingIn(server, run.session_id);
    leg.point();
    const next = await drained(server, patientMs);
    expect(await readRun(next, run)).toMatchObject({ status: 'waiting' });
    await answer(next, await pendingIn(next, run.session_id), { decision: 'allow' });
    const { input } = await puppet.leg();
    expect(input).toMatchObject({ kind: 'continue', reason: 'drained' });
    expect(input.kind === 'continue' && input.answers.get('live')).toMatchObject({ allow: true });
  });

  test('may not yield unasked', async () => {
    const { server, run, leg } = await executing();
    leg.end('yielded');
    expect(await ended(server, run)).toMatchObject({ status: 'failed', error_code: 'agent_error' });
  });
});

describe('a leg that does not yield in time is cut (D-86)', () => {
  /** An agent that is in the middle of something when the drain is over. */
  async function cut(
    options: PuppetServerOptions,
    busy: (leg: PuppetLeg) => Promise<unknown> | undefined,
  ) {
    const { server, puppet, run, leg } = await executing(options);
    leg.isYielding = false;
    await busy(leg);
    const next = await drained(server, 0);
    return { server: next, puppet, run, leg };
  }
  const call = { ref: 'call-1', toolName: 'get_price', input: { of: 'tea' }, touches: 'outside' };

  test('its run continues from the last recovery point, as after a loss', async () => {
    const { server, puppet, run } = await cut({ afterLoss: 'repeat' }, async (leg) => {
      leg.say('Kept. ');
      leg.point({ at: 1 });
      leg.say('Lost.');
    });
    const leg = await puppet.leg();
    expect(leg.input).toMatchObject({ kind: 'continue', reason: 'drained' });
    expect(leg.context.state).toEqual({ at: 1 });
    leg.say('Said again.');
    leg.end();
    const { attempt, output_text } = await ended(server, run);
    expect([attempt, output_text]).toEqual([2, 'Kept. Said again.']);
    const log = await logOf(server, run);
    expect(joined(log)).toBe(output_text);
    // What was cut stays until the next leg says something else (D-473).
    const told = log.filter(({ type }) => type === 'run_interrupted').map(({ data }) => data);
    expect(told).toMatchObject([
      { reason: 'drained' },
      { reason: 'drained', discard_from_event_id: '000000000003' },
    ]);
    expect(told[0]).not.toHaveProperty('discard_from_event_id');
    expect(log.at(-1)?.data).toMatchObject({ recovered: true });
  });

  test('a call in flight is in doubt: a person is asked, and it is not repeated', async () => {
    const { server, run, leg } = await cut({ afterLoss: 'repeat' }, (busy) =>
      busy.context.effects.begin({ ...call, touches: 'outside' }),
    );
    await leg.killed.promise;
    expect(await readRun(server, run)).toMatchObject({ status: 'waiting' });
    expect(await pendingIn(server, run.session_id)).toMatchObject({
      request_id: 'in-doubt:call-1',
      about: { kind: 'call_in_doubt', tool_name: 'get_price' },
    });
  });

  test('a call in flight that is repeatable is carried out again', async () => {
    const recovery = { repeatable_tools: ['get_*'] };
    const options = { afterLoss: 'repeat', puppetAgent: { recovery } } as const;
    const { puppet } = await cut(options, (busy) =>
      busy.context.effects.begin({ ...call, touches: 'outside' }),
    );
    const { input } = await puppet.leg();
    expect(input.kind === 'continue' && input.calls.get('call-1')).toEqual({
      toolName: call.toolName,
      input: call.input,
      state: 'again',
    });
  });

  test('no call begins once it is cut', async () => {
    const { leg } = await cut({ afterLoss: 'repeat' }, async () => {});
    expect(await leg.context.effects.begin({ ...call, touches: 'outside' })).toEqual({
      kind: 'left',
    });
  });

  test.each<[string, PuppetServerOptions]>([
    ['a framework that cannot continue', { afterLoss: 'none' }],
    ['an agent that does not want it', { ...resumes, puppetAgent: { recovery: onLossFail } }],
    ['a deployment that does not want it', { ...resumes, env: { CONVOKE_RECOVERY: 'fail' } }],
  ])('the run of %s ends worker_lost', async (_, options) => {
    const { server, run } = await cut(options, async (leg) => leg.say('Half'));
    const read = await readRun(server, run);
    expect(read).toMatchObject({ error_code: 'worker_lost', output_text: 'Half' });
    expect((await logOf(server, run)).at(-1)?.data).not.toHaveProperty('recovered');
  });

  test('so is a leg that yields with text behind its last recovery point', async () => {
    const { server, puppet, run, leg } = await executing({ afterLoss: 'repeat' });
    leg.point();
    leg.say('Not covered.');
    const next = await drained(server, patientMs);
    const again = await puppet.leg();
    again.say('Not ');
    again.point();
    again.end();
    const { attempt, output_text } = await ended(next, run);
    expect([attempt, output_text]).toEqual([2, 'Not ']);
  });
});

/** The part of a server that executes runs. */
async function startWorker(server: TestServer): Promise<Dispatcher> {
  const owner = randomUUID();
  const options = { owner, machine: 'machine', holdsLeases: () => true, onFree: () => {} };
  const worker = new Dispatcher(server.convoke.services, options);
  worker.slots.accept();
  await worker.dispatchRuns();
  return worker;
}

async function executing(options: PuppetServerOptions = {}) {
  const { server, puppet } = await startPuppetServer(options);
  const { run } = await begin(server, 'puppet');
  const leg = await puppet.leg();
  leg.isYielding = true;
  return { server, puppet, run, leg };
}

/** Resolves once the run has said something more. */
async function executes(server: TestServer, run: RunRecord): Promise<void> {
  const { last_event_id: before } = await readRun(server, run);
  await eventually(async () => (await readRun(server, run)).last_event_id !== before);
}

/** The next process on the same data, after a drain. */
async function drained(server: TestServer, graceMs: number): Promise<TestServer> {
  await server.stop(graceMs);
  return server.restart();
}

/** The answer as a reader joins it from the events. */
function joined(log: readonly RunEvent[]): string {
  const text = new RunText();
  for (const event of log) text.take(event);
  return text.text;
}
