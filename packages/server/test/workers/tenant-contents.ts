// Everything that one tenant can hold, as rows, bytes and folders, and how much of it is left.
import { type RunId, fileId, interactionKey, runId, sessionId } from '@convoke/contract';
import { fileKey } from '../../src/app/files/blob-keys.ts';
import type { Agent } from '../../src/domain/agent.ts';
import { openInteraction } from '../../src/domain/interaction.ts';
import { noPrices } from '../../src/domain/usage/prices.ts';
import { type Run, endRun, openRun } from '../../src/domain/run/run.ts';
import { openSession } from '../../src/domain/session.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { sql } from '../../src/store/sql.ts';
import { countUsage } from '../../src/workers/count-usage.ts';
import type { OffboardServices } from '../../src/workers/offboard-tenants.ts';
import type { IdentityFixture } from '../support/identity-fixture.ts';

type Services = IdentityFixture & OffboardServices;

const agent: Agent = {
  name: 'demo',
  description: '',
  framework: 'scripted',
  approvalRequiredTools: [],
  rules: [],
  sessionFiles: true,
  onBusy: 'queue',
  contextFiles: [],
  enableClaudeMd: false,
  skills: 'none',
  limits: { runSeconds: 60, waitHours: 1 },
  recovery: {
    onLoss: 'resume',
    attempts: 3,
    inDoubt: 'ask',
    repeatableTools: [],
    cutMessage: 'continue',
  },
  tenants: { default: 'enabled', allow: [], deny: [] },
  publish: [],
  folder: '/nonexistent',
  settings: {},
  hasFixedToolInput: false,
  digest: 'digest',
};

/** Gives the tenant a session with finished runs, events, an interaction, a file with bytes, keys and a folder. */
export async function fillTenant(services: Services, tenant: Tenant, events = 3): Promise<void> {
  await fillSession(services, tenant, events);
  await countUsage({ ...services, prices: noPrices });
}

async function fillSession(services: Services, tenant: Tenant, events: number): Promise<void> {
  const scope = { organizationId: tenant.organizationId, tenantId: tenant.id };
  const now = services.clock.now();
  const session = openSession(
    {
      id: sessionId(services.ids.next('sess')),
      ...scope,
      agentName: 'demo',
      filesSupported: true,
    },
    now,
  );
  const base = { ...scope, sessionId: session.id };
  const runs: Run[] = [1, 2].map((number) =>
    endRun(
      openRun(
        {
          ...base,
          id: runId(services.ids.next('run')),
          agentName: 'demo',
          clientId: null,
          number,
          input: '{"prompt":"x"}',
        },
        { isHead: true, now },
      ),
      { status: 'completed' },
      { now },
    ),
  );
  const staged = await services.blobs.stage(oneChunk(), { maxBytes: 100 });
  const file = {
    ...base,
    id: fileId(services.ids.next('file')),
    name: 'a.txt',
    contentType: 'text/plain',
    sizeBytes: staged.sizeBytes,
    sha256: staged.sha256,
    status: 'ready',
    createdAt: now,
  } as const;
  await staged.publish(fileKey(file, staged.sha256));
  await services.sessionFolders.prepare({
    tenantId: tenant.id,
    sessionId: session.id,
    agent,
    expected: false,
    files: [],
  });
  await services.store.transaction(async (tx) => {
    tx.sessions.insert(session);
    tx.sessions.saveCheckpoint(session.id, { text: '{}', format: 1, agent: '' });
    tx.labels.insert(session, { a: 'b' });
    for (const run of runs) {
      await tx.runs.insert(run);
      tx.labels.insert(run, { a: 'b' });
      const log = Array.from({ length: events }, (_, index) => ({
        seq: index + 1,
        type: 'message_delta',
        body: '{}',
      }));
      tx.runEvents.append(tenant.id, run.id, log);
      await tx.interactions.insert(
        interaction(base, run.id, interactionKey(services.ids.next('int'))),
      );
      tx.usage.append({ runId: run.id, epoch: 1 }, [used], now);
    }
    await tx.files.insert(file);
    const notice = { type: 'run_queued', body: '{}' } as const;
    tx.outbox.add(tenant.id, [notice]);
    const feed = await tx.feeds.tryLock(tenant.id);
    await tx.feeds.append(tenant.id, [{ ...notice, seq: (feed?.lastSeq ?? 0) + 1 }], now);
    await tx.idempotency.claim({
      scope: `${tenant.id}:invoke_agent`,
      key: session.id,
      tenantId: tenant.id,
      fingerprint: 'f',
      resourceId: session.id,
      createdAt: now,
    });
  });
}

const used = {
  seq: 1,
  model: 'm',
  inputTokens: 1,
  outputTokens: 1,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  cost: null,
};

const interaction = (
  base: {
    organizationId: Tenant['organizationId'];
    tenantId: Tenant['id'];
    sessionId: ReturnType<typeof sessionId>;
  },
  run: RunId,
  key: ReturnType<typeof interactionKey>,
) =>
  openInteraction(
    {
      ...base,
      key,
      runId: run,
      requestId: 'r1',
      request: { kind: 'question', question: 'q', options: null, multiple: false, about: null },
      waitMs: 1000,
    },
    1,
  );

const tables = ['sessions', 'runs', 'run_events', 'interactions', 'files', 'idempotency_keys'];
const feedTables = ['outbox', 'feeds', 'notices', 'labels'];

/** How many rows of the tenant each table has. */
export async function rowsOf(
  { database }: Pick<IdentityFixture, 'database'>,
  tenant: Tenant,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const statements = {
    sessions: sql`select count(*) as n from sessions where tenant_id = ${tenant.id}`,
    runs: sql`select count(*) as n from runs where tenant_id = ${tenant.id}`,
    run_events: sql`select count(*) as n from run_events where tenant_id = ${tenant.id}`,
    interactions: sql`select count(*) as n from interactions where tenant_id = ${tenant.id}`,
    files: sql`select count(*) as n from files where tenant_id = ${tenant.id}`,
    labels: sql`select count(*) as n from labels where tenant_id = ${tenant.id}`,
    outbox: sql`select count(*) as n from outbox where tenant_id = ${tenant.id}`,
    feeds: sql`select count(*) as n from feeds where tenant_id = ${tenant.id}`,
    notices: sql`select count(*) as n from notices where tenant_id = ${tenant.id}`,
    idempotency_keys: sql`
      select count(*) as n from idempotency_keys where tenant_id = ${tenant.id}`,
    session_states: sql`
      select count(*) as n from session_states where session_id not in
        (select id from sessions)`,
  };
  for (const [table, statement] of Object.entries(statements)) {
    counts[table] = (await database.get<{ n: number }>(statement))?.n ?? -1;
  }
  return counts;
}

/** The counts of a tenant that holds nothing. */
export const nothing = Object.fromEntries(
  [...tables, ...feedTables, 'session_states'].map((table) => [table, 0]),
);

async function* oneChunk(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('bytes');
}
