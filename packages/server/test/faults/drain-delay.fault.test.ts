// D-311. The delays are so long that a server which heeds them never ends within the test.
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../support/eventually.ts';
import { createDatabase } from '../support/postgres-databases.ts';
import { exchange } from './support/exchange.ts';
import { Caller } from './support/caller.ts';
import { RawEventReader } from './support/raw-event-reader.ts';
import { createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

const delayed = { CONVOKE_DRAIN_SECONDS: '3600', CONVOKE_DRAIN_DELAY_SECONDS: '3000' };
const agents = { asker: { script: [{ ask: { question: 'Which?' } }] } };

async function start(kind: 'postgres' | 'sqlite') {
  const database = kind === 'postgres' ? await createDatabase() : undefined;
  onTestFinished(() => database?.drop());
  const shared = database === undefined ? {} : { CONVOKE_DATABASE_URL: database.url };
  const folder = await createServerFolder({ agents, settings: { ...delayed, ...shared } });
  onTestFinished(() => folder.remove());
  const server = await ServerProcess.start(folder);
  onTestFinished(async () => void (await server.kill()));
  return { folder, server };
}

test('after SIGTERM a server of a cluster keeps serving until load balancers had time to notice', async () => {
  const { folder, server } = await start('postgres');
  const caller = await Caller.open(folder);
  const session = await caller.openSession('asker');
  const run = await caller.startRun(session.id, 'x');
  const at = { sessionId: run.session_id, runId: run.id };
  const reader = new RawEventReader({ port: folder.port, caller, at });
  let hasEnded = false;
  const read = reader.read().finally(() => (hasEnded = true));
  const asked = () => reader.frames.find(({ text }) => text.includes('user_question'));
  await until(() => asked() !== undefined, { what: 'question' });
  server.signal('SIGTERM');
  await until(async () => (await server.readiness()) === 503, { what: 'readiness of 503' });
  const [question] = await caller.interactions(session.id);
  expect(question).toMatchObject({ status: 'pending' });
  const another = new RawEventReader({ port: folder.port, caller, at });
  await another.read({ untilId: asked()?.id ?? '' });
  expect(another.frames).toEqual(reader.frames);
  expect(hasEnded).toBe(false);
  server.signal('SIGTERM');
  expect(await server.ended).toMatchObject({ code: 1 });
  await read;
});

test.each([
  ['SIGINT', 'postgres'],
  ['SIGTERM', 'sqlite'],
] as const)('after %s a server on %s closes at once', async (signal, kind) => {
  const { server } = await start(kind);
  expect(await exchange({ method: 'GET', url: `${server.baseUrl}/healthz` })).toMatchObject({
    status: 200,
  });
  server.signal(signal);
  expect(await server.ended).toEqual({ code: 0, signal: null });
});
