import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { until } from '../support/eventually.ts';
import { Caller } from './support/caller.ts';
import { isAlive } from './support/process-tree.ts';
import { createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

/** A name that no other process on the machine has in its command line. */
const entry = `kept-${process.pid}.ts`;
const source = `import { agent } from '@convoke/agent';
export default agent<{ runs?: number }>((ctx) => {
  ctx.state.runs = (ctx.state.runs ?? 0) + 1;
  return 'run ' + ctx.state.runs;
});
`;

beforeAll(() => requireSandbox());

test('a process that is kept for the next leg of its session does not outlive its server (D-185)', async () => {
  const folder = await createServerFolder({ agents: { counter: { framework: 'code', entry } } });
  mkdirSync(join(folder.agentsDir, 'counter'), { recursive: true });
  writeFileSync(join(folder.agentsDir, 'counter', entry), source);
  const started: ServerProcess[] = [];
  const start = async () => {
    const server = await ServerProcess.start(folder);
    started.push(server);
    return server;
  };
  onTestFinished(async () => {
    for (const server of started) await server.kill();
    folder.remove();
  });

  const first = await start();
  const caller = await Caller.open(folder);
  const session = await caller.openSession('counter');
  const say = async () => {
    const { id } = await caller.startRun(session.id, 'count');
    const ended = await until(
      async () => {
        const read = await caller.run({ sessionId: session.id, runId: id });
        return read.status !== 'queued' && read.status !== 'running' && read;
      },
      { what: 'end of the run' },
    );
    return ended.output_text;
  };
  expect(await say()).toBe('run 1');
  const [kept] = programs();
  expect(await say()).toBe('run 2');
  expect([kept === undefined, programs()]).toEqual([false, [kept]]);
  await first.kill();
  await until(() => programs().length === 0, { what: 'end of the kept process' });

  const second = await start();
  await caller.renewToken();
  expect(await say()).toBe('run 3');
  expect(programs()).toHaveLength(1);
  second.signal('SIGTERM');
  expect(await second.ended).toMatchObject({ code: 0 });
  expect(programs()).toEqual([]);
});

/** The processes that run the program, without those of the chain that started it. */
function programs(): number[] {
  const isProgram = (pid: string) => {
    try {
      const [, ...parts] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return parts.includes(`/agent/${entry}`) && parts[0]?.startsWith('--disable-warning');
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter(isProgram).map(Number).filter(isAlive);
}
