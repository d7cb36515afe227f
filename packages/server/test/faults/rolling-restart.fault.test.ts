// Three servers are stopped and started one after the other under runs of every framework. No run is lost, no word
// is said twice, and no effect is repeated. CONVOKE_TEST_ROLLING=50 has fifty runs of each framework, also of acp, and
// CONVOKE_TEST_ROLLING_AGENTS=helper,builder only those of these agents.
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type RunEvent,
  type RunId,
  type SessionId,
  isTerminalEventType,
  isTerminalRunStatus,
  organizationId,
  tenantId,
} from '@convoke/contract';
import { expect, onTestFinished, test, vi } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { type EventBatch, RunFollower } from '../../src/app/runs/follow.ts';
import { logOf as logOfRun } from '../../src/app/runs/run-log.ts';
import { startRun } from '../../src/app/runs/start-run.ts';
import { createSession } from '../../src/app/sessions.ts';
import { type Convoke, compose } from '../../src/compose/compose.ts';
import { readConfig } from '../../src/config/config.ts';
import type { TenantScope } from '../../src/domain/scope.ts';
import { claudeHarness } from '../../src/harness/claude/harness.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { machineId } from '../../src/runtime/machine-id.ts';
import { folderPaths } from '../../src/session-folders/folder-paths.ts';
import { A2aServer } from '../harness/a2a/agent.ts';
import type { Step } from '../harness/acp/agent.ts';
import { program, sdk } from '../harness/acp/use-acp-agent.ts';
import { noSandbox } from '../harness/claude/no-sandbox.ts';
import { workingSdk } from '../harness/claude/working-sdk.ts';
import { createLocation, isQuick } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { quietLog } from '../support/quiet-log.ts';
import { SpanReceiver, exportingTo } from '../telemetry/span-receiver.ts';
import { traceProblems } from '../telemetry/trace-oracle.ts';

const perFramework = Number(process.env['CONVOKE_TEST_ROLLING'] ?? 6);
const servers = 3;
const withinMs = 240_000;
/** Each makes a step of the script of `thinker`. */
const messagesOfThinker = 4;
const names = Array.from({ length: 20 }, (_, index) => `N${index}`);
const lines = 10;
/** Calls of `helper`, the acp agent: it makes them one after the other. */
const jobs = Array.from({ length: 8 }, (_, index) => `job-${index}`);
/** Its programs are heavy, so a short run does without. */
const isLong = process.env['CONVOKE_TEST_ROLLING'] !== undefined;

const prompts = {
  talker: 'go',
  thinker:
    '@@ say One && call write_file {"path":"a.txt","text":"1"} ;; slow 10 60 && call write_file {"path":"b.txt","text":"2"} ;; slow 10 60 && call write_file {"path":"c.txt","text":"3"} ;; say End',
  courier: names.join(' '),
  remote: JSON.stringify([{ say: 'Before. ' }, { hold: true }, { say: 'After.' }]),
  builder: `@@ ${jobs.join(' ')}`,
  helper: JSON.stringify(jobs.flatMap((call): Step[] => [{ call }, { wait: 500 }])),
} as const;
const chosen = process.env['CONVOKE_TEST_ROLLING_AGENTS']?.split(',');
const agentNames = (Object.keys(prompts) as (keyof typeof prompts)[]).filter(
  (name) => chosen?.includes(name) ?? (isLong || name !== 'helper'),
);
const runsOf = (name: keyof typeof prompts) => (agentNames.includes(name) ? perFramework : 0);

test.skipIf(isQuick)(
  'a rolling restart of three servers loses no run and repeats nothing (D-85)',
  { timeout: 300_000 + perFramework * 10_000 },
  async () => {
    const world = await openWorld();
    const started = await world.begin();
    await world.everyoneHasBegun(started);
    const readers = started.flatMap((each) => [0, 1].map((index) => world.read(each, index)));
    for (let index = 0; index < servers; index += 1) await world.restart(index);
    world.remote.released.resolve();
    for (const each of started) {
      const { run, log } = await world.ended(each);
      const what = `${each.agentName} ${run.id}`;
      const said = log.map(({ data: { text } }) => (typeof text === 'string' ? text : '')).join('');
      expect([what, run.status, run.lossesTotal]).toEqual([what, 'completed', 0]);
      // After hand-overs alone every reader sees the answer, also one that knows no interruption.
      expect([what, said]).toEqual([what, run.outputText ?? '']);
      expect(log.some(({ type }) => type === 'user_question')).toBe(false);
      // All servers that had it, and those that replaced them, made one trace (D-582).
      await until(() => traceProblems(world.receiver.of(run.id)).length === 0, {
        withinMs,
        what: () => `whole trace of ${what}: ${traceProblems(world.receiver.of(run.id)).join()}`,
      });
      if (each.agentName === 'courier') {
        expect(said).toBe(names.map((name) => `Delivered to ${name}.\n`).join(''));
      }
      if (each.agentName === 'helper') {
        const calls = await world.callsOf(run.id);
        expect(calls).toHaveLength(jobs.length);
        expect(await world.filesOf(each)).toEqual(jobs.map((job) => `${job} yes-once`));
      }
      if (each.agentName === 'builder') {
        expect(await world.callsOf(run.id)).toEqual(jobs.map((job) => `${job} ended`));
        expect(await world.jobsOf(each)).toEqual(jobs);
        expect(said).toBe(jobs.map((job) => `${job}. `).join(''));
      }
      if (each.agentName === 'remote') expect(said).toBe('Before. After.');
      if (each.agentName === 'talker') {
        const sizes = log.flatMap(({ data: { size_bytes } }) => size_bytes ?? []);
        expect(sizes).toEqual(Array.from({ length: lines }, (_, index) => 2 * (index + 1)));
      }
    }
    const log = await Promise.all(started.map((each) => world.logOf(each)));
    expect(log.flat().some(({ type }) => type === 'run_interrupted')).toBe(true);
    // Every reader, handed from server to server, has read exactly the log.
    const read = await Promise.all(readers);
    expect(read).toEqual(log.flatMap((events) => [events, events]));
    // No message was sent twice: not to the remote agent, and not to the model.
    const sent = world.remote.calls.filter((method) => /^(message\/|Send)/.test(method));
    expect(sent).toHaveLength(runsOf('remote'));
    expect(world.model.log.requests).toHaveLength(runsOf('thinker') * messagesOfThinker);
  },
);

