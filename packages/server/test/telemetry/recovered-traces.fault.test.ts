// The trace of a run over servers that are killed, and over those that hand it to another one, in processes of their
// own.
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type RunRecord, isTerminalRunStatus } from '@convoke/contract';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../../test/free-port.ts';
import { requireSandbox } from '../../../../test/services.ts';
import { Caller, runPath } from '../faults/support/caller.ts';
import { type ServerFolder, createServerFolder } from '../faults/support/server-folder.ts';
import { ServerProcess } from '../faults/support/server-process.ts';
import { A2aServer } from '../harness/a2a/agent.ts';
import type { Step } from '../harness/acp/agent.ts';
import { program, sdk } from '../harness/acp/use-acp-agent.ts';
import { createLocation, databaseKinds } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { SpanReceiver, exportingTo } from './span-receiver.ts';
import { rootIn, traceProblems, treeOf } from './trace-oracle.ts';

const withinMs = 120_000;
const words = Array.from({ length: 60 }, (_, index) => `word-${index} `).join('');
const agents = {
  teller: {
    script: [{ say: 'First. ' }, { say: { text: words, every_ms: 80 } }, { say: 'Done.' }],
  },
  asker: {
    script: [
      { ask: { question: 'First?' } },
      { ask: { question: 'Second?' } },
      { ask: { question: 'Third?' } },
      { say: 'Done.' },
    ],
  },
};

const clerk = `
import { setTimeout as lasting } from 'node:timers/promises';
import { agent } from '@convoke/agent';
export default agent(async (ctx) => {
  ctx.say('Begun. ');
  await ctx.step('wait', async () => (await lasting(3_600_000), 'never'), { repeatable: true });
});
`;

/** An agent of each framework whose program is here, and a prompt that it never finishes. */
const prompts = {
  sleeper: 'go',
  thinker: `@@ say One && call list_files {} ;; slow 2 3600000`,
  courier: 'A B',
  clerk: 'go',
  remote: JSON.stringify([{ say: 'Before. ' }, { hold: true }]),
  helper: JSON.stringify([{ say: 'One.' }, { wait: 3_600_000 }] satisfies Step[]),
} as const;

/** A model and a remote agent, and one agent of each framework. */
async function openFrameworks() {
  requireSandbox();
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const remote = await A2aServer.start();
  onTestFinished(() => remote.close());
  const courier = join(import.meta.dirname, '../harness/stdio/courier/agent.py');
  const slowCourier = readFileSync(courier, 'utf8').replace('0.05', '3600');
  return {
    agents: {
      sleeper: { script: [{ say: 'Zzz' }, { sleep_ms: 3_600_000 }] },
      thinker: {
        framework: 'ai-sdk',
        model: 'openai-compatible/scripted',
        env: { BASE_URL: `${model.url}/v1` },
        tools: ['list_files'],
      },
      courier: {
        framework: 'stdio',
        command: ['python3', './agent.py'],
        recovery: { on_loss: 'resume' },
      },
      clerk: { framework: 'code' },
      remote: { framework: 'a2a', url: remote.url },
      helper: { framework: 'acp', command: ['node', '--no-warnings', program, sdk] },
    },
    files: { 'courier/agent.py': slowCourier, 'clerk/agent.ts': clerk },
    settings: { CONVOKE_A2A_ALLOW: new URL(remote.url).host },
  };
}

/** Servers that share a database, or, on SQLite, one data folder after the other's end. */
async function openPlace(
  kind: 'sqlite' | 'postgres',
  world: Partial<Awaited<ReturnType<typeof openFrameworks>>> = {},
) {
  const receiver = await SpanReceiver.open();
  const first = await createServerFolder({ agents: world.agents ?? agents });
  for (const [path, text] of Object.entries(world.files ?? {})) {
    writeFileSync(join(first.agentsDir, path), text);
  }
  onTestFinished(() => first.remove());
  const root = dirname(first.agentsDir);
  writeFileSync(join(root, 'master.key'), randomBytes(32).toString('base64'), { mode: 0o600 });
  const settings = {
    ...first.settings,
    ...world.settings,
    ...exportingTo(receiver),
    CONVOKE_BASE_URL: 'http://convoke.test',
    CONVOKE_MASTER_KEY_FILE: join(root, 'master.key'),
    // Long enough that a busy machine does not take the lease of a server that lives.
    CONVOKE_LEASE_SECONDS: '8',
    ...(kind === 'postgres' && {
      CONVOKE_BLOBS: `file://${join(root, 'blobs')}`,
      CONVOKE_DATABASE_URL: await createLocation(kind),
    }),
  };
  const start = async (folder: ServerFolder, command: 'dev' | 'serve') => {
    const server = await ServerProcess.start(folder, { command });
    onTestFinished(async () => void (await server.kill()));
    return server;
  };
  const server = await start({ ...first, settings }, 'dev');
  let baseUrl = server.baseUrl;
  const caller = await Caller.open(first, { baseUrl: () => baseUrl });
  return {
    receiver,
    caller,
    server,
    /** The server that is there once the first one has ended, with a port of its own. */
    next: async (): Promise<ServerProcess> => {
      const dataDir = kind === 'sqlite' ? first.dataDir : join(root, 'data-next');
      const folder = { ...first, settings, dataDir, port: await freePort() };
      const started = await start(folder, 'serve');
      baseUrl = started.baseUrl;
      return started;
    },
    /** The spans of a run, once there is no problem with them. */
    wholeTraceOf: (run: RunRecord) =>
      until(
        () => {
          const spans = receiver.of(run.id);
          return traceProblems(spans).length === 0 && spans;
        },
        {
          withinMs,
          what: () => {
            const spans = receiver.of(run.id);
            return `whole trace: ${[...traceProblems(spans), ...treeOf(spans)].join(', ')}`;
          },
        },
      ),
  };
}

