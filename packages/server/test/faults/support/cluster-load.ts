import { deepEqual, equal, ok } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type RunRecord, isTerminalRunStatus } from '@convoke/contract';
import { until } from '../../support/eventually.ts';
import { Caller, type RunAt } from './caller.ts';
import type { Cluster, Replica } from './cluster.ts';
import type { Random } from './random.ts';
import { RawEventReader, type Frame } from './raw-event-reader.ts';
import { checkLog, saidIn } from './run-log.ts';
import {
  type Role,
  type SimulatedUser,
  type TestedRun,
  answerToRecovery,
  checkEnd,
  createUser,
  planAnswer,
  planRuns,
} from './simulated-users.ts';

const roles: readonly (Role | 'pay')[] = [
  ...Array<Role>(4).fill('talk'),
  ...Array<Role>(2).fill('ask'),
  ...Array<Role>(2).fill('write'),
  ...Array<Role>(2).fill('cancel'),
  'queue',
  'pay',
  'pay',
  'pay',
];
const readersPerRun = 2;
const readersAtOnce = 4;
/** After this time without a response, a request goes to another server, as a load balancer would do. */
const patienceMs = 4_000;
/** Longer than any fault, a lease, its recovery and the run itself together: past it a run is stuck. */
const stuckMs = 180_000;
/** How often each of fourteen users looks whether its run has ended. */
const lookMs = 50;

export interface LoadTally {
  completed: number;
  lost: number;
  /** Runs that went on after they had lost a worker. */
  resumed: number;
  cancelled: number;
  paid: number;
  refused: number;
  frames: number;
  connections: number;
}

/**
 * A product's backend in front of several servers: each request and each reader goes to a random server, and to
 * another one when that fails. It remembers every event it received and compares every log with them.
 */
export class ClusterLoad {
  readonly tally: LoadTally = {
    completed: 0,
    lost: 0,
    resumed: 0,
    cancelled: 0,
    paid: 0,
    refused: 0,
    frames: 0,
    connections: 0,
  };
  readonly #cluster: Cluster;
  readonly #caller: Caller;
  readonly #random: Random;
  readonly #users: (SimulatedUser & { readonly pays: boolean })[] = [];
  readonly #ended: { readonly at: RunAt; readonly log: readonly Frame[] }[] = [];
  #isOver = false;
  #work: Promise<unknown> = Promise.resolve();

  private constructor(cluster: Cluster, caller: Caller, random: Random) {
    this.#cluster = cluster;
    this.#caller = caller;
    this.#random = random;
  }

  static async open(cluster: Cluster, random: Random): Promise<ClusterLoad> {
    const [first] = cluster.replicas;
    if (first === undefined) throw new Error('the cluster is empty');
    const way = {
      baseUrl: () => pickReplica(cluster, random).baseUrl,
      timeoutMs: patienceMs,
    };
    const load = new ClusterLoad(cluster, await Caller.open(first.folder, way), random);
    for (const role of roles) {
      const pays = role === 'pay';
      const user = createUser(pays ? 'write' : role, '', random.fork());
      const agentName = pays ? 'payer' : user.agentName;
      const { id } = await load.#caller.openSession(agentName);
      load.#users.push({ ...user, agentName, sessionId: id, pays });
    }
    return load;
  }

  /** The sessions whose runs continue after the loss of their worker, and are not cancelled. */
  get durable(): ReadonlySet<string> {
    const users = this.#users.filter(({ pays, role }) => !pays && role !== 'cancel');
    return new Set(users.map(({ sessionId }) => sessionId));
  }

  /** Every user continues with run after run until `rest`. */
  begin(): void {
    this.#isOver = false;
    this.#work = Promise.all(this.#users.map((user) => this.#keepGoing(user)));
    // `rest` awaits the same promise and throws.
    this.#work.catch(() => undefined);
  }

  /** Takes no new run and waits for the end of those under way: none may be stuck. */
  async rest(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  /** The logs are, on every server, what they were when they ended; every session is free. */
  async checkAll(): Promise<number> {
    const unread = [...this.#ended];
    const readOn = async () => {
      for (let next = unread.pop(); next !== undefined; next = unread.pop()) {
        for (const replica of this.#cluster.replicas) {
          const read = await this.#wholeLog(next.at, replica);
          deepEqual(read, next.log, 'the same log on every server');
        }
      }
    };
    await Promise.all(Array.from({ length: readersAtOnce }, readOn));
    for (const { sessionId } of this.#users) {
      const { status, current_run_id } = await this.#caller.session(sessionId);
      deepEqual([status, current_run_id], ['idle', undefined]);
    }
    return this.#ended.length;
  }

  async #keepGoing(user: SimulatedUser & { readonly pays: boolean }): Promise<void> {
    while (!this.#isOver) {
      user.runs = planRuns(user);
      for (const tested of user.runs) await this.#start(user, tested);
      await Promise.all(user.runs.map((tested) => this.#see(user, tested)));
    }
  }

  /** Repeats the start with the same key until a server answers: it is one run, however often it was requested. */
  async #start(user: SimulatedUser, tested: TestedRun): Promise<void> {
    const run = await this.#insist(() =>
      this.#caller.startRun(user.sessionId, tested.prompt, tested.key),
    );
    tested.id = run.id;
  }

  async #see(user: SimulatedUser & { readonly pays: boolean }, tested: TestedRun): Promise<void> {
    const at = { sessionId: user.sessionId, runId: tested.id ?? '' };
    const giveUp = AbortSignal.timeout(stuckMs);
    const readers = Array.from({ length: readersPerRun }, () => this.#follow(at, giveUp));
    if (user.role === 'cancel') await this.#cancel(user, tested, at);
    const run = await this.#endOf(user, tested, at);
    const read = await Promise.all(readers);
    const log = await this.#insist(() =>
      this.#wholeLog(at, pickReplica(this.#cluster, this.#random)),
    );
    for (const frames of read) deepEqual(frames, log, 'no event lost, repeated or reordered');
    this.#check(user, tested, { run, log });
    this.#ended.push({ at, log });
  }

