/**
 * Compares how programs start: `node bench/start.ts <path of a bin/convoke.mjs>…`, each in turn, this checkout first.
 * Prints the processor time and the time until the server is ready, what it holds at rest, the processor time of a
 * short command, and how many modules the server has loaded. The least of the rounds counts: other work on the machine
 * only adds.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../test/free-port.ts';
import { removeFolder } from '../test/remove-folder.ts';
import { root } from '../test/repository.ts';

const rounds = Number(process.env['ROUNDS'] ?? 10);
/** Longer than a server has to be at rest before it returns memory. */
const restMs = 12_000;
const ticksPerSecond = 100;

const programs = [join(root, 'packages/cli/bin/convoke.mjs'), ...process.argv.slice(2)];
const best = new Map<string, readonly number[]>();
const modules = new Map<string, number>();
for (let round = 0; round <= rounds; round += 1) {
  for (const program of programs.map((path) => resolve(path))) {
    // The first round fills the caches.
    if (round === 0) {
      modules.set(program, await modulesOf(program));
      continue;
    }
    const figures = [...(await startOf(program)), commandOf(program)];
    const before = best.get(program) ?? figures;
    best.set(
      program,
      figures.map((figure, at) => Math.min(figure, before[at] ?? figure)),
    );
  }
}
console.log(
  'ready: processor ms, ms | at rest: MB | convoke agents --help: processor ms | modules of the server',
);
for (const [program, figures] of best) {
  const cells = [...figures, modules.get(program) ?? 0].map((figure) => figure.toFixed(0));
  console.log(`${cells.join(' | ')} | ${program}`);
}

async function startOf(program: string): Promise<readonly number[]> {
  const startedAt = performance.now();
  await using server = await readyServer(program);
  const ready = performance.now() - startedAt;
  const processor = await processorMs(server.pid);
  await pause(restMs);
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  const held = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  return [processor, ready, held];
}

async function modulesOf(program: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-modules-'));
  const path = join(folder, 'count');
  const counter = new URL('count-modules.mjs', import.meta.url).href;
  const settings = { NODE_OPTIONS: `--import=${counter}`, BENCH_MODULES: path };
  await (await readyServer(program, settings))[Symbol.asyncDispose]();
  const count = Number(await readFile(path, 'utf8'));
  await removeFolder(folder);
  return count;
}

async function readyServer(
  program: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<AsyncDisposable & { readonly pid: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-start-'));
  const port = await freePort();
  const child = spawn(process.execPath, [program, 'dev'], {
    cwd: folder,
    env: { ...process.env, ...settings, CONVOKE_PORT: String(port) },
    stdio: 'ignore',
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${program} did not start`);
    await pause(5);
  }
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      await removeFolder(folder);
    },
  };
}

/** Of a process, from its two counters of ticks. */
async function processorMs(pid: number): Promise<number> {
  const [, fields = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ');
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  return ((user + system) / ticksPerSecond) * 1000;
}

/** Of a command that asks no server. The shell reports the times of what it has started. */
function commandOf(program: string): number {
  const script = '"$0" "$1" agents --help > /dev/null; times';
  const { stdout } = spawnSync('sh', ['-c', script, process.execPath, program]);
  const times = stdout.toString().trim().split('\n').at(-1) ?? '';
  const seconds = [...times.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  );
  return seconds.reduce((sum, part) => sum + part, 0) * 1000;
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
