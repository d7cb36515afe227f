import {
  type ClientId,
  type RunId,
  type SessionId,
  clientId,
  formatEventId,
} from '@convoke/contract';
import { randomBytes } from 'node:crypto';
import { TokenRequests } from '../../src/app/connections/token-requests.ts';
import { KnownRules } from '../../src/app/rules/known-rules.ts';
import { startRun } from '../../src/app/runs/start-run.ts';
import { createConnectLinks } from '../../src/auth/connect-links.ts';
import { createCallbacks } from '../../src/auth/callbacks.ts';
import { createConnectionSecrets } from '../../src/auth/connection-secrets.ts';
import { createSession } from '../../src/app/sessions.ts';
import type { Agent } from '../../src/domain/agent.ts';
import { noPrices } from '../../src/domain/usage/prices.ts';
import type { RunEventDraft } from '../../src/domain/run/run-event.ts';
import type { AfterLoss } from '../../src/domain/run/recovery.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { type ClaimedLeg, claimLeg, claimedLeg } from '../../src/execution/claim-leg.ts';
import type { LegRules } from '../../src/execution/recording/decide-calls.ts';
import { type LegBatch, recordLeg } from '../../src/execution/recording/record-leg.ts';
import type { Agents } from '../../src/ports/agents.ts';
import type { ServiceDiscovery } from '../../src/ports/connections/service-discovery.ts';
import type { TokenEndpoints } from '../../src/ports/connections/token-endpoints.ts';
import type { Harness } from '../../src/ports/harness.ts';
import type { Log, LogFields } from '../../src/ports/log.ts';
import type { Settings } from '../../src/ports/settings.ts';
import { auditedCallRate, createRateLimit } from '../../src/runtime/rate-limit.ts';
import { sql } from '../../src/store/sql.ts';
import { agentOf } from './agent-folders.ts';
import type { DatabaseKind } from './databases.ts';
import { idleSlot } from './idle-slot.ts';
import { createIdentityFixture } from './identity-fixture.ts';
import { settings } from './settings.ts';

export type RunFixture = Awaited<ReturnType<typeof createRunFixture>>;

export const hour = 3_600_000;
/** By what checkpoints are made. */
export const maker = { format: 1, agent: 'digest' };

/** Of an agent without any. */
export const noRules: LegRules = { agentName: 'agent', agent: [], startedBy: null };

/** Nothing is refreshed. */
const noEndpoints: TokenEndpoints = {
  problemOf: async () => undefined,
  refresh: async () => ({ kind: 'unavailable' }),
  redeem: async () => ({ kind: 'unavailable' }),
};

/** The client that starts the runs of a fixture. */
const starter = clientId('cli_starter');

export interface FixtureOptions {
  readonly isSingleServer?: boolean;
  /** What the framework of the agent can do when its worker is gone. */
  readonly afterLoss?: AfterLoss;
  /** Agents beside `agent`. */
  readonly others?: readonly Partial<Agent>[];
  readonly tokenEndpoints?: TokenEndpoints;
  /** Beside the usual ones. */
  readonly settings?: Partial<Settings>;
}

