/** `node bench/feed.ts`: what notices cost a run, and how long lists over a tenant take. In this process, on SQLite. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { organizationId, runId, sessionId, tenantId } from '@convoke/contract';
import { startRun } from '../packages/server/src/app/runs/runs.ts';
import { createSession } from '../packages/server/src/app/sessions.ts';
import { listTenantRuns } from '../packages/server/src/app/tenant-reads.ts';
import { compose } from '../packages/server/src/compose/compose.ts';
import { readConfig } from '../packages/server/src/config/config.ts';
import type { RunListFilter } from '../packages/server/src/domain/run/run-summary.ts';
import { endRun, openRun } from '../packages/server/src/domain/run/run.ts';
import type { Store, StoreTransaction } from '../packages/server/src/ports/store.ts';
import { median } from './statistics.ts';

const rounds = 21;
const runsPerRound = 300;
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
await mkdir(join(folder, 'agents/echo'), { recursive: true });
const agent = { name: 'echo', framework: 'scripted', script: [{ say: '{{prompt}}' }] };
await writeFile(join(folder, 'agents/echo/agent.yaml'), JSON.stringify(agent));
const convoke = await compose(
  readConfig({
    CONVOKE_PORT: '1',
    CONVOKE_DATA_DIR: join(folder, 'data'),
    CONVOKE_AGENTS_DIR: join(folder, 'agents'),
    CONVOKE_TENANT_RUN_CONCURRENCY: '256',
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
const create = { agentName: 'echo', idempotencyKey: undefined, chargeRate };

const loadBefore = (loadavg()[0] ?? 0).toFixed(1);
const cost = await costOfNotices();
await storeRuns();
const lists = await listTimes();
process.stdout.write(
  [
    `load average ${loadBefore} before the start`,
    `runs from start to end, time of the processor with notices over without: ${cost.toFixed(3)}x`,
    `a page of 50 of ${storedRuns} runs, at the median:`,
    ...lists,
    '',
  ].join('\n'),
);
await convoke.stop(0);
await rm(folder, { recursive: true, force: true });

/** The median of pairs: other load disturbs the time of the processor least. */
async function costOfNotices(): Promise<number> {
  const ratios: number[] = [];
  await processorMsOf(true);
  for (let round = 0; round < rounds; round += 1) {
    const without = await processorMsOf(false);
    ratios.push((await processorMsOf(true)) / without);
  }
  return median(ratios);
}

async function processorMsOf(isOn: boolean): Promise<number> {
  hasNotices = isOn;
  const from = process.cpuUsage();
  await Promise.all(Array.from({ length: runsPerRound }, runToEnd));
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

async function runToEnd(): Promise<void> {
  const { services } = convoke;
  const { id } = (await createSession(services, scope, create)).resource;
  const start = { input: { prompt: 'go' }, clientId: null, idempotencyKey: undefined, chargeRate };
  const { resource } = await startRun(services, scope, { ...start, sessionId: id });
  const ending = Promise.withResolvers<void>();
  const check = async () => {
    const run = await services.store.read.runs.findById(scope, resource.id);
    if (run !== undefined && 'endedAt' in run) ending.resolve();
  };
  const unsubscribe = services.fanout.subscribe(`run:${resource.id}`, () => void check());
  await check();
  await ending.promise;
  unsubscribe();
}

/** One run in a hundred fails, one in a thousand has a label and a word of its own; the last ones are queued. */
async function storeRuns(): Promise<void> {
  const { services } = convoke;
  const session = sessionId((await createSession(services, scope, create)).resource.id);
  for (let from = 0; from < storedRuns; from += storedPerTransaction) {
    await services.store.transaction(async (tx) => {
      for (let n = from; n < from + storedPerTransaction; n += 1) {
        const isRare = n % 1000 === 0;
        const labels = isRare ? { rare: 'yes' } : { common: 'yes' };
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
        await tx.labels.insert(run, labels);
        if (n >= storedRuns - 200) continue;
        const failed = { status: 'failed', code: 'agent_error', message: 'x' } as const;
        const outcome = n % 100 === 0 ? failed : ({ status: 'completed' } as const);
        await tx.runs.save(endRun(run, outcome, { now: n }), run);
      }
    });
  }
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
    'text of one in a thousand': { text: 'needle' },
    'text of none': { text: 'nothing like it' },
    'created in a range': { createdAfter: 10, createdBefore: 20_000 },
  };
  const lines: string[] = [];
  for (const [name, filter] of Object.entries(filters)) {
    const times: number[] = [];
    for (let read = 0; read < readsPerFilter; read += 1) {
      const from = performance.now();
      await listTenantRuns(convoke.services, scope, {
        filter,
        page: { limit: 51, order: 'desc' },
      });
      times.push(performance.now() - from);
    }
    lines.push(`  ${name.padEnd(28)} ${median(times).toFixed(1)} ms`);
  }
  return lines;
}
