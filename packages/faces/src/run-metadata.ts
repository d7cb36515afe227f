import type { EndItem, RunTranscript } from './transcript.ts';

/** A message's data about its run, for a product that continues with the API (D-190). */
export interface RunMetadata {
  readonly session_id: string;
  readonly run_id: string;
  readonly status: 'running' | 'waiting' | 'completed' | 'cancelled' | 'failed';
  /** Keys of the interactions that wait for an answer. */
  readonly waiting: readonly string[];
  /** The newest event that the message shows: a continuation starts after it. */
  readonly last_event_id?: string;
  /** Present where only the text of the run is shown. */
  readonly truncated?: true;
  readonly error_code?: string;
  readonly error_message?: string;
  /** The usage of an ended run, as in its record. */
  readonly usage?: RunUsage;
}

export interface RunUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost?: number | undefined;
  readonly currency?: string | undefined;
  readonly is_partial?: boolean | undefined;
}

interface StandingOptions {
  readonly lastId: string | undefined;
  readonly end: EndItem | undefined;
  /** The usage of the run; read at its end, because no event has it. */
  readonly usage: (() => RunUsage | undefined) | undefined;
}

/** The state of a run in the metadata. */
export function standingOf(
  { waiting: asks }: Pick<RunTranscript, 'waiting'>,
  { lastId, end, usage: readUsage }: StandingOptions,
): Omit<RunMetadata, 'session_id' | 'run_id' | 'truncated'> {
  const waiting = asks.map(({ key }) => key);
  const usage = end && readUsage?.();
  return {
    status: end?.outcome ?? (waiting.length > 0 ? 'waiting' : 'running'),
    waiting,
    ...(lastId !== undefined && { last_event_id: lastId }),
    ...(end?.code !== undefined && { error_code: end.code }),
    ...(end?.message !== undefined && { error_message: end.message }),
    ...(usage !== undefined && { usage }),
  };
}
