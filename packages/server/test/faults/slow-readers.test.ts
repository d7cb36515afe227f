import type { RunRecord } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/eventually.ts';
import { Caller } from './support/caller.ts';
import { residentBytes } from './support/process-tree.ts';
import { RawEventReader, type Frame } from './support/raw-event-reader.ts';
import { checkLog } from './support/run-log.ts';
import { type AgentFolder, createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';
import { unsentBytes } from './support/socket-queues.ts';

const minute = 60_000;
const mebibyte = 2 ** 20;
const readers = 50;
/** Those of them that read on in the end; the rest go away. */
const wakers = 5;
/** The memory that one reader may cost (reliability P11), and the variation of a busy process. */
const perReaderBytes = 300 * 1024;
const varianceBytes = 64 * mebibyte;

const large = {
  repeat: { times: 300, steps: [{ emit: { type: 'x', data: { x: 'x'.repeat(60_000) } } }] },
};
const agents: Readonly<Record<string, AgentFolder>> = {
  flood: { script: [large] },
  stream: { script: [{ sleep_ms: 1_500 }, large] },
  talker: { script: [{ say: { text: '{{prompt}}', every_ms: 10 } }] },
};
const words = Array.from({ length: 100 }, (_, n) => `word${n}`).join(' ');

describe('readers that read nothing (P11, D-33)', () => {
  let server: ServerProcess;
  let caller: Caller;

  beforeAll(async () => {
    const folder = await createServerFolder({ agents });
    server = await ServerProcess.start(folder);
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
  /** The system has taken all it can for each of them, and the server can hand over no more. */
  const areStuck = async () => {
    let before = '';
    let same = 0;
    await until(
      () => {
        const unsent = unsentBytes(server.folder.port).filter((bytes) => bytes > 0);
        same = unsent.length >= readers && `${unsent.join()}` === before ? same + 1 : 0;
        before = `${unsent.join()}`;
        return same >= 10;
      },
      { withinMs: 25_000, what: () => `stuck readers: ${before}` },
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
      // Readers that do read come first, so that the growth measured afterwards is due to the stalled ones alone.
      await Promise.all(Array.from({ length: 8 }, () => readAll(first)));
      const usual = residentBytes(server.pid);

      const run = agentName === 'flood' ? first : await start(agentName);
      const awake = Promise.withResolvers<void>();
      const gone = new AbortController();
      onTestFinished(() => gone.abort());
      const stalled = Array.from({ length: readers }, (_, index) => {
        const reader = readerOf(run, index < wakers ? undefined : gone.signal);
        return { reader, read: reader.read({ stallUntil: awake.promise }) };
      });
      await areStuck();
      const beside = performance.now();
      const talk = await start('talker', words);
      const together = await Promise.all([readAll(talk), readAll(talk), readAll(talk)]);
      expect(performance.now() - beside, 'a run of one second').toBeLessThan(5_000);
      expect(together[1]).toEqual(together[0]);

      // Held memory stays; garbage goes as soon as the process needs room.
      const grown = () => residentBytes(server.pid) - usual;
      const bound = varianceBytes + readers * perReaderBytes;
      await until(async () => (await readAll(talk)) && grown() < bound, {
        withinMs: 15_000,
        what: () => `growth below ${bound} bytes but ${grown()}`,
      });

      gone.abort();
      awake.resolve();
      const log = await readAll(run);
      checkLog(await caller.run(at(run)), log);
      for (const { reader, read } of stalled.slice(0, wakers)) {
        if ((await read).how !== 'ended') await reader.read();
        expect(reader.frames).toEqual(log);
      }
      await until(() => unsentBytes(server.folder.port).length === 0, {
        withinMs: 5_000,
        what: 'end of the connections',
      });
    },
    2 * minute,
  );
});