  /** Reads from one server after the other until the run has ended. */
  async #follow(at: RunAt, signal: AbortSignal): Promise<readonly Frame[]> {
    const random = this.#random.fork();
    const reader = new RawEventReader({ port: 0, caller: this.#caller, at });
    for (;;) {
      const { port } = pickReplica(this.#cluster, random).folder;
      const silence = AbortSignal.timeout(random.whole(500, patienceMs));
      const { how, status } = await reader.read({
        port,
        signal: AbortSignal.any([signal, silence]),
      });
      const hasEnd = reader.frames
        .at(-1)
        ?.text.match(/^event: (run_completed|run_cancelled|error)$/m);
      if (hasEnd || signal.aborted) break;
      if (how === 'ended' && status !== 200) await pause(100);
      if (how === 'lost') await pause(50);
    }
    this.tally.frames += reader.frames.length;
    this.tally.connections += reader.connections;
    return reader.frames;
  }

  async #cancel(user: SimulatedUser, tested: TestedRun, at: RunAt): Promise<void> {
    await pause(user.random.whole(10, 1_000));
    const path = `/v1/sessions/${at.sessionId}/runs/${at.runId}/cancel`;
    const { status } = await this.#insist(async () => {
      const reply = await this.#caller.call('POST', path);
      ok(reply.status < 500, `cancel answered ${reply.status}`);
      return reply;
    });
    ok([200, 202, 409].includes(status), `cancel answered ${status}`);
    if (status === 200 || status === 202) tested.isCancelAccepted = true;
  }

  async #endOf(user: SimulatedUser, tested: TestedRun, at: RunAt): Promise<RunRecord> {
    return until(
      async () => {
        const run = await this.#caller.run(at).catch(() => undefined);
        if (run?.status === 'waiting' && run.pending_interactions > 0)
          await this.#answer(user, tested);
        return run !== undefined && isTerminalRunStatus(run.status) && run;
      },
      { withinMs: stuckMs, everyMs: lookMs, what: `end of ${at.runId} (${user.agentName})` },
    );
  }

  async #answer(user: SimulatedUser, tested: TestedRun): Promise<void> {
    const pending = await this.#caller.interactions(user.sessionId).catch(() => []);
    const asked = pending.find((item) => item.run_id === tested.id);
    if (asked === undefined) return;
    let body: object | undefined = answerToRecovery(asked, user.random.chance(0.5));
    if (body === undefined) {
      tested.answer ??= planAnswer(user);
      body = tested.answer?.body ?? {};
    }
    // An answer without a reply may have been accepted: then the next one is refused.
    await this.#caller.answer(user.sessionId, asked.interaction_key, body).catch(() => undefined);
  }

  #check(
    user: SimulatedUser & { readonly pays: boolean },
    tested: TestedRun,
    end: { run: RunRecord; log: readonly Frame[] },
  ) {
    const events = checkLog(end.run, end.log);
    if (user.pays) this.#checkPayment(tested, end.run, saidIn(events));
    else checkEnd(user, tested, { run: end.run, events });
    if (end.run.status === 'completed') this.tally.completed += 1;
    if (end.run.status === 'cancelled') this.tally.cancelled += 1;
    if (end.run.status === 'failed') this.tally.lost += 1;
    else if (end.run.attempt > 1) this.tally.resumed += 1;
  }

  /** P7: at most one effect for an allowed call, none for a denied one, whatever happened to the servers. */
  #checkPayment(tested: TestedRun, run: RunRecord, said: string): void {
    const body = tested.answer?.body;
    const isAllowed = body !== undefined && 'decision' in body && body.decision === 'allow';
    const payments = this.#cluster.ledger.lines.filter((line) => line === run.id).length;
    ok(payments <= (isAllowed ? 1 : 0), `${run.id}: ${payments} payments, allowed: ${isAllowed}`);
    if (run.status === 'completed') {
      equal(payments, isAllowed ? 1 : 0);
      equal(said, isAllowed ? 'Paid.' : 'Not paid.');
    } else {
      equal(run.error_code, 'worker_lost', run.error_message ?? '');
    }
    if (payments === 1) this.tally.paid += 1;
    else this.tally.refused += 1;
  }

  async #wholeLog(at: RunAt, { folder }: Replica): Promise<readonly Frame[]> {
    const reader = new RawEventReader({ port: folder.port, caller: this.#caller, at });
    const { how, status } = await reader.read({ signal: AbortSignal.timeout(stuckMs) });
    deepEqual([how, status], ['ended', 200]);
    return reader.frames;
  }

  /** A request that fails goes to the next server, as a client's retries would. */
  async #insist<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    let last: unknown;
    return until(() => ask().catch((error: unknown) => void (last = error)), {
      withinMs: stuckMs,
      what: () => `answer: ${String(last)}`,
    });
  }
}

function pickReplica({ replicas }: Cluster, random: Random): Replica {
  const [first, ...others] = replicas;
  if (first === undefined) throw new Error('the cluster is empty');
  return random.pick([first, ...others]);
}
