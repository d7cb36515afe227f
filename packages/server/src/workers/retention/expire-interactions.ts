import { recordEnd } from '../../app/record-end.ts';
import { lockRun } from '../../app/record.ts';
import { recordAnswer } from '../../app/record-answer.ts';
import { recordDecidedCalls } from '../../app/rules/decided-calls.ts';
import type { Services } from '../../app/services.ts';
import { type PendingInteraction, expireInteraction, isSettled } from '../../domain/interaction.ts';
import { type Run, isEnded } from '../../domain/run/run.ts';
import type { Overdue } from '../../ports/repositories/runs/interactions.ts';
import type { StoreTransaction } from '../../ports/store.ts';

const perPass = 100;

type ExpiryServices = Pick<
  Services,
  'store' | 'clock' | 'fanout' | 'metrics' | 'traces' | 'auditedCalls'
>;

/**
 * Expires interactions without an answer in time. Their runs end, because they cannot continue (D-25); where the rules
 * that asked say so, the call is denied instead and the run continues (D-522).
 */
export async function expireInteractions(services: ExpiryServices): Promise<boolean> {
  const isMore = await expirePage(services, 'parked');
  // Of those that execute, only denials count: a page of others must not keep the parked from their end (D-916).
  return (await expirePage(services, 'awake')) || isMore;
}

async function expirePage(services: ExpiryServices, of: Overdue): Promise<boolean> {
  const overdue = await services.store.read.interactions.overdue(services.clock.now(), of, perPass);
  let expired = 0;
  for (const interaction of overdue) {
    const isExpired = await services.store.transaction((tx) =>
      expireOne(services, tx, interaction),
    );
    if (isExpired) expired += 1;
  }
  return overdue.length === perPass && expired > 0;
}

/** Executes, or is to be executed. */
function isAwake({ status, readyAt }: Run): boolean {
  return status === 'running' || readyAt !== null;
}

async function expireOne(
  services: ExpiryServices,
  tx: StoreTransaction,
  interaction: PendingInteraction,
): Promise<boolean> {
  const { sessionId, runId } = interaction;
  const seen = await lockRun(tx, { scope: interaction, sessionId, runId });
  const now = services.clock.now();
  const expired = expireInteraction(interaction, now);
  // D-916: something else has woken the run, which may not need the answer any more. If it parks again, it ends then.
  if (seen !== undefined && isAwake(seen.run) && !isSettled(expired)) return false;
  // False where an answer was first.
  if (!(await tx.interactions.settle(expired)) || seen === undefined) return true;
  const { session, run } = seen;
  if (isSettled(expired) && !isEnded(run)) {
    await recordAnswer(services, tx, { seen, interaction: expired, now });
    const { key, toolName, toolInput: input, asked: rules = [] } = expired;
    const calls = [{ effect: 'deny', by: 'expiry', toolName, input, rules, key }] as const;
    const denied = { run: { scope: interaction, sessionId, runId }, calls };
    await recordDecidedCalls(services, tx, denied);
    return true;
  }
  tx.onCommit(() => services.traces.runs?.waited(run, { interaction: expired, to: now }));
  // A run that already ends needs no second end.
  if (run.status !== 'waiting') return true;
  await recordEnd(services, tx, {
    seen: { session, run },
    outcome: {
      status: 'failed',
      code: 'interaction_expired',
      message: 'No answer came within the time the agent allows.',
    },
  });
  tx.onCommit(() => services.fanout.wake(`control:${runId}`));
  return true;
}
