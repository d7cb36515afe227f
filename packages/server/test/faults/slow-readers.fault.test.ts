import { fileURLToPath } from 'node:url';
import type { RunRecord } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/eventually.ts';
import { Caller } from './support/caller.ts';
import { RawEventReader, type Frame } from './support/raw-event-reader.ts';
import { checkLog } from './support/run-log.ts';
import { type AgentFolder, createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';
import { unsentBytes } from './support/socket-queues.ts';

const mebibyte = 2 ** 20;
const readers = 50;
/** Those of them that read on in the end; the rest go away. */
const wakers = 5;
/** The memory that one reader may cost (D-33), and what caches of the server may take beside it. */
const perReaderBytes = 300 * 1024;
const cachesBytes = 16 * mebibyte;
const reportHeldMemory = fileURLToPath(new URL('support/report-held-memory.ts', import.meta.url));

const large = {
  repeat: { times: 300, steps: [{ emit: { type: 'x', data: { x: 'x'.repeat(60_000) } } }] },
};
const agents: Readonly<Record<string, AgentFolder>> = {
  flood: { script: [large] },
  stream: { script: [{ sleep_ms: 1_500 }, large] },
  talker: { script: [{ say: { text: '{{prompt}}', every_ms: 10 } }] },
};
const words = Array.from({ length: 100 }, (_, n) => `word${n}`).join(' ');

describe('readers that read nothing (D-33)', () => {
  let server: ServerProcess;
  let caller: Caller;

  beforeAll(async () => {
    const folder = await createServerFolder({ agents });
    server = await ServerProcess.start(folder, { imports: [reportHeldMemory] });
    caller = await Caller.open(folder);
  });
  afterAll(async () => {
    await server.kill();
    server.folder.remove();
  });

  const start = async (agentName: string, prompt = 'x') =>
    caller.startRun((await caller.openSession(agentName)).id, prompt);
  const at = (run: RunRecord) => ({ sessionId: run.session_id, runId: run.id });
  const readerOf = (run: RunRecord, signal?: AbortSignal) =>
    new RawEventReader({ port: server.folder.port, caller, at: at(run), signal });
  const readAll = async (run: RunRecord): Promise<readonly Frame[]> => {
    const reader = readerOf(run);
    expect((await reader.read()).how).toBe('ended');
    return reader.frames;
  };
  let reports = 0;
  const heldBytes = async (): Promise<number> => {
    reports += 1;
    server.signal('SIGUSR2');
    const report = new RegExp(`held memory, report ${reports}: (\\d+) bytes`);
    const found = await until(() => report.exec(server.output) ?? undefined, {
      what: 'report of the held memory',
    });
    return Number(found[1]);
  };
  const stuckReaders = () => unsentBytes(server.folder.port).filter((bytes) => bytes > 0);
  /** The system has taken all it can for each of them, and the server can hand over no more. */
  const areStuck = async () => {
    let before = '';
    let same = 0;
    await until(
      () => {
        const unsent = stuckReaders();
        same = unsent.length >= readers && `${unsent.join()}` === before ? same + 1 : 0;
        before = `${unsent.join()}`;
        return same >= 10;
      },
      { what: () => `stuck readers: ${before}` },
    );
  };

  test.each([
    ['that has ended', 'flood'],
    ['that is under way', 'stream'],
  ])(
    'cost little memory on the log of a run %s, slow down no other reader, and get all of it later',
    async (_, agentName) => {
      const first = await start('flood');
      const sizes = (await readAll(first)).map(({ text }) => text.length);
      expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThan(15 * mebibyte);
      const usual = await heldBytes();

      const run = agentName === 'flood' ? first : await start(agentName);
      const awake = Promise.withResolvers<void>();
      const gone = new AbortController();
      onTestFinished(() => gone.abort());
      const stalled = Array.from({ length: readers }, (_, index) => {
        const reader = readerOf(run, index < wakers ? undefined : gone.signal);
        return { reader, read: reader.read({ stallUntil: awake.promise }) };
      });
      await areStuck();
      // Others run and read to the end while all of these are stalled.
      const talk = await start('talker', words);
      const together = await Promise.all([readAll(talk), readAll(talk), readAll(talk)]);
      expect(together[1]).toEqual(together[0]);
      expect(stuckReaders().length).toBeGreaterThanOrEqual(readers);
      expect((await heldBytes()) - usual).toBeLessThan(cachesBytes + readers * perReaderBytes);

      gone.abort();
      awake.resolve();
      const log = await readAll(run);
      checkLog(await caller.run(at(run)), log);
      for (const { reader, read } of stalled.slice(0, wakers)) {
        if ((await read).how !== 'ended') await reader.read();
        expect(reader.frames).toEqual(log);
      }
      await until(() => unsentBytes(server.folder.port).length === 0, {
        what: 'end of the connections',
      });
    },
  );
});
