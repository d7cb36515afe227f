import { deepEqual } from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatEventId } from '@convoke/contract';
import { RunText } from '@convoke/faces';
import { transcriptProblems } from '../../../faces/test/transcript-oracle.ts';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { readPrices } from '../../src/agents/prices-file.ts';
import { TokenRequests } from '../../src/app/connections/token-requests.ts';
import { answerInteraction } from '../../src/app/interactions.ts';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import type { Agent } from '../../src/domain/agent.ts';
import type { Allower } from '../../src/domain/rules/approvers.ts';
import { doubtOptions } from '../../src/domain/run/call-in-doubt.ts';
import { type Run, isEnded } from '../../src/domain/run/run.ts';
import { LegSupervisor } from '../../src/execution/leg-supervisor.ts';
import type { ExecutionServices } from '../../src/execution/services.ts';
import type { Harness } from '../../src/ports/harness.ts';
import type { Account } from '../../src/ports/sandbox.ts';
import type { Store } from '../../src/ports/store.ts';
import { type FolderPaths, folderPaths } from '../../src/session-folders/folder-paths.ts';
import { openSessionFolders } from '../../src/session-folders/session-folders.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { expireInteractions } from '../../src/workers/retention/expire-interactions.ts';
import { readBy, recordingLog } from './agent-folders.ts';
import type { DatabaseKind } from './databases.ts';
import { allower, by } from './identity-fixture.ts';
import { type FixtureOptions, type RunFixture, createRunFixture, hour } from './run-fixture.ts';

/**
 * The end of a worker: from then on nothing reaches its database and it hears nothing from there. `hasCommitted` tells
 * whether the transaction under way at that moment was still committed.
 */
export class Death {
  readonly #reached = Promise.withResolvers<void>();
  #isDead = false;
  #left: number;
  readonly #hasCommitted: boolean;

  /** At the commit with this number, from 0; never without one. */
  constructor(commit = Number.POSITIVE_INFINITY, hasCommitted = false) {
    this.#left = commit;
    this.#hasCommitted = hasCommitted;
  }

  /** Whether the worker came to it. */
  get hasCome(): boolean {
    return this.#isDead;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  die(): void {
    this.#isDead = true;
    this.#reached.resolve();
  }

