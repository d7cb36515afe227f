import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import {
  type RunRecord,
  fileRecord,
  formatEventId,
  isTerminalEventType,
  runRecord,
} from '@convoke/contract';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/eventually.ts';
import { Caller, expected, runPath } from './support/caller.ts';
import { RawEventReader, type Frame } from './support/raw-event-reader.ts';
import { allDeltas, checkLog, expectPrefix, saidIn } from './support/run-log.ts';
import {
  type AgentFolder,
  type ServerFolder,
  createServerFolder,
} from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

/** So long that an exit which the deadline brought about would come after every test has failed. */
const settings = { CONVOKE_DRAIN_SECONDS: '3600' };

const agents: Readonly<Record<string, AgentFolder>> = {
  talker: { session_files: true, script: [{ say: { text: '{{prompt}}', every_ms: 10 } }] },
  sleeper: { script: [{ say: 'Zzz' }, { sleep_ms: 600_000 }] },
  napper: { script: [{ say: 'Zzz' }, { sleep_ms: 4_000 }] },
  tireless: { script: [{ repeat: { times: 6_000, steps: [{ say: 'on ' }, { sleep_ms: 10 }] } }] },
  asker: { script: [{ say: 'Well. ' }, { ask: { question: 'Which?' } }, { say: '{{answer}}' }] },
  flood: {
    script: [
      { repeat: { times: 600, steps: [{ emit: { type: 'x', data: { x: 'x'.repeat(60_000) } } }] } },
    ],
  },
};

const at = (run: RunRecord) => ({ sessionId: run.session_id, runId: run.id });

describe('SIGTERM', () => {
  let folder: ServerFolder;
  let server: ServerProcess;
  let caller: Caller;

  beforeEach(async () => {
    folder = await createServerFolder({ agents, settings });
    server = await ServerProcess.start(folder);
    caller = await Caller.open(folder);
  });
  afterEach(async () => {
    await server.kill();
    folder.remove();
  });

  const start = async (agentName: string, prompt = 'x'): Promise<RunRecord> => {
    const session = await caller.openSession(agentName);
    return caller.startRun(session.id, prompt);
  };
  const statusIs = (run: RunRecord, status: RunRecord['status']) =>
    until(async () => (await caller.run(at(run))).status === status, {
      what: `${status} run`,
    });
  const wholeLog = async (run: RunRecord, untilId?: string): Promise<readonly Frame[]> => {
    const reader = new RawEventReader({ port: folder.port, caller, at: at(run) });
    await reader.read(untilId === undefined ? {} : { untilId });
    return reader.frames;
  };

  const prepareFile = async () => {
    const session = await caller.openSession('talker');
    const path = `/v1/sessions/${session.id}/files`;
    const reply = await caller.call('POST', path, { name: 'some.bin' });
    return fileRecord.parse(expected(reply, [201]));
  };

  test('drains: readiness off, whole frames, answers to everything asked, exit 0, nothing stuck', async () => {
    const words = Array.from({ length: 150 }, (_, n) => `word${n}`).join(' ');
    const talkers = await Promise.all(Array.from({ length: 10 }, () => start('talker', words)));
    const tireless = await Promise.all([start('tireless'), start('tireless')]);
    const asker = await start('asker');
    await statusIs(asker, 'waiting');
    const parked = await caller.run(at(asker));
    const parkedLog = await wholeLog(asker, parked.last_event_id);
    const [question] = await caller.interactions(asker.session_id);

    const executing = [...talkers, ...tireless];
    const readers = [...executing, asker].map((run) => {
      const reader = new RawEventReader({ port: folder.port, caller, at: at(run) });
      return { run, reader, read: reader.read() };
    });
    await until(() => readers.every(({ reader }) => reader.frames.length > 1), {
      what: 'events for every reader',
    });
    const backends = await Promise.all(
      Array.from({ length: 6 }, () => askOnAndOn(caller, talkers, server)),
    );
    await until(() => backends.every(({ asked }) => asked.length > 3), {
      what: 'answers to every backend',
    });
    // It cannot yield in its sleep, so the drain lasts long enough for balancers to see it.
    const napper = await start('napper');
    await until(async () => (await caller.run(at(napper))).last_event_id === formatEventId(2), {
      what: 'word of the napper',
    });
    server.signal('SIGTERM');

    // Load balancers see it and route elsewhere in time; a refused connection would be too late.
    await until(async () => (await server.readiness()) === 503, {
      what: 'readiness of 503',
    });
    for (const { reader, read } of readers) {
      const { how, rest } = await read;
      expect({ how, rest: rest.toString() }).toEqual({ how: 'ended', rest: '' });
      expect(reader.frames.length).toBeGreaterThan(1);
    }
    expect(await server.ended).toEqual({ code: 0, signal: null });
    await Promise.all(backends.map(({ done }) => done));
    const answers = backends.flatMap(({ asked }) => asked);
    expect(answers.filter((answer) => answer.fault !== undefined)).toEqual([]);

    server = await ServerProcess.start(folder);
    // They were handed over and continue; the test ends them.
    for (const run of tireless) {
      expect(await caller.run(at(run))).toMatchObject({ status: 'running' });
      await caller.cancel(at(run));
      await statusIs(run, 'cancelled');
    }
    for (const run of talkers) await statusIs(run, 'completed');
    for (const { run, reader } of readers) {
      const now = await caller.run(at(run));
      const log = await wholeLog(run, now.last_event_id);
      checkLog(now, log);
      expectPrefix(reader.frames, log);
      const sawEnd = reader.frames.some(({ text }) => isTerminal(text));
      if (sawEnd) expect(now.status).toBe('completed');
    }
    for (const run of talkers) {
      const now = await caller.run(at(run));
      expect([now.output_text, now.attempt]).toEqual([words, 1]);
      expect(allDeltas(checkLog(now, await wholeLog(run)))).toBe(words);
    }
    for (const run of tireless) {
      const now = await caller.run(at(run));
      const log = checkLog(now, await wholeLog(run));
      expect(saidIn(log)).toBe(now.output_text);
      const told = log.filter(({ type }) => type === 'run_interrupted');
      expect(told.map(({ data }) => data)).toEqual([
        { run_id: run.id, attempt: 1, reason: 'drained' },
      ]);
    }
    expect(await caller.run(at(asker))).toEqual(parked);
    expect(await wholeLog(asker, parked.last_event_id)).toEqual(parkedLog);
    expect(await caller.interactions(asker.session_id)).toEqual([question]);
    for (const { made } of answers) {
      if (made !== undefined) await statusIs(made, 'completed');
    }
  });

  test('a second one ends the process at once; what it leaves is recovered', async () => {
    const run = await start('sleeper');
    // It has said its word and sleeps: it cannot yield.
    await until(async () => (await caller.run(at(run))).last_event_id === formatEventId(2), {
      what: 'word of the sleeper',
    });
    server.signal('SIGTERM');
    await until(async () => (await server.readiness()) !== 200, {
      what: 'end of readiness',
    });
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 1, signal: null });

    server = await ServerProcess.start(folder);
    const { last_event_id } = await until(
      async () => {
        const now = await caller.run(at(run));
        return now.attempt === 2 && now.interrupted_at === undefined && now;
      },
      { what: 'continued run' },
    );
    const told = checkLog(await caller.run(at(run)), await wholeLog(run, last_event_id)).filter(
      ({ type }) => type.startsWith('run_'),
    );
    expect(told.map(({ type, data }) => [type, data['reason']])).toEqual([
      ['run_started', undefined],
      ['run_interrupted', 'worker_lost'],
      ['run_resumed', 'worker_lost'],
    ]);
    await caller.cancel(at(run));
    await statusIs(run, 'cancelled');
  });

  test('a request that is half way when it comes is answered', async () => {
    const { id, session_id } = await prepareFile();
    const upload = request(`${server.baseUrl}/v1/sessions/${session_id}/files/${id}/content`, {
      method: 'PUT',
      agent: false,
      headers: { ...caller.headers, 'content-length': '8' },
    });
    const answered = once(upload, 'response');
    await new Promise((resolve) => upload.write('half', resolve));
    server.signal('SIGTERM');
    await until(async () => (await server.readiness()) === undefined, {
      what: 'end of new connections',
    });
    upload.end('half');
    const [response] = await answered;
    expect(response.statusCode).toBe(200);
    expect(await json(response)).toMatchObject({ id, status: 'ready', size_bytes: 8 });
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });

  test('no client can delay the exit: not a reader that reads nothing, not a half-sent request', async () => {
    const run = await start('flood');
    const { id, session_id } = await prepareFile();
    const host = `host: 127.0.0.1:${folder.port}\r\n`;
    const identity = Object.entries(caller.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `${host}${identity.join('')}`;
    const stalled = [
      // A reader that never reads.
      `GET ${runPath(at(run))}/events HTTP/1.1\r\n${head}accept: text/event-stream\r\n\r\n`,
      // An upload that stops half way.
      `PUT /v1/sessions/${session_id}/files/${id}/content HTTP/1.1\r\n${head}content-length: 1000\r\n\r\nhalf`,
      // A body that never comes, headers that never end, a connection that asks nothing.
      `POST /v1/sessions HTTP/1.1\r\n${head}content-length: 50\r\ncontent-type: application/json\r\n\r\n{`,
      `GET /healthz HTTP/1.1\r\n${host}`,
      '',
    ].map((text) => stallingSocket(folder.port, text));
    onTestFinished(() => stalled.forEach(({ socket }) => socket.destroy()));
    await Promise.all(stalled.map(({ sent }) => sent));
    await statusIs(run, 'completed');

    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });
});

