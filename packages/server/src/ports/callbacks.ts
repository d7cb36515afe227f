import type { RunId } from '@convoke/contract';
import type { Callback } from '../domain/run/callback.ts';

/** The URLs by which a stranger sends one message to a run (D-910). They are computed, and not stored. */
export interface Callbacks {
  /** Makes the callback URLs of a run's legs. */
  ofRun(run: RunId): CallbackMaker;
  /** What a token opens; undefined for one that no leg of the run has made. Reads nothing. */
  open(token: string): Callback | undefined;
}

export interface CallbackMaker {
  /** How the run's URLs begin. */
  readonly url: string;
  /** Makes URLs of this run, and of no other. */
  readonly key: string;
}
