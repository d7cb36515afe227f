import { Misuse } from './failures.ts';

const shownMax = 60;
/** Stack frames that are kept for a call: three of the kit, then those of the agent. More would cost time. */
const framesMax = 6;

/** The function returned without awaiting a call of `ctx`. */
export class NotAwaited extends Misuse {
  constructor(call: string, stack: string) {
    super(`${call} was not awaited`);
    this.stack = stack;
  }
}

/**
 * The calls of `ctx` that nothing has awaited yet (D-478). Without this check, a function that forgets `await` would
 * continue with a promise instead of an answer and complete normally.
 */
export class AwaitedCalls {
  readonly #open = new Set<WatchedCall<unknown>>();

  /** Returns a promise of the same result that notices when it is awaited. */
  watch<T>(promise: Promise<T>, method: string, about: string): Promise<T> {
    const call = new WatchedCall<T>((resolve) => resolve(promise));
    call.name = [method, about];
    call.open = this.#open;
    this.#open.add(call);
    return call;
  }

  /** Throws if a call was never awaited. */
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
  /** `then` returns a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  name: readonly [method: string, about: string] = ['', ''];
  open: Set<WatchedCall<unknown>> | undefined;
  readonly site = callSite();

  // oxlint-disable-next-line unicorn/no-thenable -- the only way to notice an await
  override then<R1 = T, R2 = never>(
    onFulfilled?: ((value: T) => R1 | PromiseLike<R1>) | null,
    onRejected?: ((reason: unknown) => R2 | PromiseLike<R2>) | null,
  ): Promise<R1 | R2> {
    this.open?.delete(this);
    return super.then(onFulfilled, onRejected);
  }
}

/** The call site in the agent. V8 formats the stack when it is read, so creating it is cheap. */
function callSite(): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = framesMax;
  const site = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return site;
}
