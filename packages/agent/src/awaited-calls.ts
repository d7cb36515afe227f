import { Misuse } from './failures.ts';

const shownMax = 60;
/** Frames that are kept of a call: three of the kit, and the program's. More of them take longer. */
const framesMax = 6;

/** The function returned without the result of something that it asked `ctx` for. */
export class NotAwaited extends Misuse {
  constructor(call: string, stack: string) {
    super(`${call} was not awaited`);
    this.stack = stack;
  }
}

/**
 * The calls of `ctx` whose promise nothing has waited for yet (D-478). A program that forgets `await` would continue with a
 * promise in place of an answer, and end well.
 */
export class AwaitedCalls {
  readonly #open = new Set<WatchedCall<unknown>>();

  /** Returns a promise of the same result, which notes that the program waits for it. */
  watch<T>(promise: Promise<T>, method: string, about: string): Promise<T> {
    const call = new WatchedCall<T>((resolve) => resolve(promise));
    call.name = [method, about];
    call.open = this.#open;
    this.#open.add(call);
    return call;
  }

  /** Throws if the program has left a call alone. */
  check(): void {
    const [first] = this.#open;
    if (first === undefined) return;
    const [method, about] = first.name;
    const text = String(about);
    const shown = text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
    throw new NotAwaited(`ctx.${method}(${JSON.stringify(shown)})`, first.site.stack ?? '');
  }
}

/** A subclass, because `await` and `Promise.all` call `then` of a subclass, and not that of a plain promise. */
class WatchedCall<T> extends Promise<T> {
  /** What `then` returns is a promise like any other. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  name: readonly [method: string, about: string] = ['', ''];
  open: Set<WatchedCall<unknown>> | undefined;
  readonly site = callSite();

  // oxlint-disable-next-line unicorn/no-thenable -- the one way to know that the program waits
  override then<R1 = T, R2 = never>(
    onFulfilled?: ((value: T) => R1 | PromiseLike<R1>) | null,
    onRejected?: ((reason: unknown) => R2 | PromiseLike<R2>) | null,
  ): Promise<R1 | R2> {
    this.open?.delete(this);
    return super.then(onFulfilled, onRejected);
  }
}

/** Where the program makes a call. The text of the stack is only written when it is read, which takes far longer. */
function callSite(): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = framesMax;
  const site = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return site;
}
