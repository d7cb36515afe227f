import {
  isTerminalSessionStatus,
  organizationId,
  runId,
  sessionId,
  tenantId,
} from '@convoke/contract';
import fc from 'fast-check';
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
  stopSession,
} from '../../src/domain/session.ts';

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

const queue = { onBusy: 'queue', queueMax: 2 } as const;

describe('whatever happens in whatever order', () => {
  const happenings = [
    'accept',
    'dispatch',
    'park',
    'answer',
    'cancel',
    'continue',
    'end',
    'leave queue',
    'suspend',
    'terminate',
    'resume',
    'expire',
    'lose workspace',
  ] as const;
  type Happening = (typeof happenings)[number];

  /** One step as the app takes it: only where its own precondition holds. */
  function step(session: Session, happening: Happening): Session {
    const isCurrent = session.currentRunId !== null;
    const granted = (ruling: Ruling<Session>) => (ruling.ok ? ruling.value : session);
    const emptied = () => queuedRunsCancelled(session, session.queuedRuns, later);
    switch (happening) {
      case 'accept':
        return granted(acceptRun(session, queue, later));
      case 'dispatch':
        return isCurrent || session.queuedRuns === 0
          ? session
          : runDispatched(session, runId(`run_${session.runCount}`), later);
      case 'park':
        return session.status === 'running' && isCurrent
          ? interactionsChanged(session, 1, later)
          : session;
      case 'answer':
      case 'cancel':
        return isCurrent ? interactionsChanged(session, 0, later) : session;
      case 'continue':
        return session.status === 'running' && session.currentRunId !== null
          ? runDispatched(session, session.currentRunId, later)
          : session;
      case 'end':
        return isCurrent ? runEnded(session, later) : session;
      case 'leave queue':
        return session.queuedRuns > 0 ? queuedRunsCancelled(session, 1, later) : session;
      case 'suspend':
      case 'terminate': {
        const ruling = stopSession(emptied(), { mode: happening }, later);
        if (!ruling.ok) return session;
        // The app asks the current run to end, which cancels its interactions.
        return isCurrent ? interactionsChanged(ruling.value, 0, later) : ruling.value;
      }
      case 'resume':
        return granted(resumeSession(session, later));
      case 'expire':
        return isUnused(session, later + 1) ? expireSession(session, later) : session;
      case 'lose workspace':
        return isCurrent ? runEnded(loseFolder(emptied(), later), later) : session;
      default:
        return happening satisfies never;
    }
  }

  test('a session never leaves its legal states, and never comes back from a terminal one', () => {
    const story = fc.array(fc.constantFrom(...happenings), { maxLength: 60 });
    fc.assert(
      fc.property(story, (story) => {
        let session = fresh;
        for (const happening of story) {
          const next = step(session, happening);
          const isOver = isTerminalSessionStatus(session.status);
          expect(next.status).toBe(isOver ? session.status : next.status);
          session = next;
          expect(lawsBroken(session)).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });

  function lawsBroken(session: Session): string[] {
    const { status, currentRunId, queuedRuns, stopMode, pendingInteractions, endedAt } = session;
    const isOver = isTerminalSessionStatus(status);
    const isResting = status === 'idle' || status === 'stopped' || isOver;
    const hasWork = currentRunId !== null || queuedRuns > 0;
    const laws = {
      'a line has between none and as many as it holds':
        queuedRuns >= 0 && queuedRuns <= queue.queueMax + 1,
      'a session rests exactly when it has no run to execute': isResting !== hasWork,
      'a stop is asked for exactly while it is stopping':
        (stopMode !== null) === (status === 'stopping'),
      'only a session with a run waits for a person': pendingInteractions === 0 || hasWork,
      'it says waiting exactly while an interaction is pending':
        status === 'stopping' || (status === 'waiting') === pendingInteractions > 0,
      'a session that is over, and no other, says when it ended': (endedAt !== null) === isOver,
    };
    return Object.entries(laws).flatMap(([law, holds]) => (holds ? [] : [`${status}: ${law}`]));
  }
});