  /** The store as the worker sees it. */
  wrap(store: Store): Store {
    return {
      ...store,
      transaction: async (work) => {
        if (this.#isDead) return never();
        this.#left -= 1;
        if (this.#left >= 0) {
          const result = await store.transaction(work);
          return this.#isDead ? never() : result;
        }
        if (this.#hasCommitted) await store.transaction(work);
        this.die();
        return never();
      },
    };
  }
}

/** Something that happens to a leg right after its commit with this number, from 0; the worker lives on. */
export class Moment {
  readonly #commit: number;
  readonly #act: (leg: LegSupervisor) => unknown;
  #commits = 0;

  constructor(commit: number, act: (leg: LegSupervisor) => unknown) {
    this.#commit = commit;
    this.#act = act;
  }

  /** Whether the leg came to it. */
  get hasCome(): boolean {
    return this.#commits > this.#commit;
  }

  wrap(store: Store, leg: () => LegSupervisor): Store {
    return {
      ...store,
      transaction: async (work) => {
        const result = await store.transaction(work);
        this.#commits += 1;
        if (this.#commits === this.#commit + 1) await this.#act(leg());
        return result;
      },
    };
  }
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => {});
}

export interface MortalParts {
  readonly kind: DatabaseKind;
  readonly agent: Agent;
  readonly harness: Harness;
  /** Agents that it calls: the test acts as their workers. */
  readonly others?: readonly Partial<Agent>[];
  /** Account of the programs that the harness starts. */
  readonly account?: Account | undefined;
  readonly fixture?: Pick<FixtureOptions, 'tokenEndpoints' | 'settings'>;
}

/** Runs whose legs are executed by workers that die: real legs, store and recovery, in this process. */
export class MortalLegs {
  readonly world: RunFixture;
  readonly #services: ExecutionServices;
  readonly #folder: string;

  constructor(world: RunFixture, services: ExecutionServices, folder: string) {
    this.world = world;
    this.#services = services;
    this.#folder = folder;
  }

  static async open({
    kind,
    agent,
    harness,
    others = [],
    account,
    fixture = {},
  }: MortalParts): Promise<MortalLegs> {
    const read = readBy(harness, { ...agent, name: 'agent' });
    const world = await createRunFixture(kind, read, { ...fixture, others });
    world.harnesses.set(harness.framework, harness);
    const dataDir = await mkdtemp(join(tmpdir(), 'convoke-mortal-'));
    const log = recordingLog();
    const services = {
      ...world,
      log,
      harnesses: new Map([[harness.framework, harness]]),
      sessionFolders: openSessionFolders({ dataDir, log, account }),
      prices: await readPrices(undefined),
      blobs: await openDiskBlobs({ dataDir, shared: undefined }),
    };
    return new MortalLegs(world, services, dataDir);
  }

  close(): Promise<void> {
    return removeFolder(this.#folder);
  }

  /** The session folder and the HOME of the run's agent. */
  foldersOf(run: Run): FolderPaths {
    return folderPaths(this.#folder, run);
  }

  async start(prompt: string): Promise<Run> {
    return this.world.start(await this.world.open(), prompt);
  }

  /** Executes one leg until it ends or its worker dies. */
  async execute(run: Run, fate: Death | Moment = new Death()): Promise<void> {
    const death = fate instanceof Death ? fate : new Death();
    const claimed = await this.world.claimed(run);
    const wrapped = death.wrap(this.world.store);
    const store = fate instanceof Moment ? fate.wrap(wrapped, () => leg) : wrapped;
    // Of this worker alone: its death leaves no turn taken.
    const tokenRequests = new TokenRequests(this.world.clock);
    const services = { ...this.#services, store, tokenRequests };
    const leg = new LegSupervisor(services, run.id, () => !death.isDead);
    const executed = leg.execute(claimed);
    await Promise.race([executed, death.reached]);
    // What is left of the worker does nothing more, and may wait for its database forever.
    if (death.isDead) leg.lose();
  }

  /** Prepares one leg on a server that stops before it can start; its drain may even be over before that. */
  async handBack(run: Run, drain: 'begins' | 'is over' = 'begins'): Promise<void> {
    const claimed = await this.world.claimed(run);
    const leg = new LegSupervisor(this.#services, run.id, () => true);
    leg.yield();
    const executed = leg.execute(claimed);
    if (drain === 'is over') await leg.cut();
    await executed;
  }

  /** What the other workers do about a run whose worker is gone. */
  async recover(): Promise<void> {
    const { world } = this;
    world.clock.advance(60_001);
    const leases = { owner: 'me', isExecuting: () => false, canTrustExpiry: () => true };
    await reconcileRuns(
      { ...this.#services, ...world, harnesses: this.#services.harnesses },
      leases,
    );
    await endParkedCancellations({ ...this.#services, ...world });
    // The longest pause before the next attempt.
    world.clock.advance(60_001);
  }

  /** Time passes without an answer. The servers that see it first die at their commit: one before it, one after it. */
  async #expire(): Promise<void> {
    const { world } = this;
    world.clock.advance(hour + 1);
    for (const hasCommitted of [false, true]) {
      const death = new Death(0, hasCommitted);
      const dying = expireInteractions({ ...world, store: death.wrap(world.store) });
      await Promise.race([dying, death.reached]);
    }
    await expireInteractions(world);
  }

  /**
   * Executes legs, answers what is asked and recovers, until the run has ended. Where a person gives no answer, an hour
   * passes.
   */
  async finish(
    run: Run,
    {
      deaths = [],
      answer,
      allowerOf,
    }: Finishing & { readonly deaths?: readonly (Death | Moment)[] },
  ): Promise<Run> {
    const left = [...deaths];
    for (let turn = 0; turn < 50; turn += 1) {
      const now = await this.world.read(run);
      await this.#checkItems(now);
      if (isEnded(now)) return now;
      if (now.status === 'waiting' && now.lease === null && now.pendingInteractions > 0) {
        await this.#answerAll(now, { answer, allowerOf });
      } else if (now.status === 'cancelling' || (now.status !== 'queued' && now.lease !== null)) {
        await this.recover();
      } else {
        await this.execute(now, left.shift());
      }
    }
    throw new Error('the run does not end');
  }

  /** As `finish`, for a person who says of every call in doubt that it shall be done. Returns what was asked, too. */
  async finishDoing(run: Run): Promise<{ readonly ended: Run; readonly asked: readonly string[] }> {
    const asked: string[] = [];
    const ended = await this.finish(run, {
      answer: ({ requestId }) => {
        asked.push(requestId);
        return { answer: doubtOptions.again.label };
      },
    });
    return { ended, asked };
  }

  async #answerAll(run: Run, { answer, allowerOf = () => allower }: Finishing): Promise<void> {
    const { world } = this;
    const log = await world.logOf(run.id);
    for (const { type, data } of log) {
      if (type !== 'permission_request' && type !== 'user_question') continue;
      const requestId = String(data['request_id']);
      const asked = await world.store.read.interactions.findByRequest(run.id, requestId);
      if (asked?.status !== 'pending') continue;
      const body = answer({ requestId, kind: asked.kind });
      if (body === undefined) {
        await this.#expire();
        continue;
      }
      const caller = { by, allower: allowerOf() };
      const request = { sessionId: run.sessionId, key: asked.key, body, ...caller };
      for (const hasCommitted of caller.allower.kind === 'person' ? [false, true] : []) {
        const death = new Death(0, hasCommitted);
        const dying = answerInteraction(
          { ...world, store: death.wrap(world.store) },
          world.scope,
          request,
        );
        await Promise.race([dying, death.reached]);
      }
      await answerInteraction(world, world.scope, request);
    }
  }

  /** Whatever happened to a run, clients of every kind see its text, its calls and what is pending (D-191). */
  async #checkItems(run: Run): Promise<void> {
    // A cancel withdraws at once what is pending, and readers see it with the end of the run.
    if (run.status === 'cancelling') return;
    const { world } = this;
    const events = await world.logOf(run.id);
    const { interactions } = world.store.read;
    const keys = events.flatMap(({ type, data }) =>
      type === 'permission_request' || type === 'user_question' ? [String(data['request_id'])] : [],
    );
    const found = await Promise.all(keys.map((key) => interactions.findByRequest(run.id, key)));
    const open = found.flatMap((each) => (each?.status === 'pending' ? [each.key] : []));
    const outputText = isEnded(run) ? run.outputText : null;
    const pending = [...new Set(open)];
    deepEqual(transcriptProblems(numbered(events), { outputText, pending }), []);
  }

  /** The answer as a reader joins it that knows no interruption: all deltas in order (spec §6). */
  async plain(run: Run): Promise<string> {
    const log = await this.world.logOf(run.id);
    return log.map(({ type, data }) => (type === 'message_delta' ? data['text'] : '')).join('');
  }

  /** The answer as a reader joins it from the log (D-87). */
  async joined(run: Run): Promise<string> {
    const text = new RunText();
    for (const event of numbered(await this.world.logOf(run.id))) text.take(event);
    return text.text;
  }
}

function numbered<T>(log: readonly T[]): readonly (T & { readonly id: string })[] {
  return log.map((event, index) => ({ ...event, id: formatEventId(index + 1) }));
}

interface Finishing {
  readonly answer: (asked: Asked) => Answer | undefined;
  /**
   * Who answers next. The servers that get a person's answer first die at its commit: one before it, one after it.
   * Without it, a client answers.
   */
  readonly allowerOf?: (() => Allower) | undefined;
}

export interface Asked {
  readonly requestId: string;
  readonly kind: 'permission' | 'question';
}

type Answer = Readonly<Record<string, string | boolean>>;