interface StartedRun {
  readonly agentName: keyof typeof prompts;
  readonly sessionId: SessionId;
}

async function openWorld() {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-rolling-'));
  onTestFinished(() => removeFolder(folder));
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const remote = await A2aServer.start();
  onTestFinished(() => remote.close());
  vi.stubEnv('ROLLING_KEY', 'key');
  onTestFinished(() => void vi.unstubAllEnvs());
  await writeFile(join(folder, 'master.key'), randomBytes(32).toString('base64'), { mode: 0o600 });
  await writeAgents(join(folder, 'agents'), { model: model.url, remote: remote.url });
  const url = await createLocation('postgres');
  const receiver = await SpanReceiver.open();
  const running: Convoke[] = [];
  const following: { follower: RunFollower<RunEvent[]>; stopping: AbortController }[] = [];
  const start = async (index: number) => {
    const config = readConfig({
      ...exportingTo(receiver),
      CONVOKE_PORT: '1',
      CONVOKE_DATA_DIR: join(folder, `server-${index}`),
      CONVOKE_AGENTS_DIR: join(folder, 'agents'),
      CONVOKE_MASTER_KEY_FILE: join(folder, 'master.key'),
      CONVOKE_BLOBS: `file://${join(folder, 'blobs')}`,
      CONVOKE_TENANT_RUN_CONCURRENCY: '1000',
      CONVOKE_A2A_ALLOW: new URL(remote.url).host,
      CONVOKE_DATABASE_URL: url,
      CONVOKE_DATABASE_CONNECTIONS: '5',
    });
    const parts = { sandbox: noSandbox, clock: systemClock, log: quietLog };
    const claude = claudeHarness({ ...parts, load: async () => workingSdk });
    const convoke = await compose(config, { log: quietLog, harnesses: [claude] });
    if (convoke.agentProblems.length > 0) throw new Error(JSON.stringify(convoke.agentProblems));
    running[index] = convoke;
    const follower = new RunFollower(convoke.services, (events) =>
      events.map(({ body }) => JSON.parse(body) as RunEvent),
    );
    following[index] = { follower, stopping: new AbortController() };
    return convoke;
  };
  const first = await start(0);
  const quick = await first.quickstart();
  await first.start();
  for (let index = 1; index < servers; index += 1) await (await start(index)).start();
  onTestFinished(async () => {
    await Promise.all(running.map((convoke) => convoke.stop(0)));
  });
  const scope: TenantScope = {
    organizationId: organizationId(quick.organization_id),
    tenantId: tenantId(quick.tenant_id),
  };
  /** Of a server that is not being replaced. */
  const services = () => {
    const index = following.findIndex(({ stopping }) => !stopping.signal.aborted);
    return (running[index] ?? first).services;
  };
  const chargeRate = () => {};

  async function runOf({ sessionId }: StartedRun) {
    const page = { limit: 1, order: 'desc' } as const;
    const { runs } = services().store.read;
    const [run] = (await runs.list(scope, { sessionId, filter: {}, page })).items;
    if (run === undefined) throw new Error('the run is gone');
    return run;
  }
  /** The session folder on the machine that executed the run last. */
  async function folderOf(each: StartedRun): Promise<string> {
    const { lastMachine } = await runOf(each);
    const dataDirs = Array.from({ length: servers }, (_, index) => join(folder, `server-${index}`));
    const dataDir = dataDirs.find((path) => machineId(path) === lastMachine);
    if (dataDir === undefined) throw new Error('the machine is unknown');
    return folderPaths(dataDir, { tenantId: scope.tenantId, sessionId: each.sessionId })
      .sessionFolder;
  }
  async function logOf(each: StartedRun): Promise<RunEvent[]> {
    const bounds = { limit: 10_000, maxBytes: 10_000_000 };
    const { events } = await services().store.read.runEvents.after(
      (await runOf(each)).id,
      0,
      bounds,
    );
    return events.map(({ body }) => JSON.parse(body) as RunEvent);
  }
  return {
    remote,
    model,
    receiver,
    logOf,
    async callsOf(id: RunId): Promise<string[]> {
      const calls = await services().store.read.toolCalls.ofRun(id);
      return calls.map(({ ref, status }) => `${ref} ${status}`).toSorted();
    },
    /** What an acp agent wrote. */
    async filesOf(each: StartedRun): Promise<string[]> {
      const sessionFolder = await folderOf(each);
      const text = (job: string) => readFile(join(sessionFolder, job), 'utf8');
      return Promise.all(jobs.map(async (job) => `${job} ${await text(job)}`));
    },
    /** What Claude appended, line by line. */
    async jobsOf(each: StartedRun): Promise<string[]> {
      const text = await readFile(join(await folderOf(each), 'jobs.txt'), 'utf8');
      return text.trimEnd().split('\n');
    },
    /** Follows a run to its end, on one server after the other. */
    async read(each: StartedRun, first: number): Promise<RunEvent[]> {
      const events: RunEvent[] = [];
      for (let server = first; !events.some(({ type }) => isTerminalEventType(type)); server += 1) {
        // One at a time is being replaced.
        const live = following.filter(({ stopping }) => !stopping.signal.aborted);
        const at = live[server % live.length];
        if (at === undefined) throw new Error('no server is left');
        const { follower, stopping } = at;
        const place = {
          run: logOfRun(await runOf(each)),
          after: events.length,
          signal: stopping.signal,
        };
        const take = ({ rendered }: EventBatch<RunEvent[]>) => {
          events.push(...rendered);
          return undefined;
        };
        await follower.follow({ ...place, take });
      }
      return events;
    },
    async begin(): Promise<StartedRun[]> {
      const begun: StartedRun[] = [];
      for (let round = 0; round < perFramework; round += 1) {
        for (const agentName of agentNames) {
          const create = { agentName, idempotencyKey: undefined, chargeRate };
          const { id } = (await createSession(services(), scope, create)).resource;
          const input = { prompt: prompts[agentName] };
          const request = { input, clientId: null, idempotencyKey: undefined, chargeRate };
          await startRun(services(), scope, { ...request, sessionId: id });
          begun.push({ agentName, sessionId: id });
        }
      }
      return begun;
    },
    async everyoneHasBegun(started: readonly StartedRun[]): Promise<void> {
      for (const each of started) {
        await until(async () => (await runOf(each)).lastSeq > 1, { withinMs, what: 'first word' });
      }
    },
    /** As SIGTERM and a new process. */
    async restart(index: number): Promise<void> {
      following[index]?.stopping.abort();
      await running[index]?.stop(withinMs);
      await (await start(index)).start();
    },
    async ended(each: StartedRun) {
      const run = await until(
        async () => {
          const found = await runOf(each);
          return isTerminalRunStatus(found.status) && found;
        },
        { withinMs, what: `end of ${each.agentName}` },
      );
      return { run, log: await logOf(each) };
    },
  };
}

