import type { Clock } from '../../ports/clock.ts';
import type { HarnessEvent } from '../../ports/harness.ts';
import type { Line } from '../lines.ts';

/** The server's question to a program that is silent, and its answer. Both are between the server and its own kits. */
const pingMessage = { type: 'ping' };
const answer = '{"type":"alive"}';

const tickMs = 1000;
/** A program that does not answer for this many ticks does not yield. */
const patience = 5;

/** In place of a line: the program has not answered. */
export const standstill = Symbol('standstill');

export interface WatchParts {
  readonly clock: Clock;
  readonly send: (message: object) => void;
}

/**
 * Yields the lines of a program that answers pings, and once `standstill` if it stops answering: a loop without `await`
 * would otherwise say nothing for as long as a person waits (D-479). The watch begins with the first line, which the
 * kit writes when it calls the function: loading a program may take long. A program that talks is never asked.
 */
export async function* watchedLines(
  lines: AsyncGenerator<Line, void>,
  parts: WatchParts,
): AsyncGenerator<Line | typeof standstill, void> {
  const watch = new Watch(parts);
  let isPending = false;
  try {
    for (;;) {
      isPending = true;
      const next = lines.next();
      let heard = await watch.orStandstill(next);
      if (heard === standstill) {
        yield standstill;
        heard = await next;
      }
      isPending = false;
      if (heard.done === true) return;
      const isAnswer = heard.value.text === answer;
      watch.hear(isAnswer);
      if (!isAnswer) yield heard.value;
    }
  } finally {
    watch.end();
    // A pending read ends with the process, which the caller ends next.
    const returned = lines.return();
    if (isPending) returned.catch(() => undefined);
    else await returned;
  }
}

/** The notice that readers of the run get. The run continues: a long computation is no mistake. */
export function standstillEvent(entry: string): HarnessEvent {
  const message = `${entry} has not yielded for ${patience} s: a loop without await?`;
  return { type: 'custom', name: 'not_yielding', data: { message } };
}

class Watch {
  readonly #parts: WatchParts;
  #cancel: (() => void) | undefined;
  #wake: (() => void) | undefined;
  /** Ticks without a word while the server listened. */
  #silent = 0;
  /** Ticks of silence after which the program is asked: more if it has just answered, since it waits for something. */
  #askAfter = 1;
  #hasAsked = false;
  #hasEnded = false;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Resolves with the line, or before it with the standstill. */
  orStandstill<T>(next: Promise<T>): Promise<T | typeof standstill> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(standstill);
      next.then(resolve, reject);
    });
  }

  hear(isAnswer: boolean): void {
    this.#wake = undefined;
    this.#silent = 0;
    this.#askAfter = isAnswer && this.#hasAsked ? patience : 1;
    this.#hasAsked = false;
    if (this.#cancel === undefined) this.#arm();
  }

  end(): void {
    this.#hasEnded = true;
    this.#cancel?.();
  }

  #arm(): void {
    if (!this.#hasEnded) this.#cancel = this.#parts.clock.after(tickMs, () => this.#tick());
  }

  /** Counts ticks rather than time: a server that stood still itself has not listened. */
  #tick(): void {
    this.#silent = this.#wake === undefined ? 0 : this.#silent + 1;
    if (this.#silent === this.#askAfter) {
      this.#hasAsked = true;
      this.#parts.send(pingMessage);
    }
    if (this.#silent < this.#askAfter + patience) return this.#arm();
    this.end();
    this.#wake?.();
  }
}
