import { ConnectionError, type ConvokeError, isTemporary } from '../errors.ts';
import type { RunRecord } from '../generated/records.ts';
import { type RetryPolicy, backoffMs, pauseMs } from '../transport/retry.ts';
import { pause } from '../transport/waiting.ts';
import type { EventStream } from './event-stream.ts';
import { type RunEvent, isAfter, isTerminalEvent } from './run-event.ts';

/**
 * Following a run, over however many connections it takes (spec §6 rules 1 to 5). What is known between
 * them is the cursor: the id of the last event that was delivered.
 *
 * - Connecting: with the cursor as `Last-Event-ID`. An answer that another attempt cannot better (wrong
 *   token, no such run, no such event) ends the following with that error. Anything else is a failure.
 * - Streaming: an event at or before the cursor was delivered already and is dropped. A terminal event is
 *   delivered and is the end. Otherwise the stream ends in order, is cut, falls silent, or holds
 *   something that is not an event; the last of these is a failure.
 * - Checking: a stream that ended says nothing about the run, so the run is read. While it goes on, the
 *   next connection continues. Once it has ended, so does the following, as soon as the cursor stands at
 *   its last event, or the service says, in order, that it has no more.
 * - Waiting: before each connection, longer each time nothing new came of the last one.
 *
 * Failures without anything new in between are borne for `patienceMs`; then the following ends with the
 * last of them. A run that waits for a person for hours while every connection is cut after a minute is
 * no failure: the run was read.
 */
export async function* followLog(
  log: RunLog,
  { after, silenceMs, patienceMs, signal }: FollowLogOptions,
): AsyncGenerator<RunEvent, void, undefined> {
  const progress: Progress = { cursor: after === '' ? undefined : after, ...nothingYet };
  for (;;) {
    let failure: ConvokeError | undefined;
    const before = progress.cursor;
    try {
      for await (const event of oneStream(log, progress, { silenceMs, signal })) {
        yield event;
        if (isTerminalEvent(event)) return;
        signal.throwIfAborted();
      }
      if (isOver(await log.read(signal), progress)) return;
    } catch (error) {
      if (!isTemporary(error) || signal.aborted) throw error;
      failure = error;
    }
    noteFailure(log, { progress, failure, patienceMs });
    await waitToReconnect(log, { progress, failure, signal, hasNew: progress.cursor !== before });
  }
}

/** What following needs of a run. */
export interface RunLog {
  readonly runId: string;
  readonly retry: RetryPolicy;
  connect(after: string | undefined, signal: AbortSignal): Promise<EventStream>;
  read(signal: AbortSignal): Promise<RunRecord>;
}

export interface FollowLogOptions {
  readonly after: string | undefined;
  readonly silenceMs: number;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

interface Progress {
  cursor: string | undefined;
  /** Connections in a row that brought nothing new and did not last. */
  fruitless: number;
  /** Of these, the ones that ended in order after the run had ended. */
  finalEmpty: number;
  /** Since when it only fails. */
  failingSince: number | undefined;
  openedAt: number;
  /** The last stream ended in order. */
  wasClean: boolean;
  hasEnded: boolean;
  retryMs: number;
}

const nothingYet = {
  fruitless: 0,
  finalEmpty: 0,
  failingSince: undefined,
  openedAt: 0,
  wasClean: false,
  hasEnded: false,
  retryMs: 0,
};

/** A run whose record names a later event than the service has to give is asked for it this often. */
const finalEmptyMax = 3;

async function* oneStream(
  log: RunLog,
  progress: Progress,
  { silenceMs, signal }: Pick<FollowLogOptions, 'silenceMs' | 'signal'>,
): AsyncGenerator<RunEvent, void, undefined> {
  progress.wasClean = false;
  progress.openedAt = performance.now();
  const stream = await log.connect(progress.cursor, signal);
  try {
    for await (const event of stream.events(log.runId, silenceMs)) {
      if (!isAfter(event.id, progress.cursor)) continue;
      progress.cursor = event.id;
      progress.failingSince = undefined;
      yield event;
    }
    progress.wasClean = stream.isClean;
  } finally {
    progress.retryMs = stream.retryMs ?? 0;
    stream.close();
  }
}

/** The run was read: has everything been delivered? */
function isOver({ status, last_event_id: last }: RunRecord, progress: Progress): boolean {
  const isTerminal = status === 'completed' || status === 'failed' || status === 'cancelled';
  if (!isTerminal) {
    progress.failingSince = undefined;
    return false;
  }
  if (last !== undefined && last === progress.cursor) return true;
  // The stream before this may have been opened while the run still went on: only the next one is final.
  if (progress.hasEnded && progress.wasClean) progress.finalEmpty += 1;
  progress.hasEnded = true;
  return progress.finalEmpty >= (last === undefined ? 1 : finalEmptyMax);
}

interface Round {
  readonly progress: Progress;
  readonly failure: ConvokeError | undefined;
  readonly patienceMs: number;
}

/** Ends the following when it failed for too long. */
function noteFailure({ runId }: RunLog, { progress, failure, patienceMs }: Round): void {
  // A run that has ended has nothing to wait for: a stream that is cut again and again is a failure then.
  if (failure === undefined && (!progress.hasEnded || progress.wasClean)) return;
  progress.failingSince ??= performance.now();
  if (performance.now() - progress.failingSince < patienceMs) return;
  throw (
    failure ??
    new ConnectionError(`The events of ${runId} are cut off again and again.`, {
      code: 'stream_broken',
    })
  );
}

interface Reconnect {
  readonly progress: Progress;
  readonly failure: ConvokeError | undefined;
  readonly signal: AbortSignal;
  readonly hasNew: boolean;
}

async function waitToReconnect(
  { retry }: RunLog,
  { progress, failure, signal, hasNew }: Reconnect,
): Promise<void> {
  const hasLasted = performance.now() - progress.openedAt > retry.maxMs;
  progress.fruitless = hasNew || hasLasted ? 0 : progress.fruitless + 1;
  if (hasNew) progress.finalEmpty = 0;
  const baseMs = progress.fruitless > 1 ? Math.max(retry.baseMs, progress.retryMs) : retry.baseMs;
  const policy = { ...retry, baseMs };
  const rounds = Math.max(0, progress.fruitless - 1);
  if (failure === undefined) return pause(backoffMs(policy, rounds), signal);
  const ms = pauseMs(failure, policy, rounds);
  if (ms === undefined) throw failure;
  return pause(ms, signal);
}
