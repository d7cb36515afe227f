import { deepEqual } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type RunRecord, errorBody, isTerminalRunStatus } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, until } from '../support/eventually.ts';
import { createDatabase, query } from '../support/postgres-databases.ts';
import { Caller } from './support/caller.ts';
import { type Reply, exchange } from './support/exchange.ts';
import { PostgresServer } from './support/postgres-server.ts';
import { type Random, rounds, seededRandom } from './support/random.ts';
import { RawEventReader, type Frame } from './support/raw-event-reader.ts';
import { checkLog, expectPrefix, saidIn } from './support/run-log.ts';
import { type AgentFolder, createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

const agents: Readonly<Record<string, AgentFolder>> = {
  // More losses in a row than there are: no run is lost.
  talker: {
    recovery: { attempts: 20 },
    script: [{ say: { text: '{{prompt}}', every_ms: 10 } }],
  },
  asker: { script: [{ ask: { question: 'Which?' } }, { say: '{{answer}}' }] },
};
const words = (n: number) => Array.from({ length: n }, (_, word) => `word${word}`).join(' ');
const at = (run: RunRecord) => ({ sessionId: run.session_id, runId: run.id });

/** A server on PostgreSQL, runs under way on it, and readers that come back whenever they are cut. */
class Load {
  readonly server: ServerProcess;
  readonly caller: Caller;
  readonly faults: string[] = [];
  unavailable = 0;
  longestMs = 0;
  readonly #stop = new AbortController();
  readonly #work: Promise<void>[] = [];
  readonly followed: { readonly run: RunRecord; readonly reader: RawEventReader }[] = [];

  constructor(server: ServerProcess, caller: Caller) {
    this.server = server;
    this.caller = caller;
  }

  async follow(prompt: string): Promise<void> {
    const run = await this.caller.startRun((await this.caller.openSession('talker')).id, prompt);
    for (let n = 0; n < 2; n++) {
      const reader = new RawEventReader({
        port: this.server.folder.port,
        caller: this.caller,
        at: at(run),
      });
      this.followed.push({ run, reader });
      this.#work.push(this.#readOn(run, reader));
    }
  }

  /** Asks for this and that, and notes whatever is neither an answer nor an honest refusal. */
  ask(): void {
    this.#work.push(this.#askOn());
  }

  /** The faults are over: a reader that comes from now on is not cut any more. */
  async finish(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#work);
  }

  async #readOn(run: RunRecord, reader: RawEventReader): Promise<void> {
    for (;;) {
      const isQuiet = this.#stop.signal.aborted;
      const { how, status } = await reader.read();
      // 204 when the database went away after the terminal event; 0 when the connection was lost.
      if (![200, 204, 503, 0].includes(status)) this.faults.push(`stream: ${status}`);
      const last = reader.frames.at(-1)?.text ?? '';
      if (how === 'ended' && /^event: (run_completed|run_cancelled|error)$/m.test(last)) return;
      // One that began earlier may hear of the last fault only now.
      if (isQuiet && how === 'lost') this.faults.push(`${run.id} was cut`);
      // As readers do: not at once, but sooner than the two seconds they are asked for.
      await pause(20);
    }
  }

  async #askOn(): Promise<void> {
    const { caller } = this;
    while (!this.#stop.signal.aborted) {
      const begun = performance.now();
      const replies = await Promise.all([
        caller.call('POST', '/v1/sessions', { agent_name: 'talker' }),
        caller.call('GET', '/v1/sessions?limit=1'),
        caller.askForToken(),
      ]).catch((error: unknown) => [String(error)]);
      this.longestMs = Math.max(this.longestMs, performance.now() - begun);
      for (const reply of replies) this.#check(reply);
    }
  }

  #check(reply: Reply | string): void {
    if (typeof reply === 'string') return void this.faults.push(reply);
    if (reply.status === 200 || reply.status === 201) return;
    if (reply.status !== 503) return void this.faults.push(JSON.stringify(reply));
    this.unavailable += 1;
    const { error } = errorBody.parse(reply.body);
    const retryAfter = Number(reply.headers['retry-after']);
    if (error !== 'storage_unavailable' || !(retryAfter > 0 && retryAfter <= 5)) {
      this.faults.push(JSON.stringify(reply));
    }
  }

  /** Every log is whole and every reader has exactly it; every run said all it had to say. */
  async check(prompt: string): Promise<Record<string, number>> {
    const ends: Record<string, number> = {};
    for (const { run, reader } of this.followed) {
      const now = await until(
        async () => {
          const read = await this.caller.run(at(run));
          return isTerminalRunStatus(read.status) && read;
        },
        { withinMs: 120_000, what: 'end of every run' },
      );
      const whole = new RawEventReader({
        port: this.server.folder.port,
        caller: this.caller,
        at: at(run),
      });
      await whole.read();
      const said = saidIn(checkLog(now, whole.frames));
      deepEqual(reader.frames, whole.frames);
      // One whose lease was lost in between continued from its last recovery point.
      deepEqual([now.status, said], ['completed', prompt]);
      ends[now.status] = (ends[now.status] ?? 0) + 1;
    }
    return ends;
  }
}

