import { type RunStatus, organizationId, runId, sessionId, tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { outcomeOfLostWorker } from '../../src/domain/run/recovery.ts';
import { cancelRun } from '../../src/domain/run/run-cancel.ts';
import {
  type CancellingRun,
  type OpenRun,
  type Run,
  type RunOutcome,
  endRun,
  leaseRun,
  openRun,
  outcomeOf,
  parkRun,
  unparkRun,
} from '../../src/domain/run/run.ts';
import { recordProgress } from '../../src/domain/run/run-progress.ts';

const now = 1_000;
const later = 2_000;
const lease = { owner: 'worker-1', expiresAt: 17_000 };
const grant = { ...lease, machine: 'machine-1', agentDigest: 'd1' };

const identity = {
  id: runId('run_1'),
  organizationId: organizationId('org_1'),
  tenantId: tenantId('ten_1'),
  sessionId: sessionId('sess_1'),
  agentName: 'echo',
  clientId: null,
  number: 1,
  input: '{"prompt":"hi"}',
};

const queued = openRun(identity, { isHead: true, now });
const running = leaseRun(queued, grant, now);
const progress = {
  outputText: 'so far',
  pendingInteractions: 1,
  openWaits: 0,
  isUsagePartial: false,
};
const waiting = parkRun(recordProgress(running, progress), now);
const cancelling: CancellingRun = { ...running, status: 'cancelling', cancelRequestedAt: now };
const completed = endRun(running, { status: 'completed' }, { now });
const failed = endRun(
  running,
  { status: 'failed', code: 'agent_error', message: 'broken' },
  { now },
);
const cancelled = endRun(cancelling, { status: 'cancelled' }, { now });

const states = {
  queued,
  running,
  waiting,
  cancelling,
  completed,
  failed,
  cancelled,
} satisfies Record<RunStatus, Run>;

describe('cancel in every state (D-24)', () => {
  test.each([
    ['queued', 'unstarted', 'queued'],
    ['running', 'asked', 'cancelling'],
    ['waiting', 'asked', 'cancelling'],
    ['cancelling', 'already', 'cancelling'],
    ['cancelled', 'already', 'cancelled'],
  ] as const)('%s: %s, the run is %s', (status, kind, next) => {
    const ruling = cancelRun(states[status], later);
    expect(ruling).toMatchObject({ ok: true, value: { kind, run: { status: next } } });
  });

  test.each(['completed', 'failed'] as const)('%s: refused as run_terminal', (status) => {
    expect(cancelRun(states[status], later)).toEqual({ ok: false, code: 'run_terminal' });
  });

  test('a second cancel keeps the time of the first', () => {
    expect(cancelRun(cancelling, later)).toMatchObject({
      ok: true,
      value: { run: { cancelRequestedAt: now } },
    });
  });

  test('a cancelled parked run has no pending interactions, and no leg of it may start', () => {
    expect(cancelRun(unparkRun(waiting, later), later)).toMatchObject({
      ok: true,
      value: { run: { pendingInteractions: 0, lease: null } },
    });
  });

  test('a run that something else has woken beside its question waits for no person any more', () => {
    expect(cancelRun({ ...running, pendingInteractions: 1 }, later)).toMatchObject({
      ok: true,
      value: { run: { pendingInteractions: 0, lease } },
    });
  });

  test('a run that executes stays with the worker that holds it', () => {
    expect(cancelRun(running, later)).toMatchObject({
      ok: true,
      value: { run: { lease } },
    });
  });
});

describe('a lease', () => {
  test('names the version of the agent that its leg executes (D-574)', () => {
    const again = leaseRun(unparkRun(waiting, later), { ...grant, agentDigest: 'd2' }, later);
    expect([queued, running, again].map((run) => run.agentDigest)).toEqual([null, 'd1', 'd2']);
  });

  test('is taken under a new epoch each time, and the start is the first one', () => {
    const again = leaseRun(unparkRun(waiting, later), { ...grant, owner: 'worker-2' }, later);
    expect(running).toMatchObject({ status: 'running', leaseEpoch: 1, startedAt: now });
    expect(again).toMatchObject({
      status: 'running',
      lease: { ...lease, owner: 'worker-2' },
      leaseEpoch: 2,
      startedAt: now,
    });
    expect(again.readyAt).toBeNull();
  });

  test('is given back when the run parks', () => {
    expect(waiting).toMatchObject({
      status: 'waiting',
      lease: null,
      leaseEpoch: 1,
      outputText: 'so far',
    });
  });

  test('only the head of its session is ready to be picked up at once', () => {
    expect(queued.readyAt).toBe(now);
    expect(openRun(identity, { isHead: false, now }).readyAt).toBeNull();
  });
});

describe('the end of a run (D-21)', () => {
  const outcomes: readonly RunOutcome[] = [
    { status: 'completed' },
    { status: 'cancelled' },
    { status: 'failed', code: 'run_timeout', message: 'too long' },
  ];
  const open: readonly OpenRun[] = [queued, running, waiting, cancelling];
  const cells = open.flatMap((run) => outcomes.map((outcome) => ({ run, outcome })));

  test.each(cells)(
    '$run.status → $outcome.status leaves no lease and no work',
    ({ run, outcome }) => {
      const ended = endRun(run, outcome, { now: later });
      expect(ended).toMatchObject({
        status: outcome.status,
        endedAt: later,
        pendingInteractions: 0,
      });
      expect(ended.lease).toBeNull();
      expect(ended.readyAt).toBeNull();
      expect(outcomeOf(ended)).toEqual(outcome);
    },
  );

  test('a run cancelled in the queue was asked to end when it ended', () => {
    const ended = endRun(queued, { status: 'cancelled' }, { now: later });
    expect(ended).toMatchObject({ startedAt: null, cancelRequestedAt: later });
    expect(cancelled.cancelRequestedAt).toBe(now);
  });
});

describe('a run whose worker died (D-26)', () => {
  test('is cancelled if that was asked for, and worker_lost otherwise', () => {
    expect(outcomeOfLostWorker(cancelling, 'worker_lost')).toEqual({ status: 'cancelled' });
    expect(outcomeOfLostWorker(running, 'worker_lost')).toMatchObject({
      status: 'failed',
      code: 'worker_lost',
    });
    expect(outcomeOfLostWorker({ ...running, status: 'waiting' }, 'worker_lost')).toMatchObject({
      status: 'failed',
      code: 'worker_lost',
    });
  });
});
