// D-130, reach.md §3: what the service charges is what the model server answered, also when a server dies in the middle
// of a message and another one hands its runs over. The model server counts on its own.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunRecord, UsageRecord } from '@convoke/contract';
import { expect, onTestFinished, test } from 'vitest';
import { createLocation, isQuick } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import { usage } from '../support/model-server/dialect.ts';
import { type ModelServer, startModelServer } from '../support/model-server/server.ts';
import { Caller, expected } from './support/caller.ts';
import { freePort } from '../../../../test/free-port.ts';
import { type ServerFolder, createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

const runs = 6;
const messages = 8;
const withinMs = 120_000;

/** A message takes half a second, and each but the last one ends with a call that may be repeated. */
const prompt = (name: string) =>
  [
    `@@ say ${name} && slow 10 50 && call list_files {}`,
    ...Array.from({ length: messages - 2 }, () => 'slow 10 50 && call list_files {}'),
    'say End',
  ].join(' ;; ');

test.skipIf(isQuick)(
  'tokens are charged once for each answer, over a kill, a drain and three servers (D-130)',
  { timeout: 4 * withinMs },
  async () => {
    const model = await startModelServer();
    onTestFinished(() => model.close());
    const [first, second, third] = await folders(model);
    const a = await ServerProcess.start(first);
    onTestFinished(async () => void (await a.kill()));
    let port = first.port;
    const caller = await Caller.open(first, { baseUrl: () => `http://127.0.0.1:${port}` });
    const started: RunRecord[] = [];
    for (let index = 0; index < runs; index += 1) {
      const session = await caller.openSession('thinker');
      started.push(await caller.startRun(session.id, prompt(`run-${index}-`)));
    }
    const now = () => Promise.all(started.map((run) => caller.run(at(run))));
    /** Every run has its first `count` answers, and is in the middle of the work. */
    const haveAnswers = (count: number) =>
      until(
        async () =>
          (await now()).every((run) => (run.usage?.output_tokens ?? 0) >= count * usage.output),
        {
          withinMs,
          what: `${count} answers each`,
        },
      );

    await haveAnswers(2);
    await a.kill();
    const b = await ServerProcess.start(second, { command: 'serve' });
    onTestFinished(async () => void (await b.kill()));
    const c = await ServerProcess.start(third, { command: 'serve' });
    onTestFinished(async () => void (await c.kill()));
    port = third.port;
    await haveAnswers(4);
    b.signal('SIGTERM');
    expect(await b.ended).toEqual({ code: 0, signal: null });
    const ended = await until(
      async () => {
        const found = await now();
        return found.every(({ status }) => status === 'completed') && found;
      },
      { withinMs, what: 'end of all runs' },
    );

    // After a kill that cut an answer short, another request asks for the rest of it.
    const requests = model.log.requests.map(({ source }) => source);
    const isForRest = (source: string) => source.includes('Your last message was cut off');
    const answers = new Set(requests.filter((source) => !isForRest(source))).size;
    expect(answers).toBe(runs * messages);
    const each = { input_tokens: messages * usage.input, output_tokens: messages * usage.output };
    expect(ended.map((run) => run.usage)).toEqual(ended.map(() => expect.objectContaining(each)));
    const total = { input_tokens: answers * usage.input, output_tokens: answers * usage.output };
    const sum = await until(
      async () => {
        const body = expected(await caller.call('GET', usageOfToday()), [200]);
        const [found] = (body as { usage: UsageRecord[] }).usage;
        return found?.completed === runs && found;
      },
      { withinMs, what: 'counted runs' },
    );
    expect(sum).toMatchObject({ runs, failed: 0, cancelled: 0, ...total });
  },
);

const at = (run: RunRecord) => ({ sessionId: run.session_id, runId: run.id });

function usageOfToday(): string {
  const day = 86_400_000;
  const from = new Date(Date.now() - day).toISOString();
  const to = new Date(Date.now() + day).toISOString();
  return `/v1/usage?from=${from}&to=${to}&group_by=agent`;
}

/** Three servers of one database, each with a folder and a port of its own. */
async function folders(model: ModelServer): Promise<[ServerFolder, ServerFolder, ServerFolder]> {
  const thinker = {
    framework: 'ai-sdk',
    model: 'anthropic/claude-scripted',
    env: { API_KEY: '${env:THINKER_KEY}', BASE_URL: `${model.url}/v1` },
    tools: ['list_files'],
  };
  const first = await createServerFolder({ agents: { thinker } });
  onTestFinished(() => first.remove());
  const root = dirname(first.agentsDir);
  writeFileSync(join(root, 'master.key'), randomBytes(32).toString('base64'), { mode: 0o600 });
  const settings = {
    ...first.settings,
    CONVOKE_BASE_URL: 'http://convoke.test',
    CONVOKE_MASTER_KEY_FILE: join(root, 'master.key'),
    CONVOKE_BLOBS: `file://${join(root, 'blobs')}`,
    CONVOKE_LEASE_SECONDS: '10',
    THINKER_KEY: 'key',
    CONVOKE_DATABASE_URL: await createLocation('postgres'),
  };
  const next = async (name: string) => ({
    ...first,
    dataDir: join(root, `data-${name}`),
    port: await freePort(),
    settings,
  });
  return [{ ...first, settings }, await next('b'), await next('c')];
}
