import { type LabelGroup, isLabelGroup, labelKeyOf, limits } from '@convoke/contract';
import { type UsageGrain, startOf } from '../../domain/usage/usage-totals.ts';
import type {
  ReadTotals,
  UsageGroup,
  UsageRow,
} from '../../ports/repositories/usage/usage-totals.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';

export interface ReadUsage {
  readonly of: ReadTotals['of'];
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly bucket: 'hour' | 'day' | undefined;
  readonly groupBy: UsageGroup | LabelGroup | undefined;
  readonly limit: number;
  readonly after: ReadTotals['after'];
}

const dayMs = 24 * 3_600_000;

/** D-130. Sessions and labels have days only: rows are read in the order of time, however many values there are. */
export async function readUsage(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  request: ReadUsage,
): Promise<UsageRow[]> {
  const { of, bucket, groupBy, limit, after } = request;
  const isLabel = groupBy !== undefined && isLabelGroup(groupBy);
  const isDaily = groupBy === 'session' || isLabel;
  if (isDaily && bucket === 'hour') {
    refuse('invalid_query', { message: 'bucket: usage of sessions and labels is counted by day.' });
  }
  const grain: UsageGrain = groupBy === 'session' ? 'session' : (bucket ?? 'day');
  const range = rangeOf(request, { now: clock.now(), grain });
  const totals = store.read.usageTotals;
  if (isLabel) return totals.readLabel({ of, key: labelKeyOf(groupBy), ...range, limit, after });
  const hasBuckets = bucket !== undefined || isDaily;
  return totals.read({ of, grain, ...range, hasBuckets, groupBy, limit, after });
}

function rangeOf(
  { from, to }: Pick<ReadUsage, 'from' | 'to'>,
  { now, grain }: { readonly now: number; readonly grain: UsageGrain },
): { from: number; to: number } {
  const until = to ?? now;
  const since = from ?? until - limits.usageDefaultDays * dayMs;
  const most = grain === 'hour' ? limits.usageHoursDaysMax : limits.usageDaysMax;
  if (since >= until) refuse('invalid_query', { message: 'from: must be before to.' });
  if (until - since > most * dayMs) {
    refuse('invalid_query', {
      message: `from: at most ${most} days before to can be read${grain === 'hour' ? ' by the hour' : ''}.`,
    });
  }
  return { from: startOf(grain, since), to: until };
}
