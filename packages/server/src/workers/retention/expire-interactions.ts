import { lockRun, recordEnd } from '../../app/record.ts';
import type { Services } from '../../app/services.ts';
import { expireInteraction } from '../../domain/interaction.ts';

const perPass = 100;

/** D-25: expires interactions without an answer in time, and ends their runs, which cannot continue. */
export async function expireInteractions(
  services: Pick<Services, 'store' | 'clock' | 'fanout' | 'metrics' | 'traces'>,
): Promise<boolean> {
  const overdue = await services.store.read.interactions.overdue(services.clock.now(), perPass);
  for (const interaction of overdue) {
    const { sessionId, runId } = interaction;
    await services.store.transaction(async (tx) => {
      const seen = await lockRun(tx, { scope: interaction, sessionId, runId });
      const expired = expireInteraction(interaction);
      const isSettled = await tx.interactions.settle(expired);
      const to = services.clock.now();
      if (seen !== undefined && isSettled) {
        const { run } = seen;
        tx.onCommit(() => services.traces.runs?.waited(run, { interaction: expired, to }));
      }
      // A run that already ends needs no second end.
      if (seen === undefined || !isSettled || seen.run.status !== 'waiting') return;
      const { session, run } = seen;
      await recordEnd(services, tx, {
        seen: { session, run },
        outcome: {
          status: 'failed',
          code: 'interaction_expired',
          message: 'No answer came within the time the agent allows.',
        },
      });
      tx.onCommit(() => services.fanout.wake(`control:${runId}`));
    });
  }
  return overdue.length === perPass;
}
