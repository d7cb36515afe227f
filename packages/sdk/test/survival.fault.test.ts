import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { compileCache } from '../../../test/compile-cache.ts';
import { removeFolder } from '../../../test/remove-folder.ts';
import { root } from '../../../test/repository.ts';
import {
  Convoke,
  type NoticeRecord,
  type RunEvent,
  type RunHandle,
  RunText,
} from '../src/index.ts';
import { type ConvokeServer, clientOf, startConvoke } from './convoke-server.ts';
import { chance, startCuttingProxy } from './cutting-proxy.ts';

let server: ConvokeServer;
beforeAll(async () => {
  server = await startConvoke({ CONVOKE_STREAM_MAX_AGE_SECONDS: '1' });
});
afterAll(() => server[Symbol.asyncDispose]());

describe('with connections that break at any byte', () => {
  test.each([1, 2, 3, 4])(
    'one run is created, and every event is delivered once (seed %i)',
    async (seed) => {
      const random = chance(seed);
      const nextCut = () => (random() < 0.8 ? 1 + Math.floor(random() * 4000) : undefined);
      await using proxy = await startCuttingProxy(server.baseUrl, nextCut);
      const retry = { attempts: 12, baseMs: 1, maxMs: 5 };
      const convoke = new Convoke({ ...clientOf(server, proxy.baseUrl), retry });
      const session = await convoke.sessions.create('talker');
      const run = await session.run('bye');
      const followed = await collect(run);
      expect(followed).toEqual(await recorded(session.id, run.id));
      expect(textOf(followed)).toBe(`${'Grüße 👋🏽 '.repeat(40)}bye`);
      expect(proxy.cuts).toBeGreaterThan(0);
      const { items } = await direct().sessions.at(session.id).runs.list().page();
      expect(items).toHaveLength(1);
    },
  );
});

test('a stream that the server closes for its age is reopened (D-33)', async () => {
  const session = await direct().sessions.create('talker');
  const run = await session.run('bye');
  expect(await collect(run)).toEqual(await recorded(session.id, run.id));
});

describe('a server that is killed', () => {
  test('continues with its run: each event once, and the text joined is the output (D-87, D-88)', async () => {
    const session = await direct().sessions.create('rambler');
    const whole = Array.from({ length: 5_000 }, (_, index) => `w${index}`).join(' ');
    const run = await session.run(whole);
    const followed: RunEvent[] = [];
    const text = new RunText();
    // It is killed in the middle of a long sentence, and cancelled when it has said more of it.
    let isResumed = false;
    for await (const event of run) {
      followed.push(event);
      text.take(event);
      isResumed ||= event.type === 'run_resumed';
      if (event.type !== 'message_delta' || event.data.text === 'Well. ') continue;
      if (isResumed) await run.cancel();
      else await server.restart();
    }
    expect(followed).toEqual(await recorded(session.id, run.id));
    const interrupted = followed.find(({ type }) => type === 'run_interrupted');
    expect(interrupted?.data).toMatchObject({ reason: 'worker_lost' });
    expect(followed.at(-1)?.type).toBe('run_cancelled');
    const { output_text, attempt } = await run.read();
    expect([text.text, attempt]).toEqual([output_text, 2]);
    expect(`Well. ${whole}`.startsWith(text.text)).toBe(true);
    // A reader that knows no interruption joins the same text.
    expect(textOf(followed)).toBe(output_text);
  });

  test('continues for a reader that keeps its place in a file, also with an agent that begins again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'convoke-resume-'));
    onTestFinished(() => removeFolder(folder));
    const readers = ['reciter', 'beginner'].map((name) => startExample(folder, name));
    // Every one of them is in the middle of its message.
    for (const { kept } of readers)
      await expect.poll(async () => (await kept()).length).toBeGreaterThan(3);
    await server.restart();
    const whole = `Well. ${Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ')}`;
    for (const { printed, kept, recordedText } of readers) {
      expect((await printed).split('\n')).toEqual(['started', whole, '']);
      expect((await kept()).map(({ text }) => text).join('')).toBe(whole);
      expect(await recordedText()).toBe(whole);
    }
  });

  test('keeps a question pending, and the answer completes the run (D-36)', async () => {
    const session = await direct().sessions.create('asker');
    const run = await session.run('Hello');
    const text = await run.text({
      onQuestion: async () => {
        await server.restart();
        return 'blue';
      },
    });
    expect(text).toBe('blue');
  });
});

interface Kept {
  readonly session: string;
  readonly run: string;
  readonly pieces: readonly { readonly text: string }[];
}

/** examples/resume-after-crash.mjs with an agent, and what it has kept so far. */
function startExample(folder: string, agentName: string) {
  const file = join(folder, `${agentName}.json`);
  const { base_url, client_id, client_secret } = server.quickstart;
  const program = spawn(
    process.execPath,
    [join(root, 'examples/resume-after-crash.mjs'), file, agentName],
    {
      env: {
        PATH: process.env['PATH'],
        ...compileCache,
        CONVOKE_BASE_URL: base_url,
        CONVOKE_CLIENT_ID: client_id,
        CONVOKE_CLIENT_SECRET: client_secret,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  onTestFinished(() => void program.kill('SIGKILL'));
  const read = async () => JSON.parse(await readFile(file, 'utf8')) as Kept;
  return {
    printed: readAll(program.stdout),
    kept: async () => (existsSync(file) ? (await read()).pieces : []),
    recordedText: async () => {
      const { session, run } = await read();
      return (await direct().sessions.at(session).runs.at(run).read()).output_text;
    },
  };
}

function direct(): Convoke {
  return new Convoke(clientOf(server));
}

async function collect(run: RunHandle): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

async function recorded(sessionId: string, runId: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  const run = direct().sessions.at(sessionId).runs.at(runId);
  for await (const event of run.events({ limit: 100 })) events.push(event);
  return events;
}

function textOf(events: readonly RunEvent[]): string {
  return events.map((event) => (event.type === 'message_delta' ? event.data.text : '')).join('');
}

describe('the feed', () => {
  test('yields every notice once, over connections that break at any byte and a killed server (D-112)', async () => {
    const random = chance(7);
    const nextCut = () => (random() < 0.7 ? 1 + Math.floor(random() * 6000) : undefined);
    await using proxy = await startCuttingProxy(server.baseUrl, nextCut);
    const retry = { attempts: 12, baseMs: 1, maxMs: 5 };
    const convoke = new Convoke({ ...clientOf(server, proxy.baseUrl), retry });
    const [newest] = (await direct().feed.list({ from: 'newest' }).page()).items;
    expect(newest).toBeUndefined();
    const seen: NoticeRecord[] = [];
    const stop = new AbortController();
    const last = Promise.withResolvers<void>();
    const following = (async () => {
      for await (const notice of convoke.feed.follow({ signal: stop.signal })) {
        seen.push(notice);
        if (notice.type === 'session_ended') last.resolve();
      }
    })();
    for (let round = 0; round < 30; round += 1) {
      const session = await direct().sessions.create('talker');
      await session.stop();
      if (round === 15) await server.restart();
      if (round === 29) await session.stop({ mode: 'terminate' });
    }
    await last.promise;
    stop.abort();
    await expect(following).rejects.toThrow('aborted');
    const kept: NoticeRecord[] = [];
    for await (const notice of direct().feed.list()) kept.push(notice);
    expect(seen).toEqual(kept);
    expect(proxy.cuts).toBeGreaterThan(0);
  });
});
