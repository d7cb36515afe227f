/**
 * `node bench/feed.ts`: what notices and a dead webhook cost a run, and how long lists over a tenant take. One server
 * in this process, on SQLite, or on the PostgreSQL database that CONVOKE_DATABASE_URL names, which must be empty.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:net';
import { Client } from 'pg';
import {
  deliveryId,
  organizationId,
  runId,
  sessionId,
  tenantId,
  webhookId,
} from '@convoke/contract';
import { startRun } from '../packages/server/src/app/runs/start-run.ts';
import { createSession } from '../packages/server/src/app/sessions.ts';
import { listTenantRuns } from '../packages/server/src/app/tenant-reads.ts';
import { compose } from '../packages/server/src/compose/compose.ts';
import { readConfig } from '../packages/server/src/config/config.ts';
import type { RunListFilter } from '../packages/server/src/domain/run/run-summary.ts';
import { openDelivery } from '../packages/server/src/domain/webhook/webhook-delivery.ts';
import { endRun, isEnded, openRun } from '../packages/server/src/domain/run/run.ts';
import type { Store, StoreTransaction } from '../packages/server/src/ports/store.ts';
import { median } from './statistics.ts';

const rounds = Number(process.argv[2] ?? 21);
const runsPerRound = 300;
const words = 2_000;
const waiting = 10_000;
const storedRuns = 100_000;
const storedPerTransaction = 2_000;
const readsPerFilter = 9;

let hasNotices = true;
/** Without notices the outbox takes nothing, so there is nothing to number either: as it was before. */
const switched = (store: Store): Store => ({
  ...store,
  transaction: (work) => store.transaction((tx) => work(hasNotices ? tx : withoutNotices(tx))),
});

function withoutNotices(tx: StoreTransaction): StoreTransaction {
  const outbox = { ...tx.outbox, add: () => Promise.resolve() };
  return new Proxy(tx, {
    get(target, name) {
      if (name === 'outbox') return outbox;
      const member: unknown = Reflect.get(target, name);
      const bound: unknown = typeof member === 'function' ? member.bind(target) : member;
      return bound;
    },
  });
}

const folder = await mkdtemp(join(tmpdir(), 'convoke-feed-'));
const talk = { repeat: { times: words, steps: [{ say: 'word ' }] } };
for (const [name, step] of Object.entries({ echo: { say: '{{prompt}}' }, talker: talk })) {
  await mkdir(join(folder, 'agents', name), { recursive: true });
  const agent = { name, framework: 'scripted', script: [step] };
  await writeFile(join(folder, 'agents', name, 'agent.yaml'), JSON.stringify(agent));
}
const convoke = await compose(
  readConfig({
    CONVOKE_PORT: '1',
    CONVOKE_DATA_DIR: join(folder, 'data'),
    CONVOKE_AGENTS_DIR: join(folder, 'agents'),
    CONVOKE_TENANT_RUN_CONCURRENCY: '256',
    CONVOKE_WEBHOOK_ALLOW: '127.0.0.0/8',
    ...(process.env['CONVOKE_DATABASE_URL'] !== undefined && {
      CONVOKE_DATABASE_URL: process.env['CONVOKE_DATABASE_URL'],
    }),
    CONVOKE_LOG_LEVEL: 'silent',
  }),
  { wrapStore: switched },
);
const quick = await convoke.quickstart();
await convoke.start();
const scope = {
  organizationId: organizationId(quick.organization_id),
  tenantId: tenantId(quick.tenant_id),
};
const chargeRate = () => {};

