import { deepEqual, equal, ok } from 'node:assert/strict';
import { answerInteraction } from '../../src/app/interactions.ts';
import { Refusal } from '../../src/app/refusal.ts';
import { sendSignal } from '../../src/app/runs/signals.ts';
import type { PendingInteraction } from '../../src/domain/interaction.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { readRules } from '../../src/domain/rules/rule.ts';
import { type Run, isEnded } from '../../src/domain/run/run.ts';
import type { KnownWait, Wait } from '../../src/domain/run/wait.ts';
import type { LegRules } from '../../src/execution/recording/decide-calls.ts';
import type { LegBatch } from '../../src/execution/recording/record-leg.ts';
import type { Answer } from '../../src/ports/harness.ts';
import { cancelCalledRuns } from '../../src/workers/cancel-called-runs.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { settleWaits } from '../../src/workers/settle-waits.ts';
import { type CallingWorld, completed, parked, treeOf } from './calling-runs.ts';
import { allower, by } from './identity-fixture.ts';
import { hour } from './run-fixture.ts';

/** What a run waits for at the same time; a run is a list of such groups. */
type Group = readonly Item[];
type Item =
  | { readonly kind: 'timer'; readonly ms: number }
  | { readonly kind: 'signal' }
  | { readonly kind: 'question' }
  /**
   * `path`: names the script of the called run, which has it as its prompt; its last letter says whether the call may
   * be made.
   */
  | { readonly kind: 'run'; readonly path: string; readonly ms?: number };
type Script = readonly Group[];

/** A person allows it, or does not; a rule denies it; most calls ask nobody. */
const endings = ['+', '-', '!', '', '', ''];
const rules: LegRules = {
  agentName: 'agent',
  startedBy: null,
  agent: readRules([
    { name: 'never', tools: ['call_*'], when: [{ path: '/prompt', like: '*!' }], effect: 'deny' },
    { name: 'ask-yes', tools: ['call_*'], when: [{ path: '/prompt', like: '*+' }], effect: 'ask' },
    { name: 'ask-no', tools: ['call_*'], when: [{ path: '/prompt', like: '*-' }], effect: 'ask' },
  ]),
};
/** More than a run of these trees asks. */
const asksMax = 100;

/** By depth, because no agent may be called below itself. */
const agents = ['agent', 'researcher', 'critic', 'editor'];
const servers = ['server-1', 'server-2'];
const randomTurns = 40;
const turnsMax = 120;
/** A run may lose its worker three times. */
const lossesPerRun = 2;

/** A pseudo-random generator (mulberry32): the same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/**
 * A random tree of runs that sleep, receive messages, ask people and call each other, on two servers that share a
 * database. Rules and people decide about some of the calls. Workers are lost, runs are cancelled, and passes meet.
 * What each run says at its end is compared with a model: its script, and the ends of what it has called.
 */
export class RunTree {
  readonly #of: CallingWorld;
  readonly #random: (below: number) => number;
  readonly #scripts = new Map<string, Script>();
  readonly #sent = new Map<string, number>();
  readonly #sending = new Map<string, Promise<void>>();
  readonly #losses = new Map<string, number>();
  #runs: Run[] = [];

  constructor(of: CallingWorld, seed: number) {
    this.#of = of;
    this.#random = randomOf(seed);
    this.#write('r', 0);
  }

  /** Plays the tree to its end. Throws where it does not come to one. Returns its runs. */
  async play(): Promise<readonly Run[]> {
    const { world, client } = this.#of;
    const root = await world.start(await world.open(), 'r', client);
    this.#runs = [root];
    for (let turn = 0; turn < turnsMax; turn += 1) {
      if (turn < randomTurns) await this.#turn();
      else await this.#settle();
      this.#runs = await treeOf(world, root);
      await this.#check();
      if (this.#runs.every(isEnded) && (await world.store.read.waits.doomed(1)).length === 0) {
        await this.#checkEnd();
        return this.#runs;
      }
    }
    const open = this.#runs.filter((run) => !isEnded(run)).map(({ id, status }) => [id, status]);
    throw new Error(`the tree does not end: ${JSON.stringify(open)}`);
  }

