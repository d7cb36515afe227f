import { recordEnd } from '../app/record-end.ts';
import { lockRun, recordMove } from '../app/record.ts';
import { unsavedCalls } from '../domain/run/recovery.ts';
import { type InterruptedRun, type Run, isInterrupted, parkRun } from '../domain/run/run.ts';
import { interactionsChanged } from '../domain/session.ts';
import {
  folderAnswer,
  noteOfLostChange,
  questionAboutFolder,
} from '../domain/run/workspace-behind.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { raiseInteractions } from './recording/raise-interactions.ts';
import type { RecoveryServices } from './recover-run.ts';

/**
 * D-91: decides about a run whose machine did not come back in time. `in_doubt` of the agent says how: ask a person, go
 * on with the files as they were archived, or end the run.
 */
export async function releaseHeldRun(services: RecoveryServices, run: Run): Promise<void> {
  await services.store.transaction(async (tx) => {
    const seen = await lockRun(tx, { scope: run, sessionId: run.sessionId, runId: run.id });
    if (seen === undefined || !isHeldTooLong(seen.run, services.clock.now())) return;
    const held = { session: seen.session, run: seen.run };
    const answer = folderAnswer(await tx.interactions.answered(run.id), held.run.leaseEpoch);
    const policy = services.agents.find(run.agentName)?.recovery.inDoubt ?? 'fail';
    if (answer === 'continue' || (answer === undefined && policy === 'tell')) {
      await goOn(services, tx, held);
    } else if (answer === undefined && policy === 'ask') {
      await ask(services, tx, held);
    } else {
      const message = 'The machine with the latest files of this run is gone.';
      const outcome = { status: 'failed', code: 'worker_lost', message } as const;
      await recordEnd(services, tx, { seen: held, outcome, recovered: true });
    }
  });
}

function isHeldTooLong(run: Run, now: number): run is InterruptedRun {
  return isInterrupted(run) && run.holdUntil !== null && run.holdUntil <= now;
}

type HeldRun = Parameters<typeof recordMove>[2]['seen'] & { readonly run: InterruptedRun };

/** The next leg starts with the archive; the changes since are known to be lost. */
async function goOn(
  services: RecoveryServices,
  tx: StoreTransaction,
  { session, run }: HeldRun,
): Promise<void> {
  const calls = unsavedCalls(await tx.toolCalls.ofRun(run.id), run);
  const owner = { runId: run.id, tenantId: run.tenantId };
  for (const call of calls.filter(({ status }) => status === 'ended')) {
    const left = { ...call, status: 'left', note: noteOfLostChange } as const;
    await tx.toolCalls.settle(owner, left, 'ended');
  }
  const released = { ...run, holdUntil: null, isBehind: true, savedEpoch: run.leaseEpoch };
  recordMove(services, tx, { seen: { session, run }, move: { run: released, events: [] } });
}

async function ask(services: RecoveryServices, tx: StoreTransaction, seen: HeldRun): Promise<void> {
  const { session, run } = seen;
  const now = services.clock.now();
  const calls = unsavedCalls(await tx.toolCalls.ofRun(run.id), run);
  const waitMs = (services.agents.find(run.agentName)?.limits.waitHours ?? 1) * 3_600_000;
  const items = [questionAboutFolder(calls, run.leaseEpoch)];
  const { open, events } = await raiseInteractions(services, tx, { run, items, waitMs });
  recordMove(services, tx, {
    seen,
    move: {
      run: parkRun({ ...run, pendingInteractions: open }, now),
      session: interactionsChanged(session, open, now),
      events,
    },
  });
}
