import { deepEqual, equal, ok } from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as lifetime } from 'node:timers/promises';
import { type RunRecord, isTerminalRunStatus, sessionId, tenantId } from '@convoke/contract';
import { folderPaths } from '../../../src/session-folders/folder-paths.ts';
import { until } from '../../support/eventually.ts';
import { Caller } from './caller.ts';
import type { Random } from './random.ts';
import { RawEventReader, type Frame } from './raw-event-reader.ts';
import { checkLog, expectPrefix } from './run-log.ts';
import { type ServerFolder, createServerFolder, readQuickstart } from './server-folder.ts';
import { ServerProcess } from './server-process.ts';
import {
  type Role,
  type SimulatedUser,
  type TestedRun,
  agents,
  answerToRecovery,
  checkEnd,
  createUser,
  isAllowed,
  notesFile,
  planAnswer,
  planRuns,
} from './simulated-users.ts';

/** Twenty sessions that stream at the same time. */
const roles: readonly Role[] = [
  ...Array<Role>(9).fill('talk'),
  ...Array<Role>(3).fill('ask'),
  ...Array<Role>(3).fill('write'),
  ...Array<Role>(3).fill('cancel'),
  ...Array<Role>(2).fill('queue'),
];
const readersPerRun = 3;
const longestLifeMs = 1_800;
/** Longer than a lease, the pauses before a run continues, and the run itself: past it a run is stuck. */
const stuckMs = 180_000;
/** How often each of twenty users looks whether its run has ended. */
const lookMs = 50;
/** A cut falls anywhere in the first frames of a connection, headers included. */
const longestReadBytes = 20_000;

export interface CrashOptions {
  readonly random: Random;
  readonly databaseUrl?: string;
}

/** Counts of what the rounds met, to prove that they met something. */
export interface Tally {
  recovered: number;
  cancelledByRecovery: number;
  completed: number;
  stillWaiting: number;
  answeredAfterCrash: number;
  /** Runs that were queued behind one that was interrupted. */
  behindInterrupted: number;
  /** Calls about which a person was asked, because a crash interrupted them. */
  inDoubt: number;
  framesSeen: number;
  connections: number;
}

/** A server that is killed repeatedly under load, with a record of everything it ever sent to a client. */
export class CrashScenario {
  readonly folder: ServerFolder;
  readonly tally: Tally = {
    recovered: 0,
    cancelledByRecovery: 0,
    completed: 0,
    stillWaiting: 0,
    answeredAfterCrash: 0,
    behindInterrupted: 0,
    inDoubt: 0,
    framesSeen: 0,
    connections: 0,
  };
  readonly #options: CrashOptions;
  #server: ServerProcess;
  #caller: Caller;
  readonly #users: SimulatedUser[] = [];
  #isDying = false;

  private constructor(options: CrashOptions, server: ServerProcess, caller: Caller) {
    this.#options = options;
    this.folder = server.folder;
    this.#server = server;
    this.#caller = caller;
  }

