// The trace of a run over servers that are killed, and over those that hand it to another one, in processes of their
// own.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type InteractionRecord, type RunRecord, isTerminalRunStatus } from '@convoke/contract';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../../test/free-port.ts';
import { Caller, runPath } from '../faults/support/caller.ts';
import { type ServerFolder, createServerFolder } from '../faults/support/server-folder.ts';
import { ServerProcess } from '../faults/support/server-process.ts';
import { createLocation, databaseKinds } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import { asking, lasting, openFrameworks, stepping } from './every-framework.ts';
import { SpanReceiver, exportingTo } from './span-receiver.ts';
import { rootIn, traceProblems, treeOf } from './trace-oracle.ts';

const withinMs = 120_000;

/** Servers that share a database, or, on SQLite, one data folder after the other's end. */
async function openPlace(kind: 'sqlite' | 'postgres') {
  const world = await openFrameworks();
  const receiver = await SpanReceiver.open();
  const first = await createServerFolder({ agents: world.agents });
  for (const [path, text] of Object.entries(world.files)) {
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

async function beginAll(caller: Caller, prompts: Readonly<Record<string, string>>) {
  const runs: RunRecord[] = [];
  for (const [agentName, prompt] of Object.entries(prompts)) {
    const { id } = await caller.openSession(agentName);
    runs.push(await caller.startRun(id, prompt));
  }
  return runs;
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

describe.each(databaseKinds)('on %s', (kind) => {
  test('the trace of a run of each framework is whole over kill -9 of its server (D-582)', async () => {
    const { receiver, caller, server, next, wholeTraceOf } = await openPlace(kind);
    const runs = await beginAll(caller, lasting);
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
    const runs = await beginAll(caller, stepping);
    for (const run of runs) await reaches(caller, run, hasBegun);
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    await next();
    for (const run of runs) {
      const { status } = await reaches(caller, run, (now) => isTerminalRunStatus(now.status));
      const spans = await wholeTraceOf(run);
      const [second, first] = spans
        .filter(({ name }) => name === 'convoke.leg')
        .toSorted((a, b) => b.from - a.from);
      expect([run.agent_name, status, first?.attributes['convoke.outcome']]).toEqual([
        run.agent_name,
        'completed',
        'yielded',
      ]);
      expect(second?.links).toEqual([{ traceId: first?.traceId, spanId: first?.spanId }]);
    }
  });

  test('three waits at as many servers are three spans of one trace, in each framework (D-582)', async () => {
    const place = await openPlace(kind);
    const { caller, next, wholeTraceOf } = place;
    const runs = await beginAll(caller, asking);
    let { server } = place;
    for (const answer of ['a', 'b', 'c']) {
      const asked: InteractionRecord[] = [];
      for (const run of runs) {
        asked.push(
          await until(async () => (await caller.interactions(run.session_id))[0], {
            withinMs,
            what: () => `question of ${run.agent_name}`,
          }),
        );
      }
      server.signal('SIGTERM');
      expect(await server.ended).toEqual({ code: 0, signal: null });
      server = await next();
      for (const { session_id, interaction_key, kind: what } of asked) {
        const body = what === 'question' ? { answer } : { decision: 'allow' };
        await caller.answer(session_id, interaction_key, body);
      }
    }
    for (const run of runs) {
      const { status } = await reaches(caller, run, (now) => isTerminalRunStatus(now.status));
      expect([run.agent_name, status]).toEqual([run.agent_name, 'completed']);
      const tree = treeOf(await wholeTraceOf(run));
      const root = `invoke_agent ${run.agent_name}`;
      expect(tree.filter((line) => !/^(chat|execute_tool) .* < convoke\.leg$/.test(line))).toEqual([
        ...Array.from({ length: 3 }, () => `convoke.await_person < ${root}`),
        ...Array.from({ length: 4 }, () => `convoke.leg < ${root}`),
        `convoke.start < ${root}`,
        `${root} < `,
      ]);
    }
  });
});
