import type { StartedRun } from './run.ts';
import { type UsageEntry, addUsage } from '../usage/usage.ts';

/** A leg ended: its text replaces the one before it, and its folder is archived. */
export function recordProgress<R extends StartedRun>(
  run: R,
  leg: {
    readonly outputText: string | null;
    readonly pendingInteractions: number;
    readonly openWaits: number;
    readonly isUsagePartial: boolean;
  },
): R {
  const isUsagePartial = run.isUsagePartial || leg.isUsagePartial;
  return { ...run, ...leg, isUsagePartial, savedEpoch: run.leaseEpoch };
}

export function recordUsage<R extends StartedRun>(run: R, entries: readonly UsageEntry[]): R {
  return entries.length === 0 ? run : { ...run, usage: addUsage(run.usage, entries) };
}
