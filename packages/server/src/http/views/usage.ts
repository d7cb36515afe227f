import type { LabelGroup, UsageRecord } from '@convoke/contract';
import { isoTime } from '../../domain/iso-time.ts';
import type { UsageGroup, UsageRow } from '../../ports/repositories/usage/usage-totals.ts';

export interface UsageShape {
  readonly groupBy: UsageGroup | LabelGroup | undefined;
  readonly currency: string;
}

export function usageView(row: UsageRow, { groupBy, currency }: UsageShape): UsageRecord {
  const { completed, failed, cancelled } = row;
  const runs = { runs: completed + failed + cancelled, completed, failed, cancelled };
  return {
    start: row.startsAt === 0 ? undefined : isoTime(row.startsAt),
    group: groupBy === undefined ? undefined : row.group,
    ...(groupBy === 'model' ? {} : { ...runs, run_seconds: Math.round(row.runMs / 1000) }),
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    cached_input_tokens: row.cachedInputTokens,
    reasoning_tokens: row.reasoningTokens,
    ...(row.costMicros === null ? {} : { cost: row.costMicros, currency }),
  };
}
