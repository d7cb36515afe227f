// A store that stops a server at a chosen commit of a run: before it, or right after it.
import type { RunId } from '@convoke/contract';
import type { RunEvent } from '../../../src/domain/run/run-event.ts';
import { StorageUnavailable } from '../../../src/ports/errors.ts';
import type { Store, StoreTransaction } from '../../../src/ports/store.ts';
import { Dead, type Seat, type SeatPlans } from './seats.ts';

/** The seats of a transaction, by what it has written: before its commit and after it. */
interface SeatsOfCommit {
  readonly before?: Seat;
  readonly after?: Seat;
}

const seatsOfCommit = {
  claim: { after: 'claim committed' },
  'first delta': { after: 'first delta' },
  'second delta': { after: 'in the text' },
  point: { before: 'message complete, point not durable', after: 'point durable' },
  begin: { before: 'intent written, not committed', after: 'intent durable' },
  end: { before: 'result returned, not written', after: 'result durable' },
  'leg end': { before: 'leg end, not committed', after: 'leg end durable' },
  recovery: { before: 'in the recovery' },
  'next claim': { before: 'in the next claim' },
} as const satisfies Record<string, SeatsOfCommit>;

type Written = keyof typeof seatsOfCommit;

/** Written by the dispatcher and by recovery; everything else by the writer of a leg. */
const kindsOfOthers: ReadonlySet<Written> = new Set(['claim', 'next claim', 'recovery']);

/** What all servers of a test share. */
export interface Seating {
  readonly plans: SeatPlans;
  readonly promptOf: Map<RunId, string>;
}

/** The life of one server: whether its store answers. */
export class ServerLife {
  readonly #seating: Seating;
  readonly #held = new Set<PromiseWithResolvers<void>>();
  #state: 'alive' | 'frozen' | 'dead' = 'alive';

