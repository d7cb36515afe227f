/**
 * `node bench/code.ts`: what an agent as code costs. One server in this process, on SQLite, without HTTP. The least of the
 * rounds counts: other work on the machine only adds.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SessionId, isTerminalRunStatus, organizationId, tenantId } from '@convoke/contract';
import { startRun } from '../packages/server/src/app/runs/start-run.ts';
import { createSession } from '../packages/server/src/app/sessions.ts';
import { compose } from '../packages/server/src/compose/compose.ts';
import { readConfig } from '../packages/server/src/config/config.ts';
import type { Store } from '../packages/server/src/ports/store.ts';

const rounds = Number(process.env['ROUNDS'] ?? 15);
const steps = 200;
const launcher = createRequire(new URL('../packages/server/package.json', import.meta.url)).resolve(
  '@convoke/agent/launch',
);
/** A name that no other process on the machine has in its command line. */
const entry = `bench-${process.pid}.ts`;
const source = `import { agent } from '@convoke/agent';
export default agent(async (ctx) => {
  ctx.say('hello');
  for (let n = 0; n < Number(ctx.prompt); n += 1) await ctx.step('nothing', () => null);
});
`;

let commits = 0;
const counting = (store: Store): Store => ({
  ...store,
  transaction: (work) => {
    commits += 1;
    return store.transaction(work);
  },
});

const folder = await mkdtemp(join(tmpdir(), 'convoke-code-'));
const program = join(folder, 'agents/kit');
await mkdir(program, { recursive: true });
await writeFile(join(program, 'agent.yaml'), JSON.stringify({ framework: 'code', entry }));
await writeFile(join(program, entry), source);
const loadBefore = (loadavg()[0] ?? 0).toFixed(1);
const plainMs = await msToLoad({});
const cache = { NODE_COMPILE_CACHE: join(folder, 'cache') };
const cachedMs = await msToLoad(cache);

const convoke = await compose(
  readConfig({
    CONVOKE_PORT: '1',
    CONVOKE_DATA_DIR: join(folder, 'data'),
    CONVOKE_AGENTS_DIR: join(folder, 'agents'),
    CONVOKE_LOG_LEVEL: 'silent',
  }),
  { wrapStore: counting },
);
if (convoke.agentProblems.length > 0) throw new Error(JSON.stringify(convoke.agentProblems));
const quick = await convoke.quickstart();
await convoke.start();
const { services } = convoke;
const scope = {
  organizationId: organizationId(quick.organization_id),
  tenantId: tenantId(quick.tenant_id),
};
const chargeRate = () => {};

const [cold, kept, stepMs, stepCommits, megabytes]: [
  number[],
  number[],
  number[],
  number[],
  number[],
] = [[], [], [], [], []];
for (let round = 0; round <= rounds; round += 1) {
  const request = { agentName: 'kit', idempotencyKey: undefined, chargeRate };
  const { id } = (await createSession(services, scope, request)).resource;
  const first = await runOf(id, 0);
  const next = await runOf(id, 0);
  const working = await runOf(id, steps);
  // The first round fills the caches.
  if (round === 0) continue;
  cold.push(first.firstMs);
  kept.push(next.firstMs);
  stepMs.push((working.ms - next.ms) / steps);
  stepCommits.push((working.commits - next.commits) / steps);
  megabytes.push(await residentMb());
}
await convoke.stop(10_000);
await rm(folder, { recursive: true, force: true });
process.stdout.write(
  [
    `load average ${loadBefore} before the start, the least of ${rounds} rounds`,
    `start and import, without a sandbox: ${plainMs.toFixed(0)} ms, with compiled code ${cachedMs.toFixed(0)} ms`,
    `resident: ${least(megabytes).toFixed(0)} MB`,
    `start of a run to its first event: ${least(cold).toFixed(0)} ms in a new process, ${least(kept).toFixed(1)} ms in a kept one`,
    `an empty step: ${least(stepMs).toFixed(2)} ms, ${least(stepCommits).toFixed(2)} commits`,
    '',
  ].join('\n'),
);

function least(values: readonly number[]): number {
  return Math.min(...values);
}

/** Starts a run and waits for its end. `firstMs`: until its first delta is durable. */
async function runOf(sessionId: SessionId, count: number) {
  const [begunAt, commitsBefore] = [performance.now(), commits];
  const start = { input: { prompt: String(count) }, clientId: null, idempotencyKey: undefined };
  const { resource } = await startRun(services, scope, { ...start, chargeRate, sessionId });
  let firstMs = 0;
  const ending = Promise.withResolvers<void>();
  const check = async () => {
    const bounds = { limit: 10, maxBytes: 100_000 };
    if (firstMs === 0) {
      const { events } = await services.store.read.runEvents.after(resource.id, 0, bounds);
      if (events.some(({ body }) => body.includes('"message_delta"')))
        firstMs = performance.now() - begunAt;
    }
    const run = await services.store.read.runs.findById(scope, resource.id);
    if (run === undefined || !isTerminalRunStatus(run.status)) return;
    if (run.status !== 'completed') ending.reject(new Error(JSON.stringify(run)));
    ending.resolve();
  };
  const stop = services.fanout.subscribe(`run:${resource.id}`, () => {
    check().catch(ending.reject);
  });
  await check();
  await ending.promise;
  stop();
  return { ms: performance.now() - begunAt, firstMs, commits: commits - commitsBefore };
}

/** Start of Node, import of the kit and of the program. */
async function msToLoad(env: Readonly<Record<string, string>>): Promise<number> {
  const times: number[] = [];
  const command = ['-c', 'exec 3>&1 1>&2; exec "$@"', 'sh', process.execPath, launcher];
  for (let round = 0; round <= rounds; round += 1) {
    const begunAt = performance.now();
    const child = spawn('/bin/sh', [...command, join(program, entry), `${program}/`, '--check'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    if (round > 0) times.push(performance.now() - begunAt);
    await once(child, 'exit');
  }
  return least(times);
}

/** Of the program's newest process. */
async function residentMb(): Promise<number> {
  const found: { pid: number; megabytes: number }[] = [];
  for (const pid of (await readdir('/proc')).map(Number).filter(Number.isInteger)) {
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    const [node, ...parameters] = (await read('cmdline')).split('\0');
    if (node !== process.execPath || !parameters.includes(`/agent/${entry}`)) continue;
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(await read('status')) ?? [];
    found.push({ pid, megabytes: Number(kilobytes) / 1024 });
  }
  return found.toSorted((a, b) => b.pid - a.pid)[0]?.megabytes ?? 0;
}
