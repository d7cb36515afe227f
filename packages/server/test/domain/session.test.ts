import {
  type SessionStatus,
  organizationId,
  runId,
  sessionId,
  sessionStatuses,
  tenantId,
} from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import type { Ruling } from '../../src/domain/refusal.ts';
import {
  type Session,
  acceptRun,
  expireSession,
  interactionsChanged,
  isUnused,
  loseFolder,
  openSession,
  queuedRunsCancelled,
  resumeSession,
  runDispatched,
  runEnded,
  sessionAt,
  stopSession,
} from '../../src/domain/session.ts';

const first = runId('run_1');
const now = 1_000;
const later = 2_000;

const fresh = openSession(
  {
    id: sessionId('sess_1'),
    organizationId: organizationId('org_1'),
    tenantId: tenantId('ten_1'),
    agentName: 'echo',
    filesSupported: true,
  },
  now,
);

/** One session in every place a session can be in. */
const places = {
  idle: fresh,
  'running, first in line': { ...fresh, status: 'running', queuedRuns: 1, runCount: 1 },
  'running, executing': { ...fresh, status: 'running', currentRunId: first, runCount: 1 },
  waiting: {
    ...fresh,
    status: 'waiting',
    currentRunId: first,
    runCount: 1,
    pendingInteractions: 1,
  },
  'stopping to suspend': {
    ...fresh,
    status: 'stopping',
    stopMode: 'suspend',
    currentRunId: first,
    runCount: 1,
  },
  'stopping to terminate': {
    ...fresh,
    status: 'stopping',
    stopMode: 'terminate',
    currentRunId: first,
    runCount: 1,
  },
  stopped: { ...fresh, status: 'stopped', stoppedAt: now },
  failed: { ...fresh, status: 'failed', statusReason: 'workspace_lost', endedAt: now },
  terminated: { ...fresh, status: 'terminated', endedAt: now },
} as const satisfies Record<string, Session>;

type Place = keyof typeof places;

const queue = { onBusy: 'queue', queueMax: 2 } as const;
const reject = { onBusy: 'reject', queueMax: 2 } as const;

/** What a caller can ask of a session, and what the states answer (D-13 to D-15, D-23). */
const moves = {
  'take a run': (session: Session) => acceptRun(session, queue, later),
  'take a run, no queue': (session: Session) => acceptRun(session, reject, later),
  suspend: (session: Session) => stopSession(session, { mode: 'suspend' }, later),
  terminate: (session: Session) => stopSession(session, { mode: 'terminate' }, later),
  resume: (session: Session) => resumeSession(session, later),
} as const satisfies Record<string, (session: Session) => Ruling<Session>>;

type Move = keyof typeof moves;

const table: Record<Place, Record<Move, string>> = {
  idle: {
    'take a run': 'running',
    'take a run, no queue': 'running',
    suspend: 'stopped',
    terminate: 'terminated',
    resume: 'idle',
  },
  'running, first in line': {
    'take a run': 'running',
    'take a run, no queue': 'session_busy',
    suspend: 'stopped',
    terminate: 'terminated',
    resume: 'running',
  },
  'running, executing': {
    'take a run': 'running',
    'take a run, no queue': 'session_busy',
    suspend: 'stopping',
    terminate: 'stopping',
    resume: 'running',
  },
  waiting: {
    'take a run': 'waiting',
    'take a run, no queue': 'session_busy',
    suspend: 'stopping',
    terminate: 'stopping',
    resume: 'waiting',
  },
  'stopping to suspend': {
    'take a run': 'session_stopped',
    'take a run, no queue': 'session_stopped',
    suspend: 'stopping',
    terminate: 'stopping',
    resume: 'running',
  },
  'stopping to terminate': {
    'take a run': 'session_stopped',
    'take a run, no queue': 'session_stopped',
    suspend: 'stopping',
    terminate: 'stopping',
    resume: 'session_terminal',
  },
  stopped: {
    'take a run': 'session_stopped',
    'take a run, no queue': 'session_stopped',
    suspend: 'stopped',
    terminate: 'terminated',
    resume: 'idle',
  },
  failed: {
    'take a run': 'session_terminal',
    'take a run, no queue': 'session_terminal',
    suspend: 'session_terminal',
    terminate: 'session_terminal',
    resume: 'session_terminal',
  },
  terminated: {
    'take a run': 'session_terminal',
    'take a run, no queue': 'session_terminal',
    suspend: 'session_terminal',
    terminate: 'terminated',
    resume: 'session_terminal',
  },
};