  #write(path: string, depth: number): void {
    const script = Array.from(
      { length: 1 + this.#random(3) },
      (_g, group): Group =>
        Array.from({ length: 1 + this.#random(3) }, (_i, item): Item => {
          const kind = this.#random(depth + 1 < agents.length ? 6 : 3);
          if (kind === 0) return { kind: 'timer', ms: this.#random(90_000) };
          if (kind === 1) return { kind: 'signal' };
          if (kind === 2) return { kind: 'question' };
          const ending = endings[this.#random(endings.length)] ?? '';
          const below = `${path}.${group}-${item}${ending}`;
          if (!isDenied(below)) this.#write(below, depth + 1);
          return { kind: 'run', path: below, ...(this.#random(4) === 0 && { ms: 100_000 }) };
        }),
    );
    this.#scripts.set(path, script);
  }

  /** Up to three things at once, on both servers; or time passes. */
  async #turn(): Promise<void> {
    if (this.#random(4) === 0) return this.#pass(1 + this.#random(40_000));
    const acts = Array.from({ length: 1 + this.#random(3) }, () => this.#act());
    await Promise.all(acts.map((act) => act()));
  }

  #act(): () => Promise<unknown> {
    const { world } = this.#of;
    const chosen = this.#random(20);
    const run = this.#runs[this.#random(this.#runs.length)];
    const server = servers[this.#random(servers.length)] ?? '';
    if (run === undefined) return async () => {};
    if (chosen === 0) return () => unlessRefused(this.#of.cancel(run));
    if (chosen < 5) return () => this.#send(run);
    if (chosen < 7) return () => cancelCalledRuns(world);
    if (chosen < 8) return () => endParkedCancellations(world);
    const which = this.#random(asksMax);
    if (chosen < 11) return () => this.#answer(run, which);
    const fate = this.#random(6);
    return () => this.#execute(run, server, fate);
  }

  /** One leg, whose worker is maybe lost: before its batch, or between its batch and its end. */
  async #execute(seen: Run, server: string, fate: number): Promise<void> {
    const { world } = this.#of;
    const leg = await world.claim(seen, server, 'machine-1');
    if (leg === undefined) return;
    const known: Partial<Known> = leg.input.kind === 'continue' ? leg.input : {};
    const batch = this.#next(seen, { waits: new Map(), answers: new Map(), ...known });
    const losses = this.#losses.get(seen.id) ?? 0;
    const isLost = fate < 2 && losses < lossesPerRun;
    if (isLost) this.#losses.set(seen.id, losses + 1);
    if (isLost && fate === 0) return;
    if (isLost && batch.items !== undefined) await world.record(leg, { items: batch.items }, rules);
    if (!isLost) await world.record(leg, batch, rules);
  }

  /** What a leg does that knows these waits and answers: it replays its script. */
  #next(run: Run, known: Known): Partial<LegBatch> {
    const script = this.#scriptOf(run);
    const said: string[] = [];
    for (const [index, group] of script.entries()) {
      const refs = group.map((_, item) => `${index}-${item}`);
      const heard = refs.map((ref) => heardAbout(ref, known));
      if (heard.includes(undefined)) {
        const items = group.map((item, place) => itemOf(item, refs[place] ?? '', run));
        return { items, end: parked };
      }
      said.push(...heard.map(String));
    }
    return { end: completed(said.join(' ')) };
  }

  #scriptOf({ input }: Pick<Run, 'input'>): Script {
    const { prompt } = JSON.parse(input) as { readonly prompt: string };
    return this.#scripts.get(prompt) ?? [];
  }

  /** The next of the messages that the script of the run asks for. */
  async #send(run: Run): Promise<void> {
    const wanted = this.#scriptOf(run)
      .flat()
      .filter(({ kind }) => kind === 'signal').length;
    const sent = this.#sent.get(run.id) ?? 0;
    if (sent >= wanted) return;
    this.#sent.set(run.id, sent + 1);
    const { world } = this.#of;
    const data = `m${sent + 1}`;
    const message = { runId: run.id, name: 'm', data, by, idempotencyKey: undefined };
    // One after the other: of two at once, either may be the first.
    const before = this.#sending.get(run.id) ?? Promise.resolve();
    const sending = before.then(() =>
      unlessRefused(sendSignal(world, world.scope, { ...message, chargeRate: () => {} })),
    );
    this.#sending.set(run.id, sending);
    await sending;
  }

  /** A person answers one of the requests of the run. */
  async #answer(run: Run, which: number): Promise<void> {
    const { world } = this.#of;
    const pending = await world.store.read.interactions.pending(run.id, asksMax);
    const asked = pending[which % Math.max(pending.length, 1)];
    if (asked === undefined) return;
    const { sessionId, key } = asked;
    const answer = { sessionId, key, body: answerTo(asked), by, allower };
    await unlessRefused(answerInteraction(world, world.scope, answer));
  }

  /** Time passes, and both servers do what they do every second. */
  async #pass(ms: number): Promise<void> {
    const { world } = this.#of;
    world.clock.advance(ms);
    await Promise.all([settleWaits(world), settleWaits(world)]);
    const leases = { isExecuting: () => false, canTrustExpiry: () => true };
    await Promise.all(
      servers.map((_, index) => reconcileRuns(world, { ...leases, owner: `pass-${index}` })),
    );
    await Promise.all([cancelCalledRuns(world), cancelCalledRuns(world)]);
    await endParkedCancellations(world);
  }

  /** Nothing is lost or cancelled any more: everything comes to its end. */
  async #settle(): Promise<void> {
    await this.#pass(hour / 10);
    for (const run of this.#runs) {
      await this.#send(run);
      await this.#answer(run, 0);
      await this.#execute(run, servers[0] ?? '', 5);
    }
  }