/** The use cases of runs on a real database. The test acts as the worker and moves the clock. */
export async function createRunFixture(
  kind: DatabaseKind,
  parts: Partial<Agent> = {},
  {
    isSingleServer = true,
    afterLoss = 'none',
    others = [],
    tokenEndpoints = noEndpoints,
    settings: otherSettings = {},
  }: FixtureOptions = {},
) {
  const identity = await createIdentityFixture(kind);
  const organizationId = await identity.seed.organization();
  const tenant = await identity.seed.tenant(organizationId);
  const scope = { organizationId, tenantId: tenant.id };
  const warnings: { message: string; fields: LogFields | undefined }[] = [];
  const log: Log = {
    info: () => {},
    warn: (message, fields) => warnings.push({ message, fields }),
    error: (message, error) => {
      throw new Error(message, { cause: error });
    },
  };
  const serviceDiscovery: ServiceDiscovery = {
    discover: async () => ({ ok: false, problem: 'there is none' }),
  };
  const services = {
    ...identity,
    isSingleServer,
    log,
    settings: { ...settings, ...otherSettings },
    prices: noPrices,
    knownRules: new KnownRules(),
    callbacks: createCallbacks(randomBytes(32), 'http://convoke.test'),
    connectionSecrets: createConnectionSecrets(randomBytes(32)),
    connectLinks: createConnectLinks({
      key: randomBytes(32),
      baseUrl: 'http://convoke.test',
      origins: new Set(),
      clientSecretOf: async ({ clientSecret }) => clientSecret,
    }),
    tokenEndpoints,
    serviceDiscovery,
    tokenRequests: new TokenRequests(identity.clock),
    auditedCalls: createRateLimit(identity.clock, auditedCallRate),
    agents: listed([{ name: 'agent', ...parts }, ...others].map(agentOf)),
    harnesses: new Map<string, Pick<Harness, 'afterLoss' | 'checkpointFormat' | 'replays'>>([
      ['scripted', { afterLoss }],
    ]),
  };
  const chargeRate = () => {};

  async function open(agentName = 'agent'): Promise<SessionId> {
    const request = { agentName, idempotencyKey: undefined, chargeRate };
    return (await createSession(services, scope, request)).resource.id;
  }

  async function start(sessionId: SessionId, prompt = 'hi', by: ClientId = starter): Promise<Run> {
    const input = { prompt };
    const request = { sessionId, input, clientId: by, idempotencyKey: undefined, chargeRate };
    return (await startRun(services, scope, request)).resource;
  }

  /** As a worker does: under a lease of fifteen seconds. */
  async function claim(
    run: Run,
    owner = 'worker-1',
    machine = 'machine-1',
  ): Promise<ClaimedLeg | undefined> {
    const address = { scope, sessionId: run.sessionId, runId: run.id };
    const expiresAt = identity.clock.now() + 15_000;
    const lease = { owner, machine, expiresAt };
    const leg = await claimLeg(services, address, idleSlot(lease));
    return typeof leg === 'string' ? undefined : claimedLeg(leg);
  }

  async function claimed(run: Run, owner = 'worker-1', machine = 'machine-1'): Promise<ClaimedLeg> {
    const leg = await claim(run, owner, machine);
    if (leg === undefined) throw new Error('the run was not ready');
    return leg;
  }

  /** Records what a leg produced; undefined when it had no right to. */
  async function record(
    leg: Pick<ClaimedLeg, 'run' | 'holder'>,
    batch: Partial<LegBatch>,
    rules: LegRules = noRules,
  ): Promise<number | undefined> {
    const whole = { items: [], notes: [], context: undefined, end: undefined };
    const recorded = await recordLeg(services, leg.holder, {
      take: () => ({ ...whole, ...batch }),
      waitMs: hour,
      rules,
      inDoubtAfter: undefined,
      lossesTotal: leg.run.lossesTotal,
      maker,
    });
    return recorded?.lastSeq;
  }

  async function read(run: Pick<Run, 'id'>): Promise<Run> {
    const found = await identity.store.read.runs.findById(scope, run.id);
    if (found === undefined) throw new Error('no such run');
    return found;
  }

  const session = (id: SessionId) => identity.store.read.sessions.find(scope, id);
  const log_ = (runId: RunId) => readLog(identity.database, runId);
  return {
    ...services,
    scope,
    clientId: starter,
    warnings,
    open,
    start,
    claim,
    claimed,
    record,
    read,
    session,
    logOf: log_,
  };
}

/** Everything a run's log holds, as it is stored. */
async function readLog(
  database: Awaited<ReturnType<typeof createIdentityFixture>>['database'],
  runId: RunId,
): Promise<LoggedEvent[]> {
  const rows = await database.all<{ seq: number; type: string; body: string }>(
    sql`select seq, type, body from run_events where run_id = ${runId} order by seq`,
  );
  return rows.map(({ seq, type, body }) => {
    const { id, data } = JSON.parse(body);
    if (id !== formatEventId(seq)) throw new Error(`event ${seq} calls itself ${id}`);
    return { type, data };
  });
}

export interface LoggedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function delta(text: string): RunEventDraft {
  return { type: 'message_delta', data: { text, framework: 'scripted', model: 'scripted' } };
}

export const over = { outputText: null } as const;

function listed(agents: readonly Agent[]): Agents {
  return {
    all: () => agents,
    find: (name) => agents.find((agent) => agent.name === name),
    problems: () => [],
    close: async () => {},
  };
}