// The server listens to no port: without this the process would end while it waits.
const awake = setInterval(() => {}, 1000);
const loadBefore = (loadavg()[0] ?? 0).toFixed(1);
const notices = (isOn: boolean) => {
  hasNotices = isOn;
};
const ofStarts = await costOf(notices, { agent: 'echo', runs: runsPerRound });
const ofEvents = await costOf(notices, { agent: 'talker', runs: 10 });
const ofDead = await costOf(await deadWebhook(), { agent: 'echo', runs: runsPerRound });
await storeRuns();
const lists = await listTimes();
process.stdout.write(
  [
    `load average ${loadBefore} before the start; least time of the processor, of ${rounds} turns:`,
    `  runs from start to end, with notices over without                    ${ofStarts.toFixed(3)}x`,
    `  runs of ${words} words each, with notices over without                  ${ofEvents.toFixed(3)}x`,
    `  runs from start to end, beside ${waiting} deliveries to a dead receiver  ${ofDead.toFixed(3)}x`,
    `a page of 50 of ${storedRuns} runs, at the median:`,
    ...lists,
    '',
  ].join('\n'),
);
clearInterval(awake);
await convoke.stop(0);
await rm(folder, { recursive: true, force: true });

interface Work {
  readonly agent: string;
  readonly runs: number;
}

/** The processor's least time with something over that without it, in turns: other load can only add to it. */
async function costOf(turn: (isOn: boolean) => unknown, work: Work): Promise<number> {
  const least = { with: Number.POSITIVE_INFINITY, without: Number.POSITIVE_INFINITY };
  for (let round = -1; round < rounds; round += 1) {
    await turn(false);
    const without = await processorMsOf(work);
    await turn(true);
    const within = await processorMsOf(work);
    // The first pair warms up.
    if (round < 0) continue;
    least.without = Math.min(least.without, without);
    least.with = Math.min(least.with, within);
  }
  return least.with / least.without;
}