interface Asked {
  readonly made?: RunRecord;
  /** What should not happen to a request that reached the server. */
  readonly fault?: string;
}

/** One request after another for as long as the server calls itself ready, as behind a balancer. */
async function askOnAndOn(
  caller: Caller,
  runs: readonly RunRecord[],
  server: ServerProcess,
): Promise<{ asked: readonly Asked[]; done: Promise<void> }> {
  const { session_id } = await caller.startRun((await caller.openSession('talker')).id, 'first');
  const ask = async (turn: number): Promise<Asked> => {
    const run = runs[turn % runs.length];
    if (turn % 2 === 1 && run !== undefined) {
      const { status } = await caller.call('GET', runPath(at(run)));
      return status === 200 ? {} : { fault: `${status}` };
    }
    const path = `/v1/sessions/${session_id}/runs`;
    const reply = await caller.call('POST', path, { input: { prompt: 'short' } });
    if (reply.status === 201) return { made: runRecord.parse(reply.body) };
    return reply.status === 409 ? {} : { fault: JSON.stringify(reply) };
  };
  const asked: Asked[] = [];
  const askAll = async () => {
    for (let turn = 0; turn === 0 || (await server.readiness()) === 200; turn++) {
      asked.push(await ask(turn).catch((error: unknown) => ({ fault: String(error) })));
    }
  };
  return { asked, done: askAll() };
}

function stallingSocket(port: number, text: string) {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  socket.pause();
  const sent = new Promise<void>((resolve) => {
    socket.once('connect', () => socket.write(text, () => resolve()));
  });
  return { socket, sent };
}

function isTerminal(text: string): boolean {
  return isTerminalEventType(/^event: (.*)$/m.exec(text)?.[1] ?? '');
}
