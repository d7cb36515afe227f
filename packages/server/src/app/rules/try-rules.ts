import {
  type OrganizationId,
  type OrganizationRule,
  type RuleEffect,
  type RunId,
  type SessionId,
  type TenantId,
  limits,
} from '@convoke/contract';
import type { Agent } from '../../domain/agent.ts';
import { firstRunId } from '../../domain/event-partition.ts';
import { type RuleList, readRules, rulesOfAgent } from '../../domain/rules/rule.ts';
import { type TriedCall, tryCall } from '../../domain/rules/trial.ts';
import type { CallPlace, PastCall, PastRun } from '../../ports/repositories/runs/past-calls.ts';
import type { Repositories } from '../../ports/store.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { requireTenants } from './rules.ts';

export interface TryRules {
  readonly rules: readonly OrganizationRule[];
  /** Absent: the last seven days. */
  readonly since?: number | undefined;
  readonly tenantId?: TenantId | undefined;
  /** Where the page before ended. */
  readonly after?: string | undefined;
}

export interface RuleTrial {
  readonly calls: number;
  readonly changed: number;
  readonly rules: readonly { readonly name: string; readonly matched: number }[];
  readonly changes: readonly RuleChange[];
  /** Where the page ended; absent behind the last call. */
  readonly end?: string | undefined;
}

export interface RuleChange {
  readonly runId: RunId;
  readonly sessionId: SessionId;
  readonly tenantId: TenantId;
  readonly agentName: string;
  readonly toolName: string;
  readonly at: number;
  readonly before: RuleEffect;
  readonly after: RuleEffect;
  readonly rule: string;
}

const defaultSpanMs = 7 * 24 * 3_600_000;
const runsPerPage = 1_000;
/** Read at once: SQLite reads in this thread. */
const runsPerRead = 100;
const bytesPerPage = 16 * 1024 * 1024;
const bytesPerRead = 1024 * 1024;
const callsPerRead = 1_000;
/** A page ends when its decisions have taken this long, whatever the rules are. */
const decidingMaxSeconds = 2;
/** Decisions take this long before others have a turn. */
const turnMaxSeconds = 0.01;

type TryServices = Pick<Services, 'store' | 'clock' | 'agents' | 'metrics'>;

/** D-526: decides about past calls with the current rules and with a draft. */
export async function tryRules(
  services: TryServices,
  organizationId: OrganizationId,
  request: TryRules,
): Promise<RuleTrial> {
  const { read } = services.store;
  const document = await read.rules.find(organizationId);
  const seen = document?.rules ?? [];
  await requireTenants(read, organizationId, { before: seen, rules: request.rules });
  const since = request.since ?? services.clock.now() - defaultSpanMs;
  const start = request.after === undefined ? undefined : placeIn(request.after);
  const runs = await newestRuns(read, organizationId, {
    tenantId: request.tenantId,
    from: firstRunId(Math.max(0, since)),
    start,
  });
  const lists = { before: readRules(seen), after: readRules(request.rules) };
  const trial = new Trial(services, request.rules, lists);
  for (let at = 0; at < runs.length; at += runsPerRead) {
    const chunk = runs.slice(at, at + runsPerRead);
    const ids = chunk.map(({ id }) => id);
    let after = at === 0 && start?.ref !== undefined ? { ...start, ref: start.ref } : undefined;
    for (let isCut = true; isCut; ) {
      const page = await read.pastCalls.calls(ids, { after, ...trial.nextRead });
      if ((await trial.take(chunk, page.calls)) === 'ended') return trial.result();
      after = page.calls.at(-1);
      isCut = page.isCut && after !== undefined;
      if (trial.isFull) return trial.result(isCut && after ? placeText(after) : ids.at(-1));
    }
  }
  return trial.result(runs.length === runsPerPage ? runs.at(-1)?.id : undefined);
}

/** One page of a trial. */
class Trial {
  readonly #services: TryServices;
  readonly #lists: Readonly<Record<'before' | 'after', RuleList>>;
  readonly #matched: Map<string, number>;
  readonly #agents = new Map<string, Agent | undefined>();
  readonly #changes: RuleChange[] = [];
  /** Also of what no rule decides about. */
  #seen = 0;
  #calls = 0;
  #changed = 0;
  #bytes = 0;
  #seconds = 0;
  #end: string | undefined;

  constructor(
    services: TryServices,
    draft: readonly OrganizationRule[],
    lists: Readonly<Record<'before' | 'after', RuleList>>,
  ) {
    this.#services = services;
    this.#lists = lists;
    this.#matched = new Map(draft.map(({ name }) => [name, 0]));
  }

