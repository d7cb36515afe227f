// D-93: during an upgrade a server of the release before works on the same database. It must neither claim a run that it
// cannot continue nor end one that waits to be continued.
import { join } from 'node:path';
import { RunText, isTerminalRunStatus, runRecord, sessionRecord } from '@convoke/contract';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createLocation, isQuick } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import { Caller, type RunAt, expected, runPath } from './support/caller.ts';
import { exchange } from './support/exchange.ts';
import { hasOldRelease, unpackOldRelease } from './support/old-release.ts';
import {
  type AgentFolder,
  type ServerFolder,
  createServerFolder,
} from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

/** Fewer events than a page holds. */
const steps = 30;
const agents: Readonly<Record<string, AgentFolder>> = {
  // Many short steps, so that it can be handed over soon.
  teller: {
    script: [
      { repeat: { times: steps, steps: [{ say: 'word ' }, { sleep_ms: 300 }] } },
      { say: 'Done.' },
    ],
  },
};
const whole = `${'word '.repeat(steps)}Done.`;
const withinMs = 120_000;

/** More than the old server executes at once. */
const runs = 6;

test.skipIf(isQuick || !hasOldRelease)(
  'a server of the release before beside this one leaves continued runs alone (D-93)',
  { timeout: 300_000 },
  async () => {
    const program = unpackOldRelease();
    const url = await createLocation('postgres');
    const known = { CONVOKE_DATABASE_URL: url, CONVOKE_LEASE_SECONDS: '3' };
    const { old, fresh } = await openFolders(known);
    const first = await ServerProcess.start(old, { program });
    onTestFinished(() => first.kill().then(() => undefined));
    const caller = await Caller.open(old);
    const start = () => ServerProcess.start(fresh, { command: 'serve' });
    let second = await start();
    onTestFinished(() => second.kill().then(() => undefined));

    const started = await Promise.all(Array.from({ length: runs }, () => startRun(caller)));
    const isRunning = async (at: RunAt) => (await readRun(caller, at)).status === 'running';
    for (const at of started) await until(() => isRunning(at), { withinMs, what: 'start' });

    // A deploy of the new release, while the old one serves: every run of the new one is handed over.
    second.signal('SIGTERM');
    await second.ended;
    const handedOver = await interrupted(caller, started);
    // The old server has claimed and ended other runs meanwhile; these wait for a server that can continue them.
    expect(await ended(caller, await startRun(caller))).toMatchObject({ status: 'completed' });
    expect(handedOver.length).toBeGreaterThan(0);
    for (const at of handedOver) expect((await readRun(caller, at)).status).toBe('running');
    second = await start();
    for (const at of started) {
      const run = await ended(caller, at);
      expect(run).toMatchObject({ status: 'completed', output_text: whole });
      const text = new RunText();
      for (const event of await eventsOf(caller, at)) text.take(event);
      expect(text.text).toBe(whole);
    }

    // A crash of the new server: the old one ends what was lost, as it always did, or the next one continues it.
    const later = await Promise.all(Array.from({ length: runs }, () => startRun(caller)));
    for (const at of later) await until(() => isRunning(at), { withinMs, what: 'start' });
    await second.kill();
    second = await start();
    for (const at of later) {
      const run = await ended(caller, at);
      if (run.status === 'completed') expect(run.output_text).toBe(whole);
      else expect(run.error_code).toBe('worker_lost');
    }
    expect(first.output).not.toMatch(/"level":"(error|fatal)"/);
  },
);

/** Folders of the two servers: settings that the old release does not know are for the new one only. */
async function openFolders(
  known: Readonly<Record<string, string>>,
): Promise<{ old: ServerFolder; fresh: ServerFolder }> {
  // Few slots, so that the new server gets most of the runs.
  const few = { ...known, CONVOKE_RUN_CONCURRENCY: '2' };
  const old = { ...(await createServerFolder({ agents })), settings: few };
  const fresh = await createServerFolder({
    agents,
    settings: {
      ...known,
      CONVOKE_RECOVERY: 'resume',
      CONVOKE_MASTER_KEY_FILE: join(old.dataDir, 'master.key'),
    },
  });
  onTestFinished(() => {
    old.remove();
    fresh.remove();
  });
  return { old, fresh };
}

/** What both releases say of a run. */
const runOfBoth = z.looseObject({
  id: z.string(),
  status: runRecord.shape.status,
  output_text: z.string().optional(),
  error_code: z.string().optional(),
});
type RunOfBoth = z.infer<typeof runOfBoth>;
const sessionOfBoth = z.looseObject({ id: sessionRecord.shape.id });
const page = z.looseObject({
  events: z.array(z.looseObject({ id: z.string(), type: z.string(), data: z.unknown() })),
});

async function startRun(caller: Caller): Promise<RunAt> {
  const opened = await caller.call('POST', '/v1/sessions', { agent_name: 'teller' });
  const { id: sessionId } = sessionOfBoth.parse(expected(opened, [201]));
  const body = { input: { prompt: 'go' } };
  const reply = await caller.call('POST', `/v1/sessions/${sessionId}/runs`, body);
  return { sessionId, runId: runOfBoth.parse(expected(reply, [201])).id };
}

async function readRun(caller: Caller, at: RunAt): Promise<RunOfBoth> {
  return runOfBoth.parse(expected(await caller.call('GET', runPath(at)), [200]));
}

async function eventsOf(caller: Caller, at: RunAt) {
  const url = `${caller.baseUrl}${runPath(at)}/events?limit=100`;
  // Without it the old release streams.
  const headers = { ...caller.headers, accept: 'application/json' };
  const reply = await exchange({ method: 'GET', url, headers, timeoutMs: withinMs });
  return page.parse(expected(reply, [200])).events;
}

/** The runs whose last event says that they go on elsewhere. */
async function interrupted(caller: Caller, all: readonly RunAt[]): Promise<RunAt[]> {
  const found: RunAt[] = [];
  for (const at of all) {
    if ((await eventsOf(caller, at)).at(-1)?.type === 'run_interrupted') found.push(at);
  }
  return found;
}

function ended(caller: Caller, at: RunAt): Promise<RunOfBoth> {
  return until(
    async () => {
      const run = await readRun(caller, at);
      return isTerminalRunStatus(run.status) && run;
    },
    { withinMs, what: 'end of a run' },
  );
}
