import type { RunId } from '@convoke/contract';
import type { Wait } from '../../../domain/run/wait.ts';

export interface WaitRepository {
  insert(wait: Wait): Promise<void>;
  find(id: string): Promise<Wait | undefined>;
  findByRef(runId: RunId, ref: string): Promise<Wait | undefined>;
  /** All that the run has asked for. */
  ofRun(runId: RunId): Promise<Wait[]>;
  /** Open ones of the run, oldest first. */
  open(runId: RunId, limit: number): Promise<Wait[]>;
  /** The oldest open request of the run for a message of this name. */
  openSignal(runId: RunId, name: string): Promise<Wait | undefined>;
  /** The oldest message of this name that nothing has asked for. */
  kept(runId: RunId, name: string): Promise<Wait | undefined>;
  /** The messages that the run has got. */
  messages(runId: RunId): Promise<MessageCount>;
  /** The number of the next wait of the run that is settled: answers count, too. The run must be locked. */
  nextNumber(runId: RunId): Promise<number>;
  /**
   * Writes the end of an open wait, or the request for a kept message; false, and no change, where another was first.
   */
  settle(wait: Wait): Promise<boolean>;
  /** Whether the run has asked for any. */
  any(runId: RunId): Promise<boolean>;
  /** Whether one is settled that no leg has got. */
  hasUnapplied(runId: RunId): Promise<boolean>;
  markApplied(runId: RunId, now: number): Promise<void>;
  /** The runs that the open ones have called are doomed from then on. */
  cancelOpen(runId: RunId): Promise<void>;
  /** The wait of the run that called this one. */
  ofCalled(runId: RunId): Promise<Wait | undefined>;
  /** How many runs the run has called. */
  countCalls(runId: RunId): Promise<number>;
  /** Those whose called run is to be cancelled, the oldest first. */
  doomed(limit: number): Promise<Wait[]>;
  /** The run that it has called, if it has, is to be cancelled. */
  doom(id: string): Promise<void>;
  /** The called run has been cancelled, or has ended. */
  forgetDoom(id: string): Promise<void>;
  /** Deletes those of old runs. Returns how many. */
  forget(old: { endedBefore: number; until: string }, limit: number): Promise<number>;
  /** Open ones whose time is over, oldest first. */
  due(now: number, limit: number): Promise<Wait[]>;
}

export interface MessageCount {
  /** Those that nothing has asked for. */
  readonly kept: number;
  /** Characters of all of them together, as JSON text. */
  readonly characters: number;
}
