/** `node bench/durable.ts`: what it costs that runs survive. One server in this process, on SQLite, without HTTP. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTerminalRunStatus, organizationId, tenantId } from '@convoke/contract';
import { startRun } from '../packages/server/src/app/runs/start-run.ts';
import { createSession } from '../packages/server/src/app/sessions.ts';
import { type Convoke, compose } from '../packages/server/src/compose/compose.ts';
import { readConfig } from '../packages/server/src/config/config.ts';
import type { Run } from '../packages/server/src/domain/run/run.ts';
import { scriptedHarness } from '../packages/server/src/harness/scripted/harness.ts';
import type { Harness } from '../packages/server/src/ports/harness.ts';
import type { Store } from '../packages/server/src/ports/store.ts';
import { systemClock } from '../packages/server/src/runtime/clock.ts';
import { appending, rulesAbout } from './agents.ts';
import { median } from './statistics.ts';

const calls = 500;
const words = 5000;
const rounds = 15;
const legs = 256;
const ruledCalls = 20;
const ruledRuns = 10;

const agents = {
  reads: script([
    tool('write_file', { path: 'a.txt', text: '.' }),
    { repeat: { times: calls, steps: [tool('read_file', { path: 'a.txt' })] } },
  ]),
  appends: script([
    tool('write_file', { path: 'a.txt', text: '.' }),
    { repeat: { times: calls, steps: [tool('append_file', { path: 'a.txt', text: '.' })] } },
  ]),
  steps: script([{ repeat: { times: words, steps: [{ say: 'word ' }] } }]),
  stepsbefore: script([{ repeat: { times: words, steps: [{ say: 'word ' }] } }]),
  says: script([{ repeat: { times: words / 100, steps: [{ say: 'word '.repeat(100) }] } }]),
  saysbefore: script([{ repeat: { times: words / 100, steps: [{ say: 'word '.repeat(100) }] } }]),
  writes: script([appending(ruledCalls)]),
  ruled: { ...script([appending(ruledCalls)]), rules: rulesAbout('append_file', 100) },
  talks: script([
    { repeat: { times: 1000, steps: [{ say: { text: 'one two ', every_ms: 50 } }] } },
  ]),
};

/** The scripted framework, which leaves no recovery points for the agents named `…before`: as it was before. */
function scriptedOrBefore(): Harness {
  const scripted = scriptedHarness({ clock: systemClock });
  return {
    ...scripted,
    start(input, context) {
      const leg = scripted.start(input, context as never);
      if (!context.agent.name.endsWith('before')) return leg;
      return {
        ...leg,
        async *[Symbol.asyncIterator]() {
          for await (const event of leg) if (event.type !== 'checkpoint') yield event;
        },
      };
    },
  };
}

let commits = 0;
const counting = (store: Store): Store => ({
  ...store,
  transaction: (work) => {
    commits += 1;
    return store.transaction(work);
  },
});

const folder = await mkdtemp(join(tmpdir(), 'convoke-durable-'));
for (const [name, agent] of Object.entries(agents)) {
  await mkdir(join(folder, 'agents', name), { recursive: true });
  const text = JSON.stringify({ ...agent, name: name });
  await writeFile(join(folder, 'agents', name, 'agent.yaml'), text);
}
const convoke = await compose(
  readConfig({
    CONVOKE_PORT: '1',
    CONVOKE_DATA_DIR: join(folder, 'data'),
    CONVOKE_AGENTS_DIR: join(folder, 'agents'),
    CONVOKE_RUN_CONCURRENCY: '1024',
    CONVOKE_TENANT_RUN_CONCURRENCY: '1024',
    CONVOKE_LOG_LEVEL: 'silent',
  }),
  { harnesses: [scriptedOrBefore()], wrapStore: counting },
);
if (convoke.agentProblems.length > 0) throw new Error(JSON.stringify(convoke.agentProblems));
const quick = await convoke.quickstart();
await convoke.start();
const scope = {
  organizationId: organizationId(quick.organization_id),
  tenantId: tenantId(quick.tenant_id),
};

const loadBefore = (loadavg()[0] ?? 0).toFixed(1);
const perCall = (await commitsOf('appends')) - (await commitsOf('reads'));
const says = await ratioOf('says');
const steps = await ratioOf('steps');
const ruled = await ratioOf('ruled', { before: 'writes', runs: ruledRuns });
const drainMs = await msToDrain(convoke);
process.stdout.write(
  [
    `load average ${loadBefore} before the start`,
    `added commits per call that is not repeatable: ${(perCall / calls).toFixed(2)}`,
    `words said, of the processor's time before: ${says.toFixed(3)}x in steps of 100 words, ${steps.toFixed(3)}x in steps of one`,
    `${ruledCalls} calls, of the processor's time without rules: ${ruled.toFixed(3)}x with 100`,
    `drain of ${legs} talking legs: ${Math.round(drainMs)} ms`,
    '',
  ].join('\n'),
);
await rm(folder, { recursive: true, force: true });

async function begin(agentName: string): Promise<Run> {
  const chargeRate = () => {};
  const request = { agentName, idempotencyKey: undefined, chargeRate };
  const { id } = (await createSession(convoke.services, scope, request)).resource;
  const start = { input: { prompt: 'go' }, clientId: null, idempotencyKey: undefined, chargeRate };
  return (await startRun(convoke.services, scope, { ...start, sessionId: id })).resource;
}

async function ended(run: Run): Promise<void> {
  const ending = Promise.withResolvers<void>();
  const check = async () => {
    const found = await convoke.services.store.read.runs.findById(scope, run.id);
    if (found !== undefined && isTerminalRunStatus(found.status)) ending.resolve();
  };
  const unsubscribe = convoke.services.fanout.subscribe(`run:${run.id}`, () => void check());
  await check();
  await ending.promise;
  unsubscribe();
}

async function commitsOf(agentName: string): Promise<number> {
  const before = commits;
  await ended(await begin(agentName));
  return commits - before;
}

/** Time of the processor over that of the other agent, the median of pairs: other load disturbs it least. */
async function ratioOf(
  agentName: string,
  { before = `${agentName}before`, runs = 1 } = {},
): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const beforeMs = await processorMsOf(before, runs);
    ratios.push((await processorMsOf(agentName, runs)) / beforeMs);
  }
  return median(ratios);
}

async function processorMsOf(agentName: string, runs: number): Promise<number> {
  const began = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) await ended(await begin(agentName));
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

async function msToDrain(server: Convoke): Promise<number> {
  const runs = await Promise.all(Array.from({ length: legs }, () => begin('talks')));
  for (const run of runs) {
    while ((await server.services.store.read.runs.lastSeqs([run.id]))[0]?.lastSeq === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const began = performance.now();
  await server.stop(15_000);
  return performance.now() - began;
}

function script(steps: readonly object[]) {
  return { schema: 1, description: 'Measures', framework: 'scripted', script: steps };
}

function tool(name: string, input: object): object {
  return { tool: { name, input } };
}
