import { type RunRecord, formatEventId } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../support/postgres-databases.ts';
import { Caller } from './support/caller.ts';
import { type Random, seededRandom } from './support/random.ts';
import { RawEventReader, type Frame, type Read, readEvents } from './support/raw-event-reader.ts';
import { checkLog, saidIn } from './support/run-log.ts';
import { type AgentFolder, createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

/** Two, three and four bytes a character, with and without joiners, so that a cut can fall into each. */
const words = [
  '日本語',
  '🦜🦜',
  '한국어',
  'naïve',
  '👩‍👩‍👧‍👦',
  'Ω≈ç√',
  '漢字かな',
  '🇪🇺',
  'plain',
  'ß\u0301',
  '𝔘𝔫𝔦',
];

const agents: Readonly<Record<string, AgentFolder>> = {
  talker: { script: [{ say: { text: '{{prompt}}', every_ms: 4 } }] },
  quick: { script: [{ say: '{{prompt}}' }] },
};

/** The places where a connection was cut, to prove that the interesting ones were met. */
interface Places {
  beforeFirstByte: number;
  inHeaders: number;
  afterHeaders: number;
  inFrame: number;
  inCharacter: number;
  atFrameEnd: number;
}

describe.each(['sqlite', 'postgres'] as const)(
  'readers that are cut again and again, on %s',
  (kind) => {
    const random = seededRandom(`cuts on ${kind}`);
    let server: ServerProcess;
    let caller: Caller;
    let close: () => Promise<void>;

    beforeAll(async () => {
      const database = kind === 'postgres' ? await createDatabase() : undefined;
      const settings: Record<string, string> = database
        ? { CONVOKE_DATABASE_URL: database.url }
        : {};
      const folder = await createServerFolder({ agents, settings });
      server = await ServerProcess.start(folder);
      caller = await Caller.open(folder);
      close = async () => {
        await server.kill();
        folder.remove();
        await database?.drop();
      };
    });
    afterAll(() => close());

    const readerOf = (run: RunRecord) =>
      new RawEventReader({
        port: server.folder.port,
        caller,
        at: { sessionId: run.session_id, runId: run.id },
      });

    const replay = async (run: RunRecord): Promise<readonly Frame[]> => {
      const reader = readerOf(run);
      expect((await reader.read()).how).toBe('ended');
      return reader.frames;
    };

    const startRun = async (agentName: string, prompt: string): Promise<RunRecord> => {
      const session = await caller.openSession(agentName);
      return caller.startRun(session.id, prompt);
    };

    test('what they put together is the log: no gap, no repeat, no reorder', async () => {
      const places: Places = {
        beforeFirstByte: 0,
        inHeaders: 0,
        afterHeaders: 0,
        inFrame: 0,
        inCharacter: 0,
        atFrameEnd: 0,
      };
      let connections = 0;
      const one = async () => {
        const prompt = sentence(random, 400);
        const run = await startRun('talker', prompt);
        const readers = await Promise.all(
          Array.from({ length: 5 }, () => readWithCuts(readerOf(run), random.fork(), places)),
        );
        const log = await replay(run);
        const ended = await caller.run({ sessionId: run.session_id, runId: run.id });
        expect(saidIn(checkLog(ended, log))).toBe(prompt);
        for (const reader of readers) {
          expect(reader.frames).toEqual(log);
          connections += reader.connections;
        }
      };
      await Promise.all(Array.from({ length: 6 }, one));
      process.stdout.write(`${JSON.stringify({ connections, ...places })}\n`);
      expect(connections).toBeGreaterThan(200);
      expect(Object.values(places).filter((count) => count === 0)).toEqual([]);
    });

    test('a reader that reconnects with any id of a log of 500 events gets the rest of it, and then the end', async () => {
      const run = await startRun('quick', sentence(random, 500));
      const log = await replay(run);
      expect(log.length).toBeGreaterThanOrEqual(500);
      const readAfter = (lastEventId: string) =>
        readEvents({
          port: server.folder.port,
          caller,
          at: { sessionId: run.session_id, runId: run.id },
          lastEventId,
        });
      const positions = Array.from(log, (_, index) => index);
      const worker = async () => {
        for (let at = positions.pop(); at !== undefined; at = positions.pop()) {
          const { status, how, frames } = await readAfter(formatEventId(at + 1));
          const isLast = at + 1 === log.length;
          expect({ at, status, how }).toEqual({ at, status: isLast ? 204 : 200, how: 'ended' });
          expect(frames).toEqual(log.slice(at + 1));
        }
      };
      await Promise.all(Array.from({ length: 8 }, worker));
      expect((await readAfter(formatEventId(log.length + 1))).status).toBe(400);
      expect((await readAfter('')).frames).toEqual(log);
    });

    // Many ends at once: a wake-up that comes while a reader has read but does not wait yet must not be lost.
    test('readers that follow short runs as they happen all come to the end', async () => {
      const follow = async () => {
        const run = await startRun('quick', sentence(random, random.whole(1, 4)));
        const readers = Array.from({ length: 4 }, () => readerOf(run));
        const reads = await Promise.all(readers.map((reader) => reader.read()));
        expect(reads.map((read) => read.how)).toEqual(reads.map(() => 'ended'));
        for (const reader of readers) expect(reader.frames).toEqual(readers[0]?.frames);
      };
      for (let batch = 0; batch < 15; batch++)
        await Promise.all(Array.from({ length: 12 }, follow));
    });
  },
);

/** Reads to the end of the run over as many connections as it takes. */
async function readWithCuts(
  reader: RawEventReader,
  random: Random,
  places: Places,
): Promise<RawEventReader> {
  let headBytes = 0;
  for (;;) {
    const read = await reader.read(nextCut(random, headBytes));
    if (read.how === 'ended') return reader;
    expect(read.how).toBe('cut');
    headBytes = read.headBytes;
    places[placeOf(read)] += 1;
  }
}

/** Mostly anywhere; often enough exactly where a reader might lose track. */
function nextCut(random: Random, headBytes: number) {
  switch (random.whole(0, 9)) {
    case 0:
      return { cutAfterBytes: 0 };
    case 1:
      return { cutAfterBytes: random.whole(1, 400) };
    case 2:
      return { cutAfterBytes: headBytes };
    case 3:
      return { cutAfterFrames: random.whole(1, 5) };
    default:
      return { cutAfterBytes: random.whole(500, 4_000) };
  }
}

function placeOf(read: Read): keyof Places {
  if (read.received === 0) return 'beforeFirstByte';
  if (read.status === 0) return 'inHeaders';
  if (read.received === read.headBytes) return 'afterHeaders';
  if (read.rest.length === 0) return 'atFrameEnd';
  return endsInCharacter(read.rest) ? 'inCharacter' : 'inFrame';
}

function endsInCharacter(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return false;
  } catch {
    return true;
  }
}

function sentence(random: Random, length: number): string {
  return Array.from({ length }, () => words[random.whole(0, words.length - 1)]).join(' ');
}
