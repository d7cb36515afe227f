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

/** Usage of the runs with a label on one day. */
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

/** A row that amounts are added to. */
type Growing<Row> = { -readonly [Field in keyof Row]: Row[Field] };

const grains: readonly UsageGrain[] = ['hour', 'day', 'session'];

/** The amounts to add, by row. */
export function totalsOf(countables: readonly Countable[]): UsageTotal[] {
  const totals = new Map<string, Growing<UsageTotal>>();
  for (const countable of countables) {
    for (const grain of grains) {
      const key = keyOf(countable, grain);
      const known = totals.get(key);
      if (known === undefined) totals.set(key, rowOf(countable, grain));
      else addTo(known, countable.amounts);
    }
  }
  return inOrder(totals);
}

/** The amounts to add, by row of a label. */
export function labelTotalsOf(countables: readonly Countable[]): LabelTotal[] {
  const totals = new Map<string, Growing<LabelTotal>>();
  for (const { tenantId, organizationId, labels, at, amounts } of countables) {
    const startsAt = startOf('day', at);
    for (const [name, value] of Object.entries(labels)) {
      const key = JSON.stringify([tenantId, name, startsAt, value]);
      const row = totals.get(key);
      if (row !== undefined) addTo(row, amounts);
      else totals.set(key, { tenantId, organizationId, startsAt, key: name, value, ...amounts });
    }
  }
  return inOrder(totals);
}

/** Every server writes rows in this order, so that none deadlocks. */
function inOrder<Row>(totals: ReadonlyMap<string, Row>): Row[] {
  const entries = [...totals].sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([, total]) => total);
}

function rowOf(countable: Countable, grain: UsageGrain): UsageTotal {
  const { tenantId, organizationId, agentName, model, clientId, sessionId, amounts } = countable;
  const startsAt = startOf(grain, countable.at);
  const which =
    grain === 'session'
      ? { agentName: '', model: '', clientId: '', sessionId }
      : { agentName, model, clientId, sessionId: '' };
  return { tenantId, organizationId, grain, startsAt, ...which, ...amounts };
}

/** Only the name of a model may have spaces: it comes last. */
function keyOf(countable: Countable, grain: UsageGrain): string {
  const { tenantId, agentName, model, clientId, sessionId } = countable;
  const when = `${tenantId} ${grain} ${startOf(grain, countable.at)}`;
  return grain === 'session' ? `${when} ${sessionId}` : `${when} ${agentName} ${clientId} ${model}`;
}

function addTo(row: Growing<UsageAmounts>, added: UsageAmounts): void {
  row.inputTokens += added.inputTokens;
  row.outputTokens += added.outputTokens;
  row.cachedInputTokens += added.cachedInputTokens;
  row.reasoningTokens += added.reasoningTokens;
  row.completed += added.completed;
  row.failed += added.failed;
  row.cancelled += added.cancelled;
  row.runMs += added.runMs;
  if (added.costMicros !== null) row.costMicros = (row.costMicros ?? 0) + added.costMicros;
}
