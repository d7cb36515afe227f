import { ConnectionError, type ConvokeError, isTemporary } from '../errors.ts';
import type { RunRecord } from '../generated/records.ts';
import { type RetryPolicy, backoffMs, pauseMs } from '../transport/retry.ts';
import { pause } from '../transport/waiting.ts';
import type { EventStream } from './event-stream.ts';
import { type RunEvent, isAfter, isTerminalEvent } from './run-event.ts';

/**
 * Follows a run over as many connections as necessary (spec §6 rules 1 to 5). The state between connections
 * is the cursor: the id of the last delivered event.
 *
 * - Connect with the cursor as `Last-Event-ID`. An error that a retry cannot fix (wrong token, unknown run or
 *   event) is thrown. Any other error counts as a failure.
 * - Stream: drop events at or before the cursor, which were already delivered. Deliver a terminal event and
 *   return. Otherwise the stream is closed, breaks, times out, or contains something that is not an event;
 *   the last case counts as a failure.
 * - A 204 means that the cursor is the last event of an ended run: return.
 * - Check: a closed stream does not mean that the run has ended, so read the run. If it has not ended, connect
 *   again. If it has, return once the cursor is at its last event or a stream closes without more events.
 * - Wait before each connection, longer after each connection without new events.
 *
 * Failures without new events in between are tolerated for `patienceMs`; then the last one is thrown. A run
 * that waits for hours while every connection breaks after a minute is not a failure: the run was read.
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
      if (progress.isAtEnd || isOver(await log.read(signal), progress)) return;
    } catch (error) {
      if (!isTemporary(error) || signal.aborted) throw error;
      failure = error;
    }
    noteFailure(log, { progress, failure, patienceMs });
    await waitToReconnect(log, { progress, failure, signal, hasNew: progress.cursor !== before });
  }
}

/** Access to the log of a run. */
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
  /** Number of consecutive short connections without new events. */
  fruitless: number;
  /** Of these, the ones that the server closed after the run had ended. */
  finalEmpty: number;
  /** Time of the first of consecutive failures. */
  failingSince: number | undefined;
  openedAt: number;
  /** The server closed the last stream. */
  wasClean: boolean;
  /** The server answered that nothing comes after the cursor. */
  isAtEnd: boolean;
  hasEnded: boolean;
  retryMs: number;
}

const nothingYet = {
  fruitless: 0,
  finalEmpty: 0,
  failingSince: undefined,
  openedAt: 0,
  wasClean: false,
  isAtEnd: false,
  hasEnded: false,
  retryMs: 0,
};

/** Number of attempts to get a last event that the record names but the stream does not deliver. */
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
    progress.isAtEnd = stream.isAtEnd && progress.cursor !== undefined;
    if (progress.isAtEnd) return;
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

/** Whether the run has ended and all its events were delivered. */
function isOver({ status, last_event_id: last }: RunRecord, progress: Progress): boolean {
  const isTerminal = status === 'completed' || status === 'failed' || status === 'cancelled';
  if (!isTerminal) {
    progress.failingSince = undefined;
    return false;
  }
  if (last !== undefined && last === progress.cursor) return true;
  // The previous stream may have been opened before the run ended: only the next one is final.
  if (progress.hasEnded && progress.wasClean) progress.finalEmpty += 1;
  progress.hasEnded = true;
  return progress.finalEmpty >= (last === undefined ? 1 : finalEmptyMax);
}

interface Round {
  readonly progress: Progress;
  readonly failure: ConvokeError | undefined;
  readonly patienceMs: number;
}

/** Throws when following has failed for too long. */
function noteFailure({ runId }: RunLog, { progress, failure, patienceMs }: Round): void {
  // After the run has ended, a stream that keeps breaking is a failure.
  if (failure === undefined && (!progress.hasEnded || progress.wasClean)) return;
  progress.failingSince ??= performance.now();
  if (performance.now() - progress.failingSince < patienceMs) return;
  throw (
    failure ??
    new ConnectionError(`The event stream of ${runId} keeps breaking.`, {
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
