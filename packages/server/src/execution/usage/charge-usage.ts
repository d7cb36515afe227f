import type { RunId } from '@convoke/contract';
import type { Services } from '../../app/services.ts';
import { type Spending, isFarFrom, isReached, periodStart } from '../../domain/usage/budget.ts';
import type { UsageEntry } from '../../domain/usage/usage.ts';
import type { BudgetState } from '../../domain/usage/budget.ts';
import type { CeilingOfRun } from '../../ports/repositories/usage/budgets.ts';
import type { StoreTransaction } from '../../ports/store.ts';

/** Rows over which the reports of one budget are spread. */
const shards = 8;

export interface Report {
  readonly runId: RunId;
  readonly entries: readonly UsageEntry[];
}

/**
 * Adds a report to the budgets that apply to the run, in the transaction that wrote its entries, and looks at every
 * ceiling. Returns the reason to end the run, if there is one (D-132).
 */
export async function chargeUsage(
  { clock, prices }: Pick<Services, 'clock' | 'prices'>,
  tx: StoreTransaction,
  { runId, entries }: Report,
): Promise<string | undefined> {
  const now = clock.now();
  const { ceilings, budgets } = await tx.budgets.ofRun(runId, now);
  const more = spendingOf(entries, prices.currency);
  const reached = ceilings.find(({ ceiling, spent }) => isReached(ceiling, spent));
  let breach = reached && ceilingText(reached, runId);
  for (const state of budgets) {
    const total = await charge(tx, { state, more, runId, now });
    if (isReached(state.budget.ceiling, total)) breach ??= reachedText(state);
  }
  const hasCostCeiling =
    ceilings.some(({ ceiling }) => ceiling.maxCostMicros !== null) ||
    budgets.some(({ budget }) => budget.ceiling.maxCostMicros !== null);
  const unpriced = entries.find(({ cost, isModelless }) => cost === null && isModelless !== true);
  if (unpriced === undefined || !hasCostCeiling || prices.unpriced === 'allow') return breach;
  return breach ?? `The model ${unpriced.model} has no price, and a ceiling of cost applies.`;
}

function spendingOf(entries: readonly UsageEntry[], currency: string): Spending {
  let tokens = 0;
  let costMicros = 0;
  for (const { inputTokens, outputTokens, cost } of entries) {
    tokens += inputTokens + outputTokens;
    if (cost?.currency === currency) costMicros += cost.micros;
  }
  return { tokens, costMicros };
}

interface ChargedReport {
  readonly state: BudgetState;
  readonly more: Spending;
  readonly runId: RunId;
  readonly now: number;
}

/** Near a ceiling, reports of one budget are added one after another, so that each sees all before it. */
async function charge(
  tx: StoreTransaction,
  { state, more, runId, now }: ChargedReport,
): Promise<Spending> {
  const { budget, spent } = state;
  const { id, organizationId, period, ceiling } = budget;
  const startsAt = periodStart(period, now);
  const isFar = isFarFrom(ceiling, spent, more);
  if (!isFar) await tx.budgets.lock(organizationId, id);
  await tx.budgets.add({ id, startsAt, shard: shardOf(runId), spent: more });
  if (!isFar) return tx.budgets.spent(id, startsAt);
  return { tokens: spent.tokens + more.tokens, costMicros: spent.costMicros + more.costMicros };
}

/** The end of an id is random. */
function shardOf(runId: RunId): number {
  return (runId.codePointAt(runId.length - 1) ?? 0) % shards;
}

/** A ceiling is for a run and all that it has called (D-923). */
function ceilingText({ runId: of }: CeilingOfRun, runId: RunId): string {
  return of === runId
    ? 'The run reached its ceiling.'
    : `The ceiling of ${of}, which called it, is reached.`;
}

function reachedText({ budget: { scope, period } }: BudgetState): string {
  const each = period === 'total' ? '' : ` of this ${period}`;
  return `The budget${each} for the ${scope.kind} ${scope.id} is used up.`;
}
