import { type AskItem, McpRun } from '@convoke/faces';
import { eventsOfRow } from '../../../app/faces/history.ts';
import { logOf } from '../../../app/runs/run-log.ts';
import { type Run, isEnded } from '../../../domain/run/run.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Fanout, Topic } from '../../../ports/fanout.ts';
import type { FaceFollower } from '../stream.ts';

/** How often a client that asked for it hears that the call continues (D-218). */
const progressMs = 5000;
/** How long a person may take for a form. */
export const formMs = 600_000;

export interface WaitParts {
  readonly follower: FaceFollower;
  readonly fanout: Fanout;
  readonly clock: Clock;
}

/** Asks the user while the call waits, as clients of the older era need it. */
export interface LiveForms {
  /** The interaction about which the user is being asked already. */
  readonly asked: string | undefined;
  /** Whether the user may decide. */
  isOffered(ask: AskItem): boolean;
  /** Asks the user. Returns false where the client cannot show what they would decide on. */
  show(ask: AskItem, said: string): boolean;
  /** The request was answered, here or elsewhere. */
  withdraw(key: string): void;
  /** Wakes the call when the user closes the form. */
  topicOf(key: string): Topic;
}

export interface Waiting {
  readonly run: Run;
  readonly ms: number;
  /** The end of the connection. */
  readonly signal: AbortSignal;
  /** Wakes the call when its client has left it. */
  readonly left: Topic | undefined;
  readonly forms?: LiveForms | undefined;
  /** Whether the wait ends where the run needs a person. */
  readonly endsAtAsk: boolean;
  /** Called every few seconds with how often it was called. */
  readonly onProgress?: ((count: number) => void) | undefined;
}

/** Waits until the run has ended, needs a person who cannot be asked here, or the time is over. */
export async function waitForRun(parts: WaitParts, waiting: Waiting): Promise<McpRun> {
  const { run } = waiting;
  const state = new McpRun({ sessionId: run.sessionId, runId: run.id });
  // The row of a run that has ended says everything, also when its events were deleted.
  if (isEnded(run) && run.outputText !== null) {
    for (const event of eventsOfRow(run)) state.take(event);
    return state;
  }
  const wait = new RunWait(parts, waiting, state);
  try {
    await wait.follow();
  } finally {
    wait.close();
  }
  return state;
}

class RunWait {
  readonly #parts: WaitParts;
  readonly #waiting: Waiting;
  readonly #state: McpRun;
  readonly #over = new AbortController();
  /** The interaction about which the user is being asked. */
  #asked: string | undefined;
  #cancelTimer: () => void = () => {};
  #cancelProgress: () => void = () => {};
  #unsubscribeAsk: () => void = () => {};
  readonly #unsubscribe: () => void;

  constructor(parts: WaitParts, waiting: Waiting, state: McpRun) {
    this.#parts = parts;
    this.#waiting = waiting;
    this.#state = state;
    const { left, forms, ms, onProgress } = waiting;
    this.#unsubscribe = left === undefined ? () => {} : parts.fanout.subscribe(left, this.#end);
    this.#limit(ms);
    if (forms?.asked !== undefined) this.#awaitAnswer(forms, forms.asked);
    if (onProgress !== undefined) this.#tell(onProgress, 1);
  }

  follow(): Promise<void> {
    const { run, signal } = this.#waiting;
    return this.#parts.follower.follow({
      run: logOf(run),
      after: 0,
      signal: AbortSignal.any([signal, this.#over.signal]),
      take: ({ rendered, isCut, lastSeq }) => {
        for (const event of rendered) this.#state.take(event);
        const isNow = !isCut && lastSeq >= run.lastSeq;
        const isDone = this.#state.isOver || (isNow && this.#isStopped());
        return isDone ? Promise.resolve(false) : undefined;
      },
    });
  }

  close(): void {
    this.#cancelTimer();
    this.#cancelProgress();
    this.#unsubscribe();
    this.#unsubscribeAsk();
  }

  /** Whether the run needs a person who cannot be asked here. Asks for the oldest request; the others follow. */
  #isStopped(): boolean {
    const { forms, endsAtAsk, ms } = this.#waiting;
    const { asks, text } = this.#state.state;
    if (this.#asked !== undefined && !asks.some(({ key }) => key === this.#asked)) {
      forms?.withdraw(this.#asked);
      this.#asked = undefined;
      this.#unsubscribeAsk();
      this.#limit(ms);
    }
    if (asks.length === 0 || !endsAtAsk || this.#asked !== undefined) return false;
    const oldest = asks.find((ask) => forms?.isOffered(ask) === true);
    if (oldest === undefined || forms?.show(oldest, text) !== true) return true;
    this.#awaitAnswer(forms, oldest.key);
    return false;
  }

  #awaitAnswer(forms: LiveForms, key: string): void {
    this.#asked = key;
    this.#unsubscribeAsk = this.#parts.fanout.subscribe(forms.topicOf(key), this.#end);
    this.#limit(Math.max(this.#waiting.ms, formMs));
  }

  #limit(ms: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#parts.clock.after(ms, this.#end);
  }

  #tell(onProgress: (count: number) => void, count: number): void {
    this.#cancelProgress = this.#parts.clock.after(progressMs, () => {
      onProgress(count);
      this.#tell(onProgress, count + 1);
    });
  }

  readonly #end = () => this.#over.abort();
}