const cells = Object.entries(table).flatMap(([place, row]) =>
  Object.entries(row).map(([move, outcome]) => ({
    place: place as Place,
    move: move as Move,
    outcome,
  })),
);

describe('every state of a session answers every wish (D-11, D-13 to D-15)', () => {
  test.each(cells)('$place: $move → $outcome', ({ place, move, outcome }) => {
    // The app takes the queue away before it stops a session.
    const seen: Session = places[place];
    const isStop = move === 'suspend' || move === 'terminate';
    const session = isStop ? queuedRunsCancelled(seen, seen.queuedRuns, later) : seen;
    const ruling = moves[move](session);
    expect(ruling.ok ? ruling.value.status : ruling.code).toBe(outcome);
    if (ruling.ok) expect(ruling.value.id).toBe(session.id);
  });

  test('the grid has every status of the contract', () => {
    const covered = new Set<SessionStatus>(Object.values(places).map(({ status }) => status));
    expect([...covered].sort()).toEqual([...sessionStatuses].sort());
  });
});

describe('the queue of a session (D-23)', () => {
  test('takes as many as it may hold behind the executing run, and no more', () => {
    let session: Session = places['running, executing'];
    for (let taken = 1; taken <= queue.queueMax; taken += 1) {
      const ruling = acceptRun(session, queue, later);
      expect(ruling).toMatchObject({ ok: true, value: { queuedRuns: taken, runCount: taken + 1 } });
      if (ruling.ok) session = ruling.value;
    }
    expect(acceptRun(session, queue, later)).toEqual({ ok: false, code: 'session_busy' });
  });

  test('a run that is only about to execute does not take a place in line', () => {
    let session: Session = fresh;
    for (let taken = 1; taken <= 1 + queue.queueMax; taken += 1) {
      const ruling = acceptRun(session, queue, later);
      expect({ taken, ok: ruling.ok }).toEqual({ taken, ok: true });
      if (ruling.ok) session = ruling.value;
    }
    expect(acceptRun(session, queue, later).ok).toBe(false);
  });

  test('a queue of none refuses a second run as on_busy: reject does', () => {
    const none = { onBusy: 'queue', queueMax: 0 } as const;
    expect(acceptRun(fresh, none, later).ok).toBe(true);
    expect(acceptRun(places['running, first in line'], none, later).ok).toBe(false);
    expect(acceptRun(places['running, executing'], none, later).ok).toBe(false);
  });

  test('a run that leaves the queue of a resting session leaves it idle', () => {
    const left = queuedRunsCancelled(places['running, first in line'], 1, later);
    expect(left).toMatchObject({ status: 'idle', queuedRuns: 0 });
  });
});

