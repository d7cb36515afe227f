import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type RunRecord, errorBody, fileRecord } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/eventually.ts';
import { Caller, expected, runPath } from './support/caller.ts';
import { type Reply, exchange } from './support/exchange.ts';
import { RawEventReader, type Frame } from './support/raw-event-reader.ts';
import { checkLog, saidIn } from './support/run-log.ts';
import { type AgentFolder, createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';
import { SmallDisk } from './support/small-disk.ts';
import { integrityOf } from './support/sqlite-integrity.ts';

const isRoot = process.getuid?.() === 0;
const words = Array.from({ length: 250 }, (_, n) => `word${n}`).join(' ');
const contents = new Uint8Array(300_000).fill(7);

const agents: Readonly<Record<string, AgentFolder>> = {
  talker: { session_files: true, script: [{ say: { text: '{{prompt}}', every_ms: 10 } }] },
  asker: { script: [{ ask: { question: 'Which?' } }, { say: '{{answer}}' }] },
};

describe.runIf(isRoot)('a full disk under the server', () => {
  let disk: SmallDisk;
  let server: ServerProcess;
  let caller: Caller;

  beforeAll(async () => {
    disk = new SmallDisk(24);
    const folder = await createServerFolder({ agents, dataDir: join(disk.folder, 'data') });
    server = await ServerProcess.start(folder);
    caller = await Caller.open(folder);
  });
  afterAll(async () => {
    await server.kill();
    server.folder.remove();
    disk.remove();
  });

  const at = (run: RunRecord) => ({ sessionId: run.session_id, runId: run.id });
  const start = async (agentName: string, prompt = 'x') =>
    caller.startRun((await caller.openSession(agentName)).id, prompt);
  const readerOf = (run: RunRecord) =>
    new RawEventReader({ port: server.folder.port, caller, at: at(run) });
  const wholeLog = async (run: RunRecord): Promise<readonly Frame[]> => {
    const reader = readerOf(run);
    expect((await reader.read()).how).toBe('ended');
    return reader.frames;
  };
  const contentUrl = (file: { session_id: string; id: string }) =>
    `${server.baseUrl}/v1/sessions/${file.session_id}/files/${file.id}/content`;
  const upload = (file: { session_id: string; id: string }) =>
    exchange({ method: 'PUT', url: contentUrl(file), headers: caller.headers, body: contents });
  const readiness = () => exchange({ method: 'GET', url: `${server.baseUrl}/readyz`, headers: {} });
  const statusIs = (run: RunRecord, status: RunRecord['status']) =>
    until(async () => (await caller.run(at(run))).status === status, {
      what: `${status} run`,
    });

  test('refuses writes, continues reading, holds back what a run says, and recovers on its own', async () => {
    const finished = await start('talker', 'all is well');
    const finishedLog = await wholeLog(finished);
    for (let round = 0; round < 4; round++) {
      const asker = await start('asker');
      await statusIs(asker, 'waiting');
      const [question] = await caller.interactions(asker.session_id);
      const prepared = await caller.call('POST', `/v1/sessions/${finished.session_id}/files`, {
        name: `file-${round}`,
      });
      const file = fileRecord.parse(expected(prepared, [201]));
      const run = await start('talker', words);
      const reader = readerOf(run);
      const reading = reader.read();
      await until(() => reader.frames.length > 5, { what: 'stream' });

      disk.fill();
      // Free space in half-used pages may still hold a commit or two.
      await until(async () => (await caller.call('POST', '/v1/sessions', talker)).status === 503, {
        what: 'refusal',
      });
      const heard = reader.frames.length;
      const answerPath = `/v1/sessions/${asker.session_id}/interactions/${question?.interaction_key}/answer`;
      const writes: Promise<Reply>[] = [
        caller.call('POST', '/v1/sessions', talker),
        caller.call('POST', `/v1/sessions/${finished.session_id}/runs`, {
          input: { prompt: 'x' },
        }),
        caller.call('POST', `${runPath(at(run))}/cancel`),
        caller.call('POST', answerPath, { answer: 'this' }),
        caller.call('POST', `/v1/sessions/${finished.session_id}/files`, { name: 'more' }),
        upload(file),
      ];
      for (const reply of await Promise.all(writes)) expectUnavailable(reply);

      expect((await readiness()).status).toBe(503);
      expect((await caller.askForToken()).status).toBe(200);
      expect((await caller.session(run.session_id)).status).toBe('running');
      expect((await caller.run(at(run))).status).toBe('running');
      expect(await caller.interactions(asker.session_id)).toEqual([question]);
      expect(await wholeLog(finished)).toEqual(finishedLog);
      const download = { method: 'GET', url: contentUrl(file), headers: caller.headers };
      expect((await exchange(download)).status, 'nothing of the upload is visible').toBe(409);
      expect(readdirSync(join(server.folder.dataDir, 'blobs', '.staging'))).toEqual([]);
      expect(reader.frames.length, 'nothing is shown that is not durable').toBe(heard);

      disk.free();
      await until(async () => (await readiness()).status === 200, {
        what: 'readiness after space came back',
      });
      await until(async () => (await caller.call('POST', '/v1/sessions', talker)).status === 201, {
        what: 'service after space came back',
      });
      expect((await reading).how).toBe('ended');
      await statusIs(run, 'completed');
      const log = await wholeLog(run);
      expect(reader.frames).toEqual(log);
      expect(saidIn(checkLog(await caller.run(at(run)), log))).toBe(words);
      expect((await upload(file)).status).toBe(200);
      await caller.answer(asker.session_id, question?.interaction_key ?? '', { answer: 'that' });
      await statusIs(asker, 'completed');
    }
    expect(server.isRunning).toBe(true);

    expect(await server.kill()).toEqual([]);
    expect(integrityOf(server.folder.dataDir)).toBe('ok');
    server = await ServerProcess.start(server.folder);
    expect(await wholeLog(finished)).toEqual(finishedLog);
  });

  test('a server that dies on a full disk starts again once there is space, with every event it had sent, and continues', async () => {
    const run = await start('talker', words);
    const reader = readerOf(run);
    const reading = reader.read();
    await until(() => reader.frames.length > 5, { what: 'stream' });
    disk.fill();
    await until(async () => (await caller.call('POST', '/v1/sessions', talker)).status === 503, {
      what: 'refusal',
    });
    await server.kill();
    await reading;
    const hopeless = ServerProcess.spawn(server.folder);
    expect((await hopeless.ended).code).not.toBe(0);
    expect(hopeless.output).toMatch(/(^|\n)convoke: [^\n]+\n$/);

    disk.free();
    server = await ServerProcess.start(server.folder);
    await statusIs(run, 'completed');
    const log = await wholeLog(run);
    expect(saidIn(checkLog(await caller.run(at(run)), log))).toBe(words);
    expect(log.slice(0, reader.frames.length)).toEqual(reader.frames);
  });
});

const talker = { agent_name: 'talker' };

function expectUnavailable({ status, headers, body }: Reply): void {
  expect({ status, error: errorBody.parse(body).error }).toEqual({
    status: 503,
    error: 'storage_unavailable',
  });
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
}
