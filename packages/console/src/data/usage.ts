import type { UsageRecord } from '@convoke/sdk';

export interface DayOfUsage {
  readonly day: string;
  readonly runs: number;
  readonly failed: number;
  readonly tokens: number;
  readonly cost: number;
}

const dayMs = 86_400_000;

/** One entry for every day up to now, also for those without a row: a gap in a chart is a lie about time. */
export function daysOf(rows: readonly UsageRecord[], days: number, now: number): DayOfUsage[] {
  const byDay = new Map<string, DayOfUsage>();
  for (let back = days - 1; back >= 0; back -= 1) {
    const day = new Date(now - back * dayMs).toISOString().slice(0, 10);
    byDay.set(day, { day, runs: 0, failed: 0, tokens: 0, cost: 0 });
  }
  for (const row of rows) {
    const day = row.start?.slice(0, 10) ?? '';
    const known = byDay.get(day);
    if (known === undefined) continue;
    byDay.set(day, {
      day,
      runs: known.runs + (row.runs ?? 0),
      failed: known.failed + (row.failed ?? 0),
      tokens: known.tokens + row.input_tokens + row.output_tokens,
      cost: known.cost + (row.cost ?? 0),
    });
  }
  return [...byDay.values()];
}

export function sumOf(days: readonly DayOfUsage[], of: (day: DayOfUsage) => number): number {
  return days.reduce((sum, day) => sum + of(day), 0);
}

/** One row for each group: by label, the server answers one for each day. */
export function sumByGroup(rows: readonly UsageRecord[]): readonly UsageRecord[] {
  const sums = new Map<string, UsageRecord>();
  for (const row of rows) {
    const group = row.group ?? '';
    const sum = sums.get(group);
    sums.set(group, sum === undefined ? row : added(sum, row));
  }
  return [...sums.values()];
}

function added(sum: UsageRecord, row: UsageRecord): UsageRecord {
  const both = (a: number | undefined, b: number | undefined) =>
    a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
  return {
    ...sum,
    runs: both(sum.runs, row.runs),
    failed: both(sum.failed, row.failed),
    input_tokens: sum.input_tokens + row.input_tokens,
    output_tokens: sum.output_tokens + row.output_tokens,
    cost: both(sum.cost, row.cost),
    currency: sum.currency ?? row.currency,
  };
}

/** Millionths of a currency unit, as people write it. Small amounts keep the digits that they need. */
export function money(micros: number, currency: string): string {
  const units = micros / 1_000_000;
  const digits = units !== 0 && Math.abs(units) < 0.1 ? 4 : 2;
  return `${units.toFixed(digits)} ${currency}`;
}
