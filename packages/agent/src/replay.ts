import type { Answer, KnownCall, KnownWait, Point, StartMessage } from './lines.ts';
import { readResult } from './results.ts';

/** New results follow all stored ones. */
const firstTime = 2 ** 52;

/** What earlier legs have left: results, answers, settled waits, and the last recovery point. */
export class Replay {
  readonly point: Point | undefined;
  readonly answers: ReadonlyMap<string, Answer>;
  readonly waits: ReadonlyMap<string, KnownWait>;
  /** The numbers of the settled waits, in their order. */
  readonly #waitNumbers: readonly number[];
  readonly #calls: ReadonlyMap<string, KnownCall>;
  readonly #leftOver: Set<string>;
  readonly #leftCalls: Set<string>;
  /** The highest number in the order of results. */
  readonly lastOrder: number;

  constructor(start: StartMessage) {
    this.point = pointOf(start);
    const { answers = {}, calls = {}, waits = {} } = start.input;
    this.answers = new Map(Object.entries(answers));
    this.waits = new Map(Object.entries(waits));
    this.#waitNumbers = [...this.waits.values()]
      .flatMap((wait) => (wait.state === 'settled' ? [wait.number] : []))
      .sort((a, b) => a - b);
    this.#calls = new Map(Object.entries(calls));
    const path = rootPath(this.point?.saved?.number ?? 0);
    const ended = [...this.#calls].flatMap(([ref, call]) =>
      call.state === 'ended' && ref.startsWith(path) && !ref.startsWith(taskPath)
        ? [[ref, readResult(call)] as const]
        : [],
    );
    this.#leftOver = new Set(ended.map(([ref]) => ref));
    const called = [...this.waits].filter(
      ([ref, { kind }]) => kind === 'run' && ref.startsWith(path) && !ref.startsWith(taskPath),
    );
    this.#leftCalls = new Set(called.map(([ref]) => ref));
    const orders = ended.map(([, { order }]) => order).filter(Number.isFinite);
    this.lastOrder = [...orders, ...Object.values(this.point?.order ?? {})].reduce(
      (last, order) => Math.max(last, order),
      0,
    );
  }

  /** Returns the stored call that the function asks for. */
  take(ref: string): KnownCall | undefined {
    this.#leftOver.delete(ref);
    return this.#calls.get(ref);
  }

  /** Returns the known result of a called run that the function asks for. */
  takeCall(ref: string): KnownWait | undefined {
    this.#leftCalls.delete(ref);
    return this.waits.get(ref);
  }

  /** Calls of other agents that the function has not asked for yet. */
  get leftCalls(): readonly string[] {
    return [...this.#leftCalls];
  }

  /**
   * Where a settled wait comes the first time: in the order in which waits were settled, whatever the program asks
   * first.
   */
  orderOfWait(number: number): number {
    return firstTime + this.#waitNumbers.indexOf(number) + 1;
  }

  /**
   * Where an answer comes the first time: after the waits that were settled before it. Answers between two waits come
   * in the order in which the program asks for them. A call that was left comes last.
   */
  orderOfAnswer(ref: string): number {
    const index = [...this.answers.keys()].indexOf(ref);
    const before = this.#waitNumbers.filter(
      (number, place) => index === -1 || number - 1 - place <= index,
    );
    return firstTime + before.length + 0.5;
  }

  /** Results that the function has not asked for yet. */
  get leftOver(): readonly string[] {
    return [...this.#leftOver];
  }

  /** Whether one of them is the result of a step that must not run twice. */
  get hasEffectLeft(): boolean {
    return this.leftOver.some((ref) => {
      const call = this.#calls.get(ref);
      return call?.state === 'ended' && readResult(call).isRepeatable !== true;
    });
  }

  forgetLeftOver(): void {
    this.#leftOver.clear();
  }

  forgetLeftCalls(): void {
    this.#leftCalls.clear();
  }
}

/** Prefix of step refs after this many saves. Step names cannot start with it. */
export function rootPath(saves: number): string {
  return saves === 0 ? '' : `>${saves} `;
}

/** Prefix of step refs in a framework's task. A task that has ended is not asked for again. */
export const taskPath = '>task ';

/** The recovery point of this run, if the session's checkpoint is one. */
function pointOf({ state, run_id: run }: StartMessage): Point | undefined {
  if (!isObject(state) || state['convoke'] !== 1 || state['run'] !== run) return undefined;
  return state as unknown as Point;
}

/** The session's state before the run. The run before may have left only a recovery point. */
export function stateBefore({ state }: StartMessage): unknown {
  if (!isObject(state) || state['convoke'] !== 1) return undefined;
  return state['state'] ?? state['before'] ?? state['base'];
}

/** Whether the session has a checkpoint that another framework made. */
export function isForeign({ state }: StartMessage): boolean {
  return state !== null && (!isObject(state) || state['convoke'] !== 1);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
