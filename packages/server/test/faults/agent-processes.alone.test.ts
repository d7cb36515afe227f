import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { at, begin, runIn } from '../support/api-steps.ts';
import { createLocation } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import { startServer } from '../support/server.ts';
import { Caller } from './support/caller.ts';
import { groupsLeft, removeCgroups } from './support/own-cgroup.ts';
import { isAlive } from './support/process-tree.ts';
import { createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

/** A duration that no other process on the machine sleeps for, to find it by. */
const nap = `8081.${process.pid}`;
/** Sleeps itself, and leaves two children that left its process group and its session. */
const program = `read -r start; setsid sleep ${nap} & (setsid sleep ${nap} &); exec sleep ${nap}`;
const agent = { framework: 'stdio', command: ['sh', '-c', program] };
const sleeperCount = 3;

/** The control groups of the servers that are killed. */
const cgroup = `test-agent-processes-${process.pid}`;
const spawning = {
  imports: [fileURLToPath(new URL('support/enter-cgroup.ts', import.meta.url))],
  settings: { TEST_CGROUP: cgroup },
};

beforeAll(() => requireSandbox());

test('no process of an agent outlives a server that is killed', async () => {
  const folder = await createServerFolder({ agents: {} });
  const started: ServerProcess[] = [];
  const start = async () => {
    const server = await ServerProcess.start(folder, spawning);
    started.push(server);
    return server;
  };
  onTestFinished(async () => {
    for (const server of started) await server.kill();
    for (const pid of sleepers()) process.kill(pid, 'SIGKILL');
    await until(() => sleepers().length === 0, { what: 'end of the sleepers' });
    removeCgroups(cgroup);
    folder.remove();
  });
  mkdirSync(join(folder.agentsDir, 'sleeper'), { recursive: true });
  writeFileSync(join(folder.agentsDir, 'sleeper/agent.yaml'), JSON.stringify(agent));
  const server = await start();
  const caller = await Caller.open(folder);
  const session = await caller.openSession('sleeper');
  const run = await caller.startRun(session.id, 'sleep');
  await until(() => sleepers().length === sleeperCount, { what: 'sleepers' });

  expect(await server.kill()).toEqual([]);
  const gone = { what: () => `end of ${sleepers().join(', ')}` };
  await until(() => sleepers().length === 0, gone);

  // The next start ends the run, and takes away the control groups that the killed one left.
  const next = await start();
  const ended = await until(
    async () => {
      const read = await caller.run({ sessionId: session.id, runId: run.id });
      return read.status === 'failed' && read;
    },
    { what: 'end of the run' },
  );
  expect(ended.error_code).toBe('worker_lost');
  await until(() => groupsLeft(cgroup, server.pid).length === 0, {
    what: 'sweep',
  });
  next.signal('SIGTERM');
  expect(await next.ended).toMatchObject({ code: 0 });
  expect(groupsLeft(cgroup, next.pid)).toEqual([]);
});

test('no process of an agent outlives the lease of a server that stands still', async () => {
  const CONVOKE_DATABASE_URL = await createLocation('postgres');
  // Long enough that a loaded machine renews in time; the test waits for its end once.
  const settings = { CONVOKE_DATABASE_URL, CONVOKE_LEASE_SECONDS: '6' };
  const folder = await createServerFolder({ agents: { sleeper: agent }, settings });
  const server = await ServerProcess.start(folder);
  onTestFinished(async () => {
    await server.kill();
    folder.remove();
  });
  const caller = await Caller.open(folder);
  const session = await caller.openSession('sleeper');
  const run = await caller.startRun(session.id, 'sleep');
  await until(() => sleepers().length === sleeperCount, { what: 'sleepers' });

  server.signal('SIGSTOP');
  const gone = { what: () => `end of ${sleepers().join(', ')}` };
  await until(() => sleepers().length === 0, gone);

  // What killed them is not the agent's error.
  server.signal('SIGCONT');
  const ended = await until(
    async () => {
      const read = await caller.run({ sessionId: session.id, runId: run.id });
      return read.status === 'failed' && read;
    },
    { what: 'end of the run' },
  );
  expect(ended.error_code).toBe('worker_lost');
});

test('no process of an agent outlives its cancelled run, nor a server that is stopped', async () => {
  const server = await startServer({ agents: { sleeper: agent } });
  const cancelled = await begin(server, 'sleeper');
  await until(() => sleepers().length === sleeperCount, { what: 'sleepers' });
  await server.send('cancel_run', { params: at(cancelled.run) });
  await runIn(server, cancelled.run, 'cancelled');
  expect(sleepers()).toEqual([]);

  await begin(server, 'sleeper');
  await until(() => sleepers().length === sleeperCount, { what: 'sleepers' });
  await server.stop();
  expect(sleepers()).toEqual([]);
});

function sleepers(): number[] {
  const isSleeper = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${nap}\0`;
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter(isSleeper).map(Number).filter(isAlive);
}

test('a server of these tests is killed with the process of its test, also while it is suspended', async () => {
  const module = new URL('support/process-tree.ts', import.meta.url);
  const script = `
    import { spawn } from 'node:child_process';
    import { endingWithThis } from ${JSON.stringify(module)};
    const child = spawn(...endingWithThis('sleep', ['${nap}']));
    console.log(child.pid);
    setInterval(() => {}, 1000);
  `;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [printed] = await once(parent.stdout, 'data');
  const pid = Number(String(printed));
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')));
  const name = () => readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  await until(() => name() === 'sleep', { what: 'program' });
  process.kill(pid, 'SIGSTOP');
  parent.kill('SIGKILL');
  await until(() => !isAlive(pid), { what: 'end' });
  expect(isAlive(pid)).toBe(false);
});