describe('what a run does to its session (D-11)', () => {
  test('its dispatch takes it out of the line and makes it current', () => {
    const session = runDispatched(places['running, first in line'], first, later);
    expect(session).toMatchObject({ status: 'running', currentRunId: first, queuedRuns: 0 });
  });

  test('resuming after an answer takes no other run out of the queue', () => {
    const parked: Session = { ...places.waiting, queuedRuns: 1 };
    expect(runDispatched(parked, first, later)).toMatchObject({
      status: 'running',
      currentRunId: first,
      queuedRuns: 1,
    });
  });

  test('has no time before that of the change before it, whatever clock a server has', () => {
    const ahead = { ...places['running, executing'], updatedAt: later + 500 };
    for (const next of [
      runEnded(ahead, later),
      runDispatched(ahead, first, later),
      interactionsChanged(ahead, 1, later),
      queuedRunsCancelled({ ...ahead, queuedRuns: 1 }, 1, later),
      loseFolder(ahead, later),
    ]) {
      expect(next.updatedAt).toBe(later + 500);
    }
    expect(loseFolder(ahead, later).endedAt).toBe(later + 500);
    const stopped = stopSession({ ...fresh, updatedAt: later + 500 }, { mode: 'suspend' }, later);
    expect(stopped).toMatchObject({ ok: true, value: { stoppedAt: later + 500 } });
  });

  test('waiting for a person shows, unless the session is being stopped', () => {
    expect(interactionsChanged(places['running, executing'], 2, later)).toMatchObject({
      status: 'waiting',
      pendingInteractions: 2,
    });
    expect(interactionsChanged(places['stopping to suspend'], 1, later).status).toBe('stopping');
  });

  test.each([
    ['running, executing', 'idle'],
    ['waiting', 'idle'],
    ['stopping to suspend', 'stopped'],
    ['stopping to terminate', 'terminated'],
    ['failed', 'failed'],
  ] as const)('its end leaves a session that was %s %s', (place, status) => {
    const session = runEnded({ ...places[place], currentRunId: first }, later);
    expect(session).toMatchObject({ status, currentRunId: null, pendingInteractions: 0 });
    expect(session.stopMode).toBeNull();
  });

  test('its end hands a session with a line to the next run', () => {
    const session = runEnded({ ...places['running, executing'], queuedRuns: 2 }, later);
    expect(session).toMatchObject({ status: 'running', currentRunId: null, queuedRuns: 2 });
  });
});

describe('stop and resume (D-13, D-14)', () => {
  test('terminate after suspend leads to the end, suspend after terminate changes nothing', () => {
    const suspending = places['stopping to suspend'];
    const first = stopSession(suspending, { mode: 'terminate' }, later);
    expect(first).toMatchObject({ ok: true, value: { stopMode: 'terminate' } });
    const ending = places['stopping to terminate'];
    const second = stopSession(ending, { mode: 'suspend' }, later);
    expect(second).toMatchObject({ ok: true, value: { stopMode: 'terminate' } });
  });

  test('a stopped session that is stopped again is as it was', () => {
    expect(stopSession(places.stopped, { mode: 'suspend', reason: 'again' }, later)).toEqual({
      ok: true,
      value: places.stopped,
    });
  });

  test('the reason is kept until the session is resumed', () => {
    const stopped = stopSession(fresh, { mode: 'suspend', reason: 'lunch' }, later);
    if (!stopped.ok) throw new Error(stopped.code);
    expect(stopped.value).toMatchObject({ statusReason: 'lunch', stoppedAt: later });
    expect(resumeSession(stopped.value, later)).toMatchObject({
      ok: true,
      value: { status: 'idle', statusReason: null, stoppedAt: null },
    });
  });

  test('resuming a session that is not stopped changes nothing', () => {
    for (const place of ['idle', 'running, executing', 'waiting'] as const) {
      expect(resumeSession(places[place], later)).toEqual({ ok: true, value: places[place] });
    }
  });
});

describe('an unused session (D-17)', () => {
  test.each(Object.keys(places) as Place[])('%s: only resting sessions are unused', (place) => {
    const session: Session = places[place];
    const isResting = session.status === 'idle' || session.status === 'stopped';
    expect(isUnused(session, now + 1)).toBe(isResting);
    expect(isUnused(session, now)).toBe(false);
  });

  test('ends terminated, and says why', () => {
    expect(expireSession(fresh, 500)).toMatchObject({
      status: 'terminated',
      statusReason: 'expired',
      endedAt: fresh.updatedAt + 500,
    });
  });

  test('has ended from the moment after its expires_at, whatever is stored', () => {
    const after = (ms: number) => sessionAt(fresh, { now: fresh.updatedAt + ms, idleTtlMs: 500 });
    expect(after(500)).toBe(fresh);
    expect(after(501)).toEqual(expireSession(fresh, 500));
    expect(sessionAt(fresh, { now: later * 1000, idleTtlMs: 0 })).toBe(fresh);
  });
});
