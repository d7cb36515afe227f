/**
 * `node bench/code.ts [--frameworks]`: what an agent as code costs. One server in this process, on SQLite, without
 * HTTP. The least of the rounds counts: other work on the machine only adds. With `--frameworks` also those that the
 * kit has adapters for, with their packages from npm.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SessionId, isTerminalRunStatus, organizationId, tenantId } from '@convoke/contract';
import { startRun } from '../packages/server/src/app/runs/start-run.ts';
import { createSession } from '../packages/server/src/app/sessions.ts';
import { compose } from '../packages/server/src/compose/compose.ts';
import { readConfig } from '../packages/server/src/config/config.ts';
import type { Store } from '../packages/server/src/ports/store.ts';
import { type Program, modelKey, writePrograms } from './code/programs.ts';

const rounds = Number(process.env['ROUNDS'] ?? 15);
const steps = 200;

let commits = 0;
const counting = (store: Store): Store => ({
  ...store,
  transaction: (work) => {
    commits += 1;
    return store.transaction(work);
  },
});

Object.assign(process.env, modelKey);
const folder = await mkdtemp(join(tmpdir(), 'convoke-code-'));
const programs = await writePrograms(join(folder, 'agents'), process.argv.includes('--frameworks'));
console.log(
  `load average ${(loadavg()[0] ?? 0).toFixed(1)} before the start, the least of ${rounds} rounds`,
);
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

console.log(
  'agent | load | … compiled | resident | first event, new process | … kept | empty step',
);
for (const program of programs) console.log((await measure(program)).join(' | '));
await convoke.stop(10_000);
await rm(folder, { recursive: true, force: true });

async function measure(program: Program): Promise<readonly string[]> {
  const plain = await msToLoad(program, {});
  const compiled = await msToLoad(program, { NODE_COMPILE_CACHE: join(folder, 'cache') });
  const figures: Figures[] = [];
  // The first round fills the caches.
  for (let round = 0; round <= rounds; round += 1) figures.push(await roundOf(program));
  const of = (figure: keyof Figures, digits: number) =>
    least(figures.slice(1).map((each) => each[figure])).toFixed(digits);
  return [
    program.name,
    `${plain.toFixed(0)} ms`,
    `${compiled.toFixed(0)} ms`,
    `${of('megabytes', 0)} MB`,
    `${of('newMs', 0)} ms`,
    `${of('keptMs', 1)} ms`,
    `${of('stepMs', 2)} ms, ${of('stepCommits', 2)} commits`,
  ];
}

type Figures = Readonly<
  Record<'newMs' | 'keptMs' | 'stepMs' | 'stepCommits' | 'megabytes', number>
>;

async function roundOf(program: Program): Promise<Figures> {
  const agentName = program.folder.split('/').at(-1) ?? '';
  const request = { agentName, idempotencyKey: undefined, chargeRate };
  const { id } = (await createSession(services, scope, request)).resource;
  const first = await runOf(id, 0);
  const next = await runOf(id, 0);
  const working = await runOf(id, steps);
  return {
    newMs: first.firstMs,
    keptMs: next.firstMs,
    stepMs: (working.ms - next.ms) / steps,
    stepCommits: (working.commits - next.commits) / steps,
    megabytes: await residentMb(program),
  };
}

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
    if (run.status !== 'completed') ending.reject(new Error(JSON.stringify(run.error)));
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

/** Start of the interpreter, import of the kit and of the program. */
async function msToLoad(
  { folder, entry, command }: Program,
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const times: number[] = [];
  const [file, ...first] = command;
  const parameters = [...first, join(folder, entry), `${folder}/`, '--check', entry];
  for (let round = 0; round <= rounds; round += 1) {
    const begunAt = performance.now();
    const child = spawn(file, parameters, {
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
async function residentMb({ entry }: Program): Promise<number> {
  const found: { pid: number; megabytes: number }[] = [];
  for (const pid of (await readdir('/proc')).map(Number).filter(Number.isInteger)) {
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    const [interpreter = '', ...parameters] = (await read('cmdline')).split('\0');
    if (interpreter.endsWith('bwrap') || !parameters.includes(`/agent/${entry}`)) continue;
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(await read('status')) ?? [];
    found.push({ pid, megabytes: Number(kilobytes) / 1024 });
  }
  return found.toSorted((a, b) => b.pid - a.pid)[0]?.megabytes ?? 0;
}