  /**
   * What holds at any time: the counts of open waits and requests, no parked run with something that no leg has got,
   * and no called run that is forgotten by a caller that does not wait for it any more.
   */
  async #check(): Promise<void> {
    const { waits, interactions } = this.#of.world.store.read;
    const doomed = new Set((await waits.doomed(1000)).map(({ id }) => id));
    const going = this.#runs.filter((run) => !isEnded(run) && run.status !== 'cancelling');
    const goingOn = new Set<string | null>(going.map(({ id }) => id));
    for (const run of this.#runs) {
      const all = await waits.ofRun(run.id);
      const open = all.filter(({ status, ref }) => status === 'open' && ref !== null);
      deepEqual([run.id, run.openWaits], [run.id, isEnded(run) ? 0 : open.length]);
      if (isEnded(run)) deepEqual(open, []);
      const asked = await interactions.countPending(run.id);
      deepEqual([run.id, asked], [run.id, run.pendingInteractions]);
      const left = all.filter(
        ({ status, childRunId }) => status !== 'open' && goingOn.has(childRunId),
      );
      deepEqual(
        left.filter(({ id }) => !doomed.has(id)),
        [],
      );
      // One that was interrupted hears the people that it has asked first.
      const isParked =
        (run.status === 'running' || (run.status === 'waiting' && run.interruptedBy === null)) &&
        run.startedAt !== null &&
        run.lease === null &&
        run.readyAt === null &&
        run.continueAt === null;
      if (!isParked) continue;
      if (run.status === 'waiting') ok(asked > 0);
      deepEqual([run.id, await waits.hasUnapplied(run.id)], [run.id, false]);
      if (asked === 0) deepEqual(await interactions.unapplied(run.id), []);
    }
  }

  /**
   * What holds at the end: answers as the model has them, each message and each wait once, and nothing behind an end.
   */
  async #checkEnd(): Promise<void> {
    const { store, logOf } = this.#of.world;
    const byId = new Map(this.#runs.map((run) => [run.id, run]));
    for (const run of this.#runs) {
      const waits = await store.read.waits.ofRun(run.id);
      const asked = new Map(waits.map((wait) => [wait.ref, wait]));
      for (const { childRunId, result } of waits) {
        const called = childRunId === null ? undefined : byId.get(childRunId);
        if (called === undefined) continue;
        if (result?.outcome === 'completed') equal(called.status, 'completed');
        if (result?.outcome === 'cancelled') equal(called.status, 'cancelled');
      }
      if (run.status === 'completed') {
        equal(run.outputText, this.#modelOf(run, asked, byId));
      }
      const log = await logOf(run.id);
      const ids = (type: string) =>
        log.flatMap((event) => (event.type === type ? [event.data['wait_id']] : []));
      equal(new Set(ids('wait_started')).size, ids('wait_started').length);
      equal(new Set(ids('wait_ended')).size, ids('wait_ended').length);
      const last = log.at(-1)?.type ?? '';
      ok(['message_completed', 'run_completed', 'run_cancelled', 'error'].includes(last), last);
    }
  }

  /** The answer by the script alone: messages in the order in which they were sent, and the answers of called runs. */
  #modelOf(
    run: Run,
    asked: ReadonlyMap<string | null, Wait>,
    byId: ReadonlyMap<string, Run>,
  ): string {
    let messages = 0;
    const said = this.#scriptOf(run).flatMap((group, index) =>
      group.map((item, place) => {
        const ref = `${index}-${place}`;
        if (item.kind === 'timer') return 'z';
        if (item.kind === 'question') return `answer to ${ref}`;
        if (item.kind === 'signal') {
          messages += 1;
          return `m${messages}`;
        }
        const { childRunId = null, result } = asked.get(ref) ?? {};
        if (isDenied(item.path)) {
          equal(childRunId, null);
          return '(denied)';
        }
        ok(childRunId !== null, item.path);
        const called = byId.get(childRunId);
        if (result?.outcome === 'completed') return called?.outputText ?? '?';
        return `(${result?.outcome})`;
      }),
    );
    return said.join(' ');
  }
}