  static async open(options: CrashOptions): Promise<CrashScenario> {
    const { databaseUrl } = options;
    // The lease of the dead server must expire first: another replica could hold it (D-26).
    const settings =
      databaseUrl === undefined
        ? {}
        : { CONVOKE_DATABASE_URL: databaseUrl, CONVOKE_LEASE_SECONDS: '5' };
    const folder = await createServerFolder({ agents, settings });
    const server = await ServerProcess.start(folder);
    const scenario = new CrashScenario(options, server, await Caller.open(folder));
    for (const role of roles) {
      const session = await scenario.#caller.openSession(
        createUser(role, '', options.random).agentName,
      );
      scenario.#users.push(createUser(role, session.id, options.random.fork()));
    }
    return scenario;
  }

  async close(): Promise<void> {
    await this.#server.kill();
    this.folder.remove();
  }

  /** Load, a kill at a random moment, and what the processes left behind. */
  async crash(): Promise<void> {
    this.#isDying = false;
    const gone = new AbortController();
    const work = this.#users.map((user) => this.#load(user, gone.signal));
    const outcomes = Promise.allSettled(work);
    // On a busy machine a short life may end before all has begun: often, but not always.
    if (this.#options.random.chance(0.5)) {
      const hasBegun = () => this.#users.every((user) => user.runs.every((run) => run.id));
      await until(hasBegun, { what: 'start of every run' });
    }
    // The fault itself: how long this process is to live.
    await lifetime(this.#options.random.whole(20, longestLifeMs));
    const tree = this.#server.tree();
    await this.#cancelAtTheLastMoment();
    this.#isDying = true;
    deepEqual(await this.#server.kill(tree), [], 'processes that outlive the server');
    gone.abort();
    for (const outcome of await outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /**
   * Starts the server again, sometimes killing it once more during the start, and compares everything with what was
   * seen.
   */
  async recover(): Promise<void> {
    const { random } = this.#options;
    if (random.chance(0.4)) {
      const first = ServerProcess.spawn(this.folder);
      await lifetime(random.whole(100, 1_500));
      deepEqual(await first.kill(), []);
    }
    this.#server = await ServerProcess.start(this.folder);
    if (random.chance(0.5)) await this.#caller.renewToken();
    await this.#asEveryUser(async (user) => {
      await this.#repeatStarts(user);
      for (const tested of user.runs) await this.#settle(user, tested);
      await this.#release(user);
    });
  }

  /** Answers every pending interaction and reads every log once more: no log may have changed. */
  async finish(): Promise<void> {
    await this.#asEveryUser(async (user) => {
      for (const tested of user.runs) {
        tested.answer ??= planAnswer(user);
        await this.#answer(user, tested);
        await this.#settle(user, tested);
      }
      await this.#release(user);
      deepEqual(user.runs, []);
    });
    await this.#rereadAll();
  }

  /** Starts the server twice more without any load; says how many logs were the same both times. */
  async restartTwice(): Promise<number> {
    for (let start = 0; start < 2; start++) {
      deepEqual(await this.#server.kill(), []);
      this.#server = await ServerProcess.start(this.folder);
      await this.#rereadAll();
    }
    return this.#users.reduce((sum, user) => sum + user.finished.length, 0);
  }

  async #rereadAll(): Promise<void> {
    await this.#asEveryUser(async (user) => {
      for (const tested of user.finished) {
        const run = await this.#caller.run(this.#at(user, tested));
        const frames = await this.#wholeLog(user, run);
        deepEqual(frames, tested.log);
        checkLog(run, frames);
      }
    });
  }

  async #asEveryUser(work: (user: SimulatedUser) => Promise<void>): Promise<void> {
    await Promise.all(this.#users.map(work));
  }

  async #load(user: SimulatedUser, gone: AbortSignal): Promise<void> {
    try {
      const waiting = user.runs.find((tested) => tested.interactionKey !== undefined);
      if (waiting !== undefined) {
        if (user.random.chance(0.3)) return;
        waiting.answer ??= planAnswer(user);
        await this.#answer(user, waiting);
      } else {
        user.runs = planRuns(user);
        for (const tested of user.runs) {
          const run = await this.#caller.startRun(user.sessionId, tested.prompt, tested.key);
          tested.id = run.id;
        }
      }
      await Promise.all(user.runs.map((tested) => this.#watch(user, tested, gone)));
    } catch (error) {
      // Requests to a dead server fail; they are repeated later.
      if (!this.#isDying) throw error;
    }
  }

  async #watch(user: SimulatedUser, tested: TestedRun, signal: AbortSignal): Promise<void> {
    const at = this.#at(user, tested);
    const readers = Array.from({ length: readersPerRun }, async () => {
      const random = user.random.fork();
      const reader = new RawEventReader({
        port: this.folder.port,
        caller: this.#caller,
        at,
        signal,
      });
      tested.seen.push(reader.frames);
      while (!signal.aborted && !this.#isDying) {
        const cutAfterBytes = random.chance(0.7) ? random.whole(0, longestReadBytes) : undefined;
        const { how, status } = await reader.read({ cutAfterBytes });
        // 204 after a cut behind the terminal event.
        if (how === 'ended' && !this.#isDying) ok(status === 200 || status === 204);
        if (how !== 'cut') break;
      }
      this.tally.connections += reader.connections;
      this.tally.framesSeen += reader.frames.length;
    });
    await Promise.all(readers);
  }

  /** So that some cancels are recorded and not yet carried out when the process dies. */
  async #cancelAtTheLastMoment(): Promise<void> {
    const cancels = this.#users
      .filter((user) => user.role === 'cancel')
      .flatMap((user) => user.runs.map((tested) => this.#cancel(user, tested)));
    await Promise.race([...cancels, lifetime(this.#options.random.whole(1, 30))]);
  }

  async #cancel(user: SimulatedUser, tested: TestedRun): Promise<void> {
    if (tested.id === undefined) return;
    const path = `/v1/sessions/${user.sessionId}/runs/${tested.id}/cancel`;
    const reply = await this.#caller.call('POST', path).catch(() => undefined);
    if (reply !== undefined) ok([200, 202, 409].includes(reply.status));
    if (reply?.status === 202 || reply?.status === 200) tested.isCancelAccepted = true;
  }

  async #answer(user: SimulatedUser, tested: TestedRun): Promise<void> {
    const { answer, interactionKey } = tested;
    if (answer === undefined || interactionKey === undefined) return;
    const record = await this.#caller.answer(user.sessionId, interactionKey, answer.body);
    equal(record.status, 'answered');
    answer.isAccepted = true;
    this.tally.answeredAfterCrash += 1;
  }

  /** D-12, D-57: a start that was answered is known; one that was not either happened or happens now. */
  async #repeatStarts(user: SimulatedUser): Promise<void> {
    const [head, ...line] = user.runs;
    const queued = line.filter((tested) => tested.id !== undefined).length;
    for (const tested of user.runs) {
      const { prompt, key, id } = tested;
      const { status, body } = await this.#caller.tryStartRun(user.sessionId, prompt, key);
      if (id !== undefined) deepEqual([status, body.id], [200, id]);
      tested.id = body.id;
      if (tested === head && body.attempt > 1) this.tally.behindInterrupted += queued;
    }
    const ids = (await this.#caller.runs(user.sessionId)).map((run) => run.id);
    deepEqual(
      ids.filter((id) => user.runs.some((tested) => tested.id === id)),
      user.runs.map((tested) => tested.id),
    );
  }

  /** Waits until the run has ended or waits for its person, who at once answers what a recovery asks. */
  async #settle(user: SimulatedUser, tested: TestedRun): Promise<void> {
    const run = await until(
      async () => {
        const now = await this.#caller.run(this.#at(user, tested));
        if (isTerminalRunStatus(now.status)) return now;
        if (now.status === 'waiting' && (await this.#settleDoubt(user, tested))) return false;
        return isParked(now, tested) && now;
      },
      { withinMs: stuckMs, everyMs: lookMs, what: `end of ${tested.id} (${user.role})` },
    );
    const frames = await this.#wholeLog(user, run);
    const events = checkLog(run, frames);
    for (const seen of [...tested.seen, tested.log]) expectPrefix(seen, frames);
    tested.log = frames;
    tested.seen = [];
    if (run.status === 'waiting') return this.#checkWaiting(user, tested);
    checkEnd(user, tested, { run, events });
    const isRecovered = events.at(-1)?.data['recovered'] === true;
    if (isRecovered) this.tally.recovered += 1;
    if (isRecovered && run.status === 'cancelled') this.tally.cancelledByRecovery += 1;
    if (run.status === 'completed') this.tally.completed += 1;
    deepEqual(await this.#pendingOf(user, tested), [], 'I16');
    if (user.role !== 'write' || run.status !== 'completed') return;
    // A call is carried out once, however often its server died under it (D-83).
    equal(this.#timesWritten(user, tested), isAllowed(tested) ? 1 : 0);
  }

  /** Answers a question about a call in doubt, as a person who knows what was done. */
  async #settleDoubt(user: SimulatedUser, tested: TestedRun): Promise<boolean> {
    const pending = await this.#caller.interactions(user.sessionId);
    const asked = pending.find((item) => item.run_id === tested.id && item.about !== undefined);
    if (asked === undefined) return false;
    const answer = answerToRecovery(asked, this.#timesWritten(user, tested) > 0) ?? {};
    await this.#caller.answer(user.sessionId, asked.interaction_key, answer);
    this.tally.inDoubt += 1;
    return true;
  }

  #timesWritten(user: SimulatedUser, { prompt }: TestedRun): number {
    const owner = {
      tenantId: tenantId(readQuickstart(this.folder).tenant_id),
      sessionId: sessionId(user.sessionId),
    };
    const path = join(folderPaths(this.folder.dataDir, owner).sessionFolder, notesFile);
    if (!existsSync(path)) return 0;
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line === prompt).length;
  }

  /** D-36: it waits under the key it always had. */
  async #checkWaiting(user: SimulatedUser, tested: TestedRun): Promise<void> {
    const pending = await this.#pendingOf(user, tested);
    equal(pending.length, 1);
    tested.interactionKey ??= pending[0];
    deepEqual(pending, [tested.interactionKey]);
    this.tally.stillWaiting += 1;
  }

  async #pendingOf(user: SimulatedUser, tested: TestedRun): Promise<string[]> {
    const pending = await this.#caller.interactions(user.sessionId);
    return pending.filter((item) => item.run_id === tested.id).map((item) => item.interaction_key);
  }

  /** Puts away the runs that have ended; the session is free when none is left. */
  async #release(user: SimulatedUser): Promise<void> {
    const left: TestedRun[] = [];
    for (const tested of user.runs) {
      const { status } = await this.#caller.run(this.#at(user, tested));
      if (isTerminalRunStatus(status)) user.finished.push(tested);
      else left.push(tested);
    }
    user.runs = left;
    const session = await this.#caller.session(user.sessionId);
    equal(session.status, left.length === 0 ? 'idle' : 'waiting');
    equal(session.current_run_id, left[0]?.id);
  }

  /** Replays from the start, to the last event that the record names. */
  async #wholeLog(user: SimulatedUser, run: RunRecord): Promise<readonly Frame[]> {
    const reader = new RawEventReader({
      port: this.folder.port,
      caller: this.#caller,
      at: { sessionId: user.sessionId, runId: run.id },
    });
    const isOver = isTerminalRunStatus(run.status);
    const { how } = await reader.read(isOver ? {} : { untilId: run.last_event_id });
    equal(how, isOver ? 'ended' : 'cut');
    return reader.frames;
  }

  #at(user: SimulatedUser, { id }: TestedRun): { sessionId: string; runId: string } {
    if (id === undefined) throw new Error('this run was never started');
    return { sessionId: user.sessionId, runId: id };
  }
}

/** Whether the run waits for an answer that no one has given yet. */
function isParked(run: RunRecord, { answer }: TestedRun): boolean {
  return run.status === 'waiting' && run.pending_interactions > 0 && answer?.isAccepted !== true;
}
