import type { RunId, SessionId } from '@convoke/contract';
import { type AskItem, McpRun, type TranscriptEvent } from '@convoke/faces';
import { eventsOfRow } from '../../../app/faces/history.ts';
import type { EventBatch } from '../../../app/runs/follow.ts';
import { type RunLog, logOf } from '../../../app/runs/run-log.ts';
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

/** The fields of a run that a call keeps, instead of the whole row. */
export interface WaitedRun extends RunLog {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** Stand for the log of a run that has ended. */
  readonly events: readonly TranscriptEvent[] | undefined;
}

export function waitedRun(run: Run): WaitedRun {
  // The row of a run that has ended says everything, also when its events were deleted.
  const isWhole = isEnded(run) && run.outputText !== null;
  const { id, lastSeq, end } = logOf(run);
  const events = isWhole ? eventsOfRow(run) : undefined;
  return { id, lastSeq, end, sessionId: run.sessionId, runId: id, events };
}

export interface Waiting<Answer> {
  readonly run: WaitedRun;
  readonly ms: number;
  /** Ends the wait: aborts its signal. */
  end(): void;
  /** Gets the state of the run when the wait is over. */
  answer(state: McpRun): Answer | Promise<Answer>;
  /** Wakes the call when its client has left it. */
  readonly left: Topic | undefined;
  readonly forms?: LiveForms | undefined;
  /** Whether the wait ends where the run needs a person. */
  readonly endsAtAsk: boolean;
  /** Called every few seconds with how often it was called. */
  readonly onProgress?: ((count: number) => void) | undefined;
}

/**
 * Waits until the run has ended, needs a person who cannot be asked here, or the time is over. The signal says that,
 * and the end of the connection.
 */
export function waitForRun<Answer>(
  parts: WaitParts,
  waiting: Waiting<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  const { events } = waiting.run;
  if (events === undefined) return new RunWait(parts, waiting).over(signal);
  const state = new McpRun(waiting.run);
  for (const event of events) state.take(event);
  return Promise.resolve(waiting.answer(state));
}

type Batch = EventBatch<readonly TranscriptEvent[]>;

const nothing = () => {};

class RunWait<Answer> {
  readonly #parts: WaitParts;
  readonly #waiting: Waiting<Answer>;
  readonly #state: McpRun;
  #end = nothing;
  /** The interaction about which the user is being asked. */
  #asked: string | undefined;
  #cancelTimer = nothing;
  #cancelProgress = nothing;
  #unsubscribe = nothing;
  #unsubscribeAsk = nothing;

  constructor(parts: WaitParts, waiting: Waiting<Answer>) {
    this.#parts = parts;
    this.#waiting = waiting;
    this.#state = new McpRun(waiting.run);
  }

  /** Thousands may wait: a promise costs less than the frame of a function, and these functions share a context. */
  over(signal: AbortSignal): Promise<Answer> {
    const end = () => this.#waiting.end();
    const take = (batch: Batch) => this.#take(batch);
    const close = (error: unknown) => {
      this.#close();
      if (error instanceof Error) throw error;
      return this.#waiting.answer(this.#state);
    };
    this.#begin(end);
    const { run } = this.#waiting;
    return this.#parts.follower.follow({ run, after: 0, signal, take }).then(close, close);
  }

  #begin(end: () => void): void {
    this.#end = end;
    const { left, forms, ms, onProgress } = this.#waiting;
    if (left !== undefined) this.#unsubscribe = this.#parts.fanout.subscribe(left, end);
    this.#limit(ms);
    if (forms?.asked !== undefined) this.#awaitAnswer(forms, forms.asked);
    if (onProgress !== undefined) this.#tell(onProgress, 1);
  }

  #take({ rendered, isCut, lastSeq }: Batch): Promise<boolean> | undefined {
    for (const event of rendered) this.#state.take(event);
    const isNow = !isCut && lastSeq >= this.#waiting.run.lastSeq;
    const isDone = this.#state.isOver || (isNow && this.#isStopped());
    return isDone ? Promise.resolve(false) : undefined;
  }

  #close(): void {
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
}
