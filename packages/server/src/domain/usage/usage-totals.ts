import type { Labels, OrganizationId, TenantId } from '@convoke/contract';
import type { TokenCounts } from './usage.ts';

/** `hour` and `day` are for an agent, model and client; `session` is a day of a session. */
export type UsageGrain = 'hour' | 'day' | 'session';

/** One row of the totals. Fields that its grain does not tell apart are empty. */
export interface UsageTotal extends TokenCounts {
  readonly tenantId: TenantId;
  readonly organizationId: OrganizationId;
  readonly grain: UsageGrain;
  readonly startsAt: number;
  readonly agentName: string;
  readonly model: string;
  readonly clientId: string;
  readonly sessionId: string;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly runMs: number;
  readonly costMicros: number | null;
}

/** Something that happened at a time and is not in the totals yet: a report, or the end of a run. */
export interface Countable {
  readonly tenantId: TenantId;
  readonly organizationId: OrganizationId;
  readonly sessionId: string;
  readonly agentName: string;
  /** Empty for the end of a run. */
  readonly model: string;
  readonly clientId: string;
  /** Of its run, as they are now: a change of labels counts from then on. */
  readonly labels: Labels;
  readonly at: number;
  readonly amounts: UsageAmounts;
}

/** What the runs with a label used on a day. */
export interface LabelTotal extends UsageAmounts {
  readonly tenantId: TenantId;
  readonly organizationId: OrganizationId;
  readonly startsAt: number;
  readonly key: string;
  readonly value: string;
}

export type UsageAmounts = Pick<
  UsageTotal,
  keyof TokenCounts | 'completed' | 'failed' | 'cancelled' | 'runMs' | 'costMicros'
>;

export const noAmounts: UsageAmounts = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  runMs: 0,
  costMicros: null,
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Start of the hour or day of a time, in UTC. */
export function startOf(grain: UsageGrain, at: number): number {
  const ms = grain === 'hour' ? hourMs : dayMs;
  return Math.floor(at / ms) * ms;
}

/** What is to be added to which rows. */
export function totalsOf(countables: readonly Countable[]): UsageTotal[] {
  return addedUp(countables.flatMap(rowsOf), keyOf);
}

/** What is to be added to which rows of labels. */
export function labelTotalsOf(countables: readonly Countable[]): LabelTotal[] {
  return addedUp(countables.flatMap(labelRowsOf), ({ tenantId, key, startsAt, value }) =>
    JSON.stringify([tenantId, key, startsAt, value]),
  );
}

/** Adds up rows with the same key, in the order in which every server writes them, so that none deadlocks. */
function addedUp<Row extends UsageAmounts>(
  rows: readonly Row[],
  keyIn: (row: Row) => string,
): Row[] {
  const totals = new Map<string, Row>();
  for (const row of rows) {
    const key = keyIn(row);
    const known = totals.get(key);
    totals.set(key, known === undefined ? row : { ...known, ...sumOf(known, row) });
  }
  const entries = [...totals].sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([, total]) => total);
}

function labelRowsOf({ tenantId, organizationId, labels, at, amounts }: Countable): LabelTotal[] {
  const row = { tenantId, organizationId, startsAt: startOf('day', at), ...amounts };
  return Object.entries(labels).map(([key, value]) => ({ ...row, key, value }));
}

function rowsOf({ at, amounts, labels: _labels, ...who }: Countable): UsageTotal[] {
  const ofDay = { startsAt: startOf('day', at), ...amounts };
  const ofSession = { ...who, agentName: '', model: '', clientId: '' };
  return [
    { ...who, ...amounts, grain: 'hour', startsAt: startOf('hour', at), sessionId: '' },
    { ...who, ...ofDay, grain: 'day', sessionId: '' },
    { ...ofSession, ...ofDay, grain: 'session' },
  ];
}

function keyOf(row: UsageTotal): string {
  const { tenantId, grain, startsAt, agentName, model, clientId, sessionId } = row;
  return JSON.stringify([tenantId, grain, startsAt, agentName, model, clientId, sessionId]);
}

function sumOf(a: UsageAmounts, b: UsageAmounts): UsageAmounts {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    completed: a.completed + b.completed,
    failed: a.failed + b.failed,
    cancelled: a.cancelled + b.cancelled,
    runMs: a.runMs + b.runMs,
    costMicros:
      a.costMicros === null && b.costMicros === null
        ? null
        : (a.costMicros ?? 0) + (b.costMicros ?? 0),
  };
}