describe('the connections to PostgreSQL are cut under load', () => {
  let close: () => Promise<void>;
  let load: Load;
  let url: string;
  let name: string;
  let random: Random;

  beforeAll(async () => {
    random = seededRandom('connections cut');
    const database = await createDatabase();
    ({ url, name } = database);
    const folder = await createServerFolder({ agents, settings: { CONVOKE_DATABASE_URL: url } });
    const server = await ServerProcess.start(folder);
    load = new Load(server, await Caller.open(folder));
    close = async () => {
      await server.kill();
      folder.remove();
      await database.drop();
    };
  });
  afterAll(() => close());

  test('the server refuses what it cannot keep, repeats nothing, and continues', async () => {
    const prompt = words(200);
    for (let n = 0; n < 8; n++) await load.follow(prompt);
    for (let n = 0; n < 4; n++) load.ask();
    const cut = `select pid, pg_terminate_backend(pid) from pg_stat_activity
        where datname = '${name}' and application_name = 'convoke'`;
    let cuts = 0;
    const pids = new Set<number>();
    const pidsOf = async (text: string) =>
      ((await query(url, text)) as { pid: number }[]).map(({ pid }) => pid);
    for (let round = 0; round < rounds(40); round++) {
      const ended = await pidsOf(cut);
      cuts += ended.length;
      for (const pid of ended) pids.add(pid);
      // The fault itself: how long the connections live.
      await pause(random.whole(5, 80));
    }
    // The connections that were cut last are gone, and the server has heard of it before it answers.
    const left = `select pid from pg_stat_activity where datname = '${name}'`;
    await eventually(async () => (await pidsOf(left)).every((pid) => !pids.has(pid)));
    await eventually(
      async () => (await load.caller.call('GET', '/v1/sessions?limit=1')).status === 200,
    );
    await load.finish();
    const ends = await load.check(prompt);
    const { unavailable, longestMs } = load;
    process.stdout.write(`${JSON.stringify({ cuts, unavailable, longestMs, ...ends })}\n`);
    expect(load.faults).toEqual([]);
    expect(cuts).toBeGreaterThan(0);
    expect(load.server.isRunning).toBe(true);
  });
});

describe('PostgreSQL goes away and comes back', () => {
  let postgres: PostgresServer;
  let load: Load;
  let close: () => Promise<void>;

  beforeAll(async () => {
    postgres = await PostgresServer.open();
    const folder = await createServerFolder({
      agents,
      settings: { CONVOKE_DATABASE_URL: postgres.url },
    });
    const server = await ServerProcess.start(folder);
    load = new Load(server, await Caller.open(folder));
    close = async () => {
      await server.kill();
      folder.remove();
      postgres.remove();
    };
  });
  afterAll(() => close());

  test('it is refused at once while away, and all is there when it is back, without a restart', async () => {
    const { caller, server } = load;
    const asker = await caller.startRun((await caller.openSession('asker')).id, 'x');
    await until(async () => (await caller.run(at(asker))).status === 'waiting', {
      what: 'waiting run',
    });
    const [question] = await caller.interactions(asker.session_id);
    const prompt = words(150);
    const seen: (readonly Frame[])[] = [];
    for (let n = 0; n < 6; n++) await load.follow(prompt);
    load.ask();
    await until(() => load.followed.every(({ reader }) => reader.frames.length > 2), {
      what: 'events for every reader',
    });
    for (let outage = 0; outage < 2; outage++) {
      postgres.stopAtOnce();
      for (const { reader } of load.followed) seen.push([...reader.frames]);
      await until(async () => (await server.readiness()) === 503, {
        what: 'readiness of 503',
      });
      const health = await exchange({ method: 'GET', url: `${server.baseUrl}/healthz` });
      expect(health.status).toBe(200);
      const refused = load.unavailable;
      await until(() => load.unavailable > refused + 3, { what: 'refusals' });
      postgres.start();
      const backAt = performance.now();
      await until(async () => (await server.readiness()) === 200, {
        what: 'readiness',
      });
      await caller.openSession('talker');
      process.stdout.write(`service ${Math.round(performance.now() - backAt)} ms after return\n`);
    }
    await load.finish();
    const ends = await load.check(prompt);
    process.stdout.write(`${JSON.stringify({ ...ends, longestMs: load.longestMs })}\n`);
    expect(load.faults).toEqual([]);
    for (const [index, frames] of seen.entries()) {
      const followed = load.followed[index % load.followed.length];
      expectPrefix(frames, followed?.reader.frames ?? []);
    }
    expect(await caller.interactions(asker.session_id)).toEqual([question]);
    await caller.answer(asker.session_id, question?.interaction_key ?? '', { answer: 'this' });
    await until(async () => (await caller.run(at(asker))).status === 'completed', {
      what: 'completed run',
    });
    expect(server.isRunning).toBe(true);
  });
});