async function processorMsOf({ agent, runs }: Work): Promise<number> {
  const from = process.cpuUsage();
  await Promise.all(Array.from({ length: runs }, () => runToEnd(agent)));
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

async function runToEnd(agentName: string): Promise<void> {
  const { services } = convoke;
  const { id } = (await createSession(services, scope, request(agentName))).resource;
  const start = { input: { prompt: 'go' }, clientId: null, idempotencyKey: undefined, chargeRate };
  const { resource } = await startRun(services, scope, { ...start, sessionId: id });
  const ending = Promise.withResolvers<void>();
  const check = async () => {
    const run = await services.store.read.runs.findById(scope, resource.id);
    if (run !== undefined && isEnded(run)) ending.resolve();
  };
  const unsubscribe = services.fanout.subscribe(`run:${resource.id}`, () => void check());
  await check();
  await ending.promise;
  unsubscribe();
}

function request(agentName: string) {
  return { agentName, idempotencyKey: undefined, chargeRate };
}

/** A receiver that takes connections and never answers, with deliveries that are due. Returns how to enable it. */
async function deadWebhook(): Promise<(isOn: boolean) => Promise<void>> {
  const receiver = createServer().listen(0, '127.0.0.1').unref();
  const address = await new Promise<ReturnType<typeof receiver.address>>((resolve) =>
    receiver.once('listening', () => resolve(receiver.address())),
  );
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const call = await caller();
  // No run makes a notice of this type, so no delivery is added.
  const body = { url: `http://127.0.0.1:${port}/`, types: ['webhook_disabled'] };
  const { webhook } = await call('POST', '/v1/webhooks', body);
  const id = webhookId(webhook?.id ?? '');
  const { services } = convoke;
  await services.store.transaction(async (tx) => {
    const deliveries = Array.from({ length: waiting }, () => ({
      id: deliveryId(services.ids.next('whd')),
      webhookId: id,
      tenantId: scope.tenantId,
      noticeSeq: null,
      type: 'webhook_test',
      testBody: '{}',
    }));
    const now = services.clock.now();
    await tx.deliveries.insert(deliveries.map((delivery) => openDelivery(delivery, now)));
  });
  return async (isOn) => {
    const { version } = await call('GET', `/v1/webhooks/${id}`);
    const status = isOn ? 'active' : 'disabled';
    await call('PATCH', `/v1/webhooks/${id}`, { version, status });
  };
}

interface CallAnswer {
  readonly access_token?: string;
  readonly version?: number;
  readonly webhook?: { readonly id: string };
}

/** Calls the API as the client of the quickstart. */
async function caller() {
  const base = await convoke.app.listen({ port: 0, host: '127.0.0.1' });
  const send = async (path: string, init: RequestInit): Promise<CallAnswer> => {
    const response = await fetch(`${base}${path}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return JSON.parse(text) as CallAnswer;
  };
  const basic = Buffer.from(`${quick.client_id}:${quick.client_secret}`).toString('base64');
  const { access_token: token } = await send('/v1/oauth/token', {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'x-organization-id': quick.organization_id,
    'x-workspace-tenant-id': quick.tenant_id,
  };
  return (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) =>
    send(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

/** One run in a hundred fails, one in a thousand has a label and a word of its own; the last ones are queued. */
async function storeRuns(): Promise<void> {
  const { services } = convoke;
  const session = sessionId((await createSession(services, scope, request('echo'))).resource.id);
  for (let from = 0; from < storedRuns; from += storedPerTransaction) {
    await services.store.transaction(async (tx) => {
      for (let n = from; n < from + storedPerTransaction; n += 1) {
        const isRare = n % 1000 === 0;
        const labels = isRare ? { rare: 'yes' } : { common: 'yes', usual: 'yes' };
        const run = openRun(
          {
            id: runId(`run_00${String(n).padStart(24, '0')}`),
            ...scope,
            sessionId: session,
            agentName: n % 10 === 0 ? 'other' : 'echo',
            clientId: null,
            number: n + 1,
            input: '{"prompt":"x"}',
            preview: isRare ? 'a needle' : 'hay and more hay',
            labels,
          },
          { isHead: false, now: n },
        );
        await tx.runs.insert(run);
        tx.labels.insert(run, labels);
        if (n >= storedRuns - 200) continue;
        const failed = { status: 'failed', code: 'agent_error', message: 'x' } as const;
        const outcome = n % 100 === 0 ? failed : ({ status: 'completed' } as const);
        tx.runs.save(endRun(run, outcome, { now: n }), run);
      }
    });
  }
  await updateStatistics();
}

/** Does at once what PostgreSQL's autovacuum does within a minute of such a change. */
async function updateStatistics(): Promise<void> {
  const url = process.env['CONVOKE_DATABASE_URL'];
  if (url === undefined) return;
  const client = new Client(url);
  await client.connect();
  await client.query('analyze');
  await client.end();
}

async function listTimes(): Promise<string[]> {
  const filters: Readonly<Record<string, RunListFilter>> = {
    'no filter': {},
    'status completed': { statuses: ['completed'] },
    'status active': { statuses: ['active'] },
    'status failed': { statuses: ['failed'] },
    'error_code of none': { errorCode: 'worker_lost' },
    'agent of one in ten': { agentName: 'other' },
    'agent of none': { agentName: 'no-such-agent' },
    'label of one in a thousand': { labels: [{ key: 'rare', value: 'yes' }] },
    'label of most': { labels: [{ key: 'common', value: 'yes' }] },
    'two labels of most': {
      labels: [
        { key: 'common', value: 'yes' },
        { key: 'usual', value: 'yes' },
      ],
    },
    'two labels of none together': {
      labels: [
        { key: 'common', value: 'yes' },
        { key: 'rare', value: 'yes' },
      ],
    },
    'text of one in a thousand': { text: 'needle' },
    'text of none': { text: 'nothing like it' },
    'text with other letters': { text: 'ÄHNLICH' },
    'created in a range': { createdAfter: 10, createdBefore: 20_000 },
  };
  const lines: string[] = [];
  for (const [name, filter] of Object.entries(filters)) {
    const times: number[] = [];
    const processor: number[] = [];
    for (let read = 0; read < readsPerFilter; read += 1) {
      const [from, used] = [performance.now(), process.cpuUsage()];
      await listTenantRuns(convoke.services, scope, {
        filter,
        page: { limit: 51, order: 'desc' },
      });
      times.push(performance.now() - from);
      const { user, system } = process.cpuUsage(used);
      processor.push((user + system) / 1000);
    }
    const own = `${median(processor).toFixed(1)} ms of this processor`;
    lines.push(`  ${name.padEnd(28)} ${median(times).toFixed(1)} ms, ${own}`);
  }
  return lines;
}
