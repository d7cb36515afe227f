import { answeredEvent } from '../domain/run/interaction-event.ts';
import { type SettledInteraction } from '../domain/interaction.ts';
import { interactionAnswered, isLeased } from '../domain/run/run.ts';
import { interactionsChanged } from '../domain/session.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { type RunInSession, recordMove } from './record.ts';
import type { Services } from './services.ts';

/**
 * Records what the answer to an interaction changes beside its row: its event, and the run, which is ready once no
 * interaction is pending (D-38). A live process is told.
 */
export async function recordAnswer(
  services: Pick<Services, 'clock' | 'fanout' | 'metrics' | 'traces'>,
  tx: StoreTransaction,
  { seen, interaction, now }: Answering,
): Promise<void> {
  const { run, session } = seen;
  const open = await tx.interactions.countPending(run.id);
  recordMove(services, tx, {
    seen,
    move: {
      run: interactionAnswered(run, open, now),
      session: interactionsChanged(session, open, now),
      events: [answeredEvent(interaction)],
    },
  });
  tx.onCommit(() => services.traces.runs?.waited(run, { interaction, to: now }));
  if (isLeased(run)) tx.onCommit(() => services.fanout.wake(`control:${run.id}`));
}

interface Answering {
  readonly seen: RunInSession;
  readonly interaction: SettledInteraction;
  readonly now: number;
}
