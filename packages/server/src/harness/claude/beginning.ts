import type { LegContext, LegInput } from '../../ports/harness.ts';
import type { SettledRequests } from '../parked-requests.ts';
import { type ClaudeState, type Deferred, type Progress, stateOf } from './state.ts';

/** The start of a leg. */
export interface Beginning {
  readonly input: LegInput;
  /** The last checkpoint of the session, from any of its runs. */
  readonly before: ClaudeState | undefined;
  /** The last recovery point of this run; undefined if it has none. */
  readonly progress: Progress | undefined;
  /** The call that an earlier leg of this run deferred. */
  readonly deferred: Deferred | undefined;
  /** The progress of the run; undefined when it starts. */
  readonly settled: SettledRequests | undefined;
  /** Whether Claude's session begins in this run: then it holds nothing that the run does not know. */
  readonly isNewSession: boolean;
  /** Whether Claude will first repeat a call that an earlier run deferred. */
  readonly mustSettle: boolean;
  /** Whether the checkpoint is of a framework that the agent no longer uses: the run may have begun with it. */
  readonly isForeign: boolean;
}

export function beginningOf(
  input: LegInput,
  { state, runId }: Pick<LegContext, 'state' | 'runId'>,
): Beginning {
  const before = stateOf(state);
  const settled = settledBy(input);
  const known = before?.progress;
  // Servers of the release before wrote no run.
  const isOwn = settled !== undefined && (known?.run ?? runId) === runId;
  const progress = isOwn ? known : undefined;
  const deferred = before?.deferred ?? undefined;
  const isOwnDeferred = settled !== undefined && deferred?.run === runId;
  return {
    input,
    before,
    progress,
    deferred: isOwnDeferred ? deferred : undefined,
    settled,
    isNewSession: before === undefined || progress?.isNewSession === true,
    mustSettle: deferred !== undefined && progress === undefined && !isOwnDeferred,
    isForeign: input.kind === 'continue' && before === undefined && state !== undefined,
  };
}

/** The progress of the run in a leg that does not start with a prompt. */
function settledBy(input: LegInput): SettledRequests | undefined {
  switch (input.kind) {
    case 'prompt':
      return undefined;
    case 'resume':
      return { answers: input.answers, calls: new Map() };
    case 'continue':
      return input;
    default:
      return input satisfies never;
  }
}