  constructor(seating: Seating) {
    this.#seating = seating;
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  /** As `kill -9`: from here on this server writes nothing and reads nothing. */
  kill(): void {
    this.#state = 'dead';
    this.#seating.plans.release();
    for (const held of this.#held) held.reject(new Dead());
  }

  /** As SIGSTOP: every call of the store waits until `thaw`. */
  freeze(): void {
    this.#state = 'frozen';
  }

  thaw(): void {
    this.#state = 'alive';
    this.#seating.plans.release();
    for (const held of this.#held) held.resolve();
  }

  /** Stops a run at its seat, if the plan says so. */
  async pass(prompt: string | undefined, seat: Seat): Promise<void> {
    // A test sees a run as ended before the commit has returned to its server, and may kill the server in between:
    // what a dead server holds, nothing releases.
    if (this.#state === 'dead') throw new Dead();
    const fault = prompt === undefined ? undefined : this.#seating.plans.take(prompt, seat);
    if (fault === 'hold') await this.#hold();
    if (fault === 'database away') throw new StorageUnavailable(`away at: ${seat}`);
    await this.alive();
  }

  /** Resolves while the server lives; waits while it is frozen. */
  async alive(): Promise<void> {
    if (this.#state === 'dead') throw new Dead();
    if (this.#state === 'frozen') await this.#hold();
  }

  async #hold(): Promise<void> {
    const held = Promise.withResolvers<void>();
    this.#held.add(held);
    await held.promise;
    this.#held.delete(held);
  }

  /** For `wrapStore`. */
  readonly wrap = (store: Store): Store => ({
    ...store,
    read: this.#watched(store.read),
    now: async () => {
      await this.alive();
      return store.now();
    },
    transaction: (work) => this.#survived(store, work),
  });

  async #transaction<T>(
    store: Store,
    work: (tx: StoreTransaction) => Promise<T>,
    seen: { isOfLeg: boolean },
  ): Promise<T> {
    await this.alive();
    let written: WrittenOfRun | undefined;
    const stopped = new Error('rolled back at a seat');
    let atSeat: Seat | undefined;
    try {
      const result = await store.transaction(async (tx) => {
        written = { prompt: undefined, kinds: new Set() };
        const value = await work(this.#recording(tx, written));
        seen.isOfLeg = [...written.kinds].some((kind) => !kindsOfOthers.has(kind));
        for (const kind of written.kinds) {
          const { before } = seatsOfCommit[kind] as SeatsOfCommit;
          if (before === undefined || !this.#isDue(written.prompt, before)) continue;
          // Rolled back first: on SQLite an open transaction would stop every other run.
          atSeat = before;
          throw stopped;
        }
        if (this.#state === 'dead') throw new Dead();
        return value;
      });
      for (const kind of written?.kinds ?? []) {
        const { after } = seatsOfCommit[kind] as SeatsOfCommit;
        if (after !== undefined) await this.pass(written?.prompt, after);
      }
      return result;
    } catch (error) {
      if (error !== stopped || atSeat === undefined) throw error;
      await this.pass(written?.prompt, atSeat);
      // It continues after a freeze: the transaction is tried for the first time.
      return await this.#transaction(store, work, seen);
    }
  }

  /**
   * As `#transaction`. The writer of a leg of a dead server learns that its lease is lost, so that the leg ends without
   * a word; anything else fails.
   */
  async #survived<T>(store: Store, work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    const seen = { isOfLeg: false };
    try {
      return await this.#transaction(store, work, seen);
    } catch (error) {
      if (error instanceof Dead && seen.isOfLeg) return undefined as T;
      throw error;
    }
  }

  #isDue(prompt: string | undefined, seat: Seat): boolean {
    return prompt !== undefined && this.#seating.plans.isNext(prompt, seat);
  }

  /** Notes what the transaction writes about which run. */
  #recording(tx: StoreTransaction, written: WrittenOfRun): StoreTransaction {
    const { promptOf } = this.#seating;
    const note = (runId: RunId, ...kinds: Written[]) => {
      written.prompt = promptOf.get(runId);
      for (const kind of kinds) written.kinds.add(kind);
    };
    const { runs, runEvents, sessions, toolCalls } = tx;
    const watched: Partial<StoreTransaction> = {
      runs: {
        ...runs,
        insert: async (run, guard) => {
          promptOf.set(run.id, (JSON.parse(run.input) as { prompt: string }).prompt);
          return runs.insert(run, guard);
        },
      },
      runEvents: {
        ...runEvents,
        append: (tenantId, runId, events) => {
          note(runId, ...events.flatMap(kindsOfEvent));
          runEvents.append(tenantId, runId, events);
        },
      },
      sessions: {
        ...sessions,
        saveCheckpoint: (id, checkpoint) => {
          if (checkpoint.point !== undefined) note(checkpoint.point.runId, 'point');
          sessions.saveCheckpoint(id, checkpoint);
        },
      },
      toolCalls: {
        ...toolCalls,
        begin: async (owner, intent) => {
          note(owner.runId, 'begin');
          return toolCalls.begin(owner, intent);
        },
        end: async (owner, call) => {
          note(owner.runId, 'end');
          await toolCalls.end(owner, call);
        },
      },
    };
    return new Proxy(tx, {
      get(target, name) {
        const member: unknown = Reflect.get(watched, name) ?? Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  /** Reads of a dead server fail, those of a frozen one wait. */
  #watched<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member === 'object' && member !== null) return this.#watched(member);
        if (typeof member !== 'function') return member;
        return async (...args: readonly unknown[]) => {
          await this.alive();
          return member.apply(target, args) as unknown;
        };
      },
    });
  }
}

interface WrittenOfRun {
  prompt: string | undefined;
  readonly kinds: Set<Written>;
}

function kindsOfEvent({ type, body }: RunEvent): Written[] {
  switch (type) {
    case 'run_started':
      return ['claim'];
    case 'run_resumed':
      return ['claim', 'next claim'];
    case 'run_interrupted':
      return ['recovery'];
    case 'run_completed':
      return ['leg end'];
    case 'message_delta':
      if (body.includes('"A1 "')) return ['first delta'];
      return body.includes('"A2 "') ? ['second delta'] : [];
    default:
      return [];
  }
}