const at = (run: RunRecord) => ({ sessionId: run.session_id, runId: run.id });

async function begin(caller: Caller, agentName: string, prompt = 'go'): Promise<RunRecord> {
  const { id } = await caller.openSession(agentName);
  return caller.startRun(id, prompt);
}

function reaches(caller: Caller, run: RunRecord, is: (now: RunRecord) => boolean) {
  let last: RunRecord | undefined;
  return until(
    async () => {
      last = await caller.run(at(run));
      return is(last) && last;
    },
    { withinMs, what: () => `run as it should be: ${JSON.stringify(last)}` },
  );
}

const hasBegun = ({ last_event_id: id }: RunRecord) => Number(id) > 1;
const isCompleted = ({ status }: RunRecord) => status === 'completed';
const root = 'invoke_agent teller';
const twoLegs = [
  `convoke.leg < ${root}`,
  `convoke.leg < ${root}`,
  `convoke.start < ${root}`,
  `${root} < `,
];

describe.each(databaseKinds)('on %s', (kind) => {
  test('the trace of a run of each framework is whole over kill -9 of its server (D-582)', async () => {
    const world = await openFrameworks();
    const { receiver, caller, server, next, wholeTraceOf } = await openPlace(kind, world);
    const runs: RunRecord[] = [];
    for (const [name, prompt] of Object.entries(prompts)) {
      runs.push(await begin(caller, name, prompt));
    }
    for (const run of runs) await reaches(caller, run, hasBegun);
    // Only spans that wait to be sent may be lost: those of the start requests ended long ago.
    const isSent = (run: RunRecord) => receiver.of(run.id).length > 0;
    await until(() => runs.every(isSent), { withinMs, what: 'span of each start' });
    await server.kill();
    await next();
    for (const run of runs) {
      await reaches(caller, run, ({ status, attempt }) => status !== 'running' || attempt > 1);
      // A loss may have ended it: then there is nothing to cancel.
      await caller.call('POST', `${runPath(at(run))}/cancel`);
      const { status } = await reaches(caller, run, (now) => isTerminalRunStatus(now.status));
      const spans = await wholeTraceOf(run);
      expect(rootIn(spans)?.attributes['convoke.status']).toBe(status);
      const legs = spans.filter(({ name }) => name === 'convoke.leg');
      const first = legs.find(({ attributes }) => attributes['convoke.leg'] === 1);
      expect([run.agent_name, first?.attributes['error.type']]).toEqual([
        run.agent_name,
        'worker_lost',
      ]);
    }
  });

  test('the trace of a run is whole over the hand-over to another server (D-582)', async () => {
    const { caller, server, next, wholeTraceOf } = await openPlace(kind);
    const run = await begin(caller, 'teller');
    await reaches(caller, run, hasBegun);
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    await next();
    await reaches(caller, run, isCompleted);
    const spans = await wholeTraceOf(run);
    expect(treeOf(spans)).toEqual(twoLegs);
    const [second, first] = spans
      .filter(({ name }) => name === 'convoke.leg')
      .toSorted((a, b) => b.from - a.from);
    expect(first?.attributes['convoke.outcome']).toBe('yielded');
    expect(second?.links).toEqual([{ traceId: first?.traceId, spanId: first?.spanId }]);
  });

  test('three waits at as many servers are three spans of one trace (D-582)', async () => {
    const place = await openPlace(kind);
    const { caller, next, wholeTraceOf } = place;
    const run = await begin(caller, 'asker');
    let { server } = place;
    for (const answer of ['a', 'b', 'c']) {
      const asked = await until(async () => (await caller.interactions(run.session_id))[0], {
        withinMs,
        what: 'question',
      });
      server.signal('SIGTERM');
      expect(await server.ended).toEqual({ code: 0, signal: null });
      server = await next();
      await caller.answer(run.session_id, asked.interaction_key, { answer });
    }
    await reaches(caller, run, isCompleted);
    expect(treeOf(await wholeTraceOf(run))).toEqual([
      ...Array.from({ length: 3 }, () => 'convoke.await_person < invoke_agent asker'),
      ...Array.from({ length: 4 }, () => 'convoke.leg < invoke_agent asker'),
      'convoke.start < invoke_agent asker',
      'invoke_agent asker < ',
    ]);
  });
});