  /** How much is read at once: SQLite reads in this thread, and each input is parsed in it. */
  get nextRead(): { readonly limit: number; readonly maxBytes: number } {
    const limit = Math.min(callsPerRead, limits.ruleTrialCallsMax - this.#seen);
    return { limit, maxBytes: Math.min(bytesPerRead, bytesPerPage - this.#bytes) };
  }

  get isFull(): boolean {
    return this.#seen >= limits.ruleTrialCallsMax || this.#bytes >= bytesPerPage;
  }

  /** `ended`: the time of the page is over. */
  async take(runs: readonly PastRun[], calls: readonly PastCall[]): Promise<'ended' | 'taken'> {
    const byId = new Map(runs.map((run) => [run.id, run]));
    const { metrics } = this.#services;
    let startedAt = metrics.seconds();
    for (const call of calls) {
      const run = byId.get(call.runId);
      if (run !== undefined) this.#decide(run, call);
      const seconds = metrics.seconds() - startedAt;
      if (seconds < turnMaxSeconds) continue;
      this.#seconds += seconds;
      if (this.#seconds > decidingMaxSeconds) {
        this.#end = placeText(call);
        return 'ended';
      }
      await nextTurn();
      startedAt = metrics.seconds();
    }
    this.#seconds += metrics.seconds() - startedAt;
    await nextTurn();
    return 'taken';
  }

  result(end = this.#end): RuleTrial {
    return {
      calls: this.#calls,
      changed: this.#changed,
      rules: [...this.#matched].map(([name, matched]) => ({ name, matched })),
      changes: this.#changes.toSorted((a, b) => b.at - a.at),
      end,
    };
  }

  #decide(run: PastRun, { toolName, input, at, bytes }: PastCall): void {
    const { id: runId, sessionId, tenantId, agentName } = run;
    this.#seen += 1;
    this.#bytes += bytes;
    const agent = this.#agent(agentName);
    if (!isDecided(agent, toolName)) return;
    this.#calls += 1;
    const lists = { ...this.#lists, agent: agent === undefined ? [] : rulesOfAgent(agent) };
    const tried = tryCall(lists, { agentName, tenantId, toolName, input });
    for (const name of tried.met) this.#matched.set(name, (this.#matched.get(name) ?? 0) + 1);
    if (!isChange(tried)) return;
    this.#changed += 1;
    if (this.#changes.length === limits.ruleTrialChangesMax) return;
    const { before, after, rule } = tried;
    const made = { runId, sessionId, tenantId, agentName, toolName, at };
    this.#changes.push({ ...made, before, after, rule });
  }

  #agent(name: string): Agent | undefined {
    if (!this.#agents.has(name)) this.#agents.set(name, this.#services.agents.find(name));
    return this.#agents.get(name);
  }
}

function isChange(tried: TriedCall): tried is TriedCall & { readonly rule: string } {
  return tried.rule !== undefined;
}

/** D-509: the ledger has messages to remote agents and requests to models, too, under these names (D-831). */
function isDecided(agent: Agent | undefined, toolName: string): boolean {
  if (agent?.framework === 'a2a') return false;
  return toolName !== 'model' || (agent?.framework !== 'code' && agent?.framework !== 'stdio');
}

interface Range {
  readonly tenantId: TenantId | undefined;
  readonly from: string;
  readonly start: (Partial<CallPlace> & Pick<CallPlace, 'runId'>) | undefined;
}

const tenantsPerRead = 100;

/** D-830: the newest runs of all tenants. What has been found so far bounds what the next tenant has to offer. */
async function newestRuns(
  read: Pick<Repositories, 'tenants' | 'pastCalls'>,
  organizationId: OrganizationId,
  { tenantId, from, start }: Range,
): Promise<readonly PastRun[]> {
  // Including the run in which the page before ended.
  const below = start === undefined || start.ref === undefined ? start?.runId : `${start.runId}~`;
  if (tenantId !== undefined) {
    const tenant = await read.tenants.find(organizationId, tenantId);
    if (tenant === undefined) {
      const message = `tenant_id: the organization has no tenant ${tenantId}.`;
      return refuse('invalid_body', { message });
    }
    return read.pastCalls.runs(tenantId, { from, below }, runsPerPage);
  }
  let newest: readonly PastRun[] = [];
  for (let after: TenantId | undefined; ; ) {
    const page = { limit: tenantsPerRead, order: 'asc', after } as const;
    const tenants = await read.tenants.list(organizationId, page);
    for (const { id } of tenants) {
      const oldest = newest.length < runsPerPage ? from : (newest.at(-1)?.id ?? from);
      const runs = await read.pastCalls.runs(id, { from: oldest, below }, runsPerPage);
      if (runs.length === 0) continue;
      newest = [...newest, ...runs].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, runsPerPage);
    }
    await nextTurn();
    after = tenants.at(-1)?.id;
    if (tenants.length < tenantsPerRead) return newest;
  }
}

function placeText({ runId, ref }: CallPlace): string {
  return `${runId} ${ref}`;
}

function placeIn(text: string): { readonly runId: string; readonly ref?: string } {
  const space = text.indexOf(' ');
  return space === -1
    ? { runId: text }
    : { runId: text.slice(0, space), ref: text.slice(space + 1) };
}