/** What a leg is told of its run. */
interface Known {
  readonly waits: ReadonlyMap<string, KnownWait>;
  readonly answers: ReadonlyMap<string, Answer>;
}

/** Undefined: nothing yet. */
function heardAbout(ref: string, { waits, answers }: Known): string | undefined {
  const answer = answers.get(ref);
  if (answer?.kind === 'question') return 'values' in answer ? answer.values.join() : '?';
  const wait = waits.get(ref);
  return wait?.state === 'settled' ? words(wait) : undefined;
}

function isDenied(path: string): boolean {
  return path.endsWith('-') || path.endsWith('!');
}

/** What a person says, which the request itself tells. */
function answerTo(asked: PendingInteraction): JsonObject {
  if (asked.kind === 'question') return { answer: `answer to ${asked.question}` };
  return { decision: JSON.stringify(asked.toolInput).includes('-"') ? 'deny' : 'allow' };
}

function itemOf(item: Item, ref: string, { ancestors }: Pick<Run, 'ancestors'>) {
  if (item.kind === 'question') return { type: 'user_question', ref, question: ref } as const;
  if (item.kind === 'timer') {
    const due = { inMs: item.ms };
    return { type: 'wait', ref, kind: 'timer', name: 'nap', due } as const;
  }
  if (item.kind === 'signal') {
    return { type: 'wait', ref, kind: 'signal', name: 'm', due: { inMs: 100 * hour } } as const;
  }
  const depth = (ancestors ?? '').split('/').length;
  const input = { prompt: item.path };
  const due = item.ms === undefined ? {} : { due: { inMs: item.ms } };
  return { type: 'wait', ref, kind: 'run', name: agents[depth] ?? '', input, ...due } as const;
}

function words(wait: Extract<KnownWait, { state: 'settled' }>): string {
  const { result, called } = wait;
  if (result.outcome === 'fired') return 'z';
  if (result.outcome === 'refused') return `(${result.code})`;
  if (result.outcome === 'received' && typeof result.data === 'string') return result.data;
  return result.outcome === 'completed' ? (called?.text ?? '?') : `(${result.outcome})`;
}

/** Ignores a refusal: the run may have ended. */
async function unlessRefused(act: Promise<unknown>): Promise<void> {
  await act.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
  });
}