async function writeAgents(
  folder: string,
  urls: { readonly model: string; readonly remote: string },
): Promise<void> {
  const append = { name: 'append_file', input: { path: 'lines.txt', text: 'x\n' } };
  const agents = {
    talker: {
      framework: 'scripted',
      script: [
        {
          repeat: { times: lines, steps: [{ say: 'a b c ' }, { tool: append }, { sleep_ms: 150 }] },
        },
      ],
    },
    thinker: {
      framework: 'ai-sdk',
      model: 'anthropic/claude-scripted',
      env: { API_KEY: '${env:ROLLING_KEY}', BASE_URL: `${urls.model}/v1` },
      tools: ['write_file', 'read_file'],
    },
    remote: { framework: 'a2a', url: urls.remote },
    builder: { framework: 'claude', env: { ANTHROPIC_API_KEY: '${env:ROLLING_KEY}' } },
    ...(agentNames.includes('helper') && {
      helper: { framework: 'acp', command: ['node', '--no-warnings', program, sdk] },
    }),
  };
  for (const [name, agent] of Object.entries(agents)) {
    await mkdir(join(folder, name), { recursive: true });
    const text = JSON.stringify({ schema: 1, name, description: name, ...agent });
    await writeFile(join(folder, name, 'agent.yaml'), text);
  }
  const courier = join(import.meta.dirname, '../harness/stdio/courier');
  await mkdir(join(folder, 'courier'), { recursive: true });
  for (const name of ['agent.yaml', 'agent.py']) {
    const text = await readFile(join(courier, name), 'utf8');
    await writeFile(join(folder, 'courier', name), text.replace('0.05', '0.2'));
  }
}
