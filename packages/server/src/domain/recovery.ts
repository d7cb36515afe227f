import { type Agent, matchesGlob } from './agent.ts';
import type { AnsweredQuestion, CallInDoubt } from './interaction.ts';
import {
  type LeasedRun,
  type Run,
  type RunError,
  type RunOutcome,
  outcomeOfLostWorker,
} from './run.ts';
import type { ToolCall } from './tool-call.ts';

/** What a framework can do after the loss of its worker (D-88). */
export type AfterLoss = 'repeat' | 'none';

/** A checkpoint that a leg can go on from. */
export interface RecoveryPoint {
  /** The last event that it covers. */
  readonly seq: number;
}

export interface LostLeg {
  readonly run: LeasedRun;
  /** Undefined when this server does not have the agent. */
  readonly agent: Agent | undefined;
  readonly afterLoss: AfterLoss;
  /** The last recovery point of this run. */
  readonly point: RecoveryPoint | undefined;
  readonly calls: readonly ToolCall[];
  /** Calls that a person allowed, by `ref`: one allow is for one execution (D-39). */
  readonly allowed: ReadonlySet<string>;
  /** Whether the session folder is the one that the lost leg had. */
  readonly hasSameFolder: boolean;
}

export type Recovery =
  | { readonly kind: 'end'; readonly outcome: RunOutcome }
  | {
      readonly kind: 'continue';
      /** Events after this one are discarded from the answer. */
      readonly keptSeq: number;
      readonly waitMs: number;
      readonly settled: readonly ToolCall[];
      /** Calls that a person has to be asked about; the run waits for the answers. */
      readonly inDoubt: readonly ToolCall[];
    };

const lossesTotalMax = 50;
/** Pause before the next attempt, by the number of losses in a row. */
const waitsMs = [0, 5_000, 30_000, 60_000] as const;
/** Repeating it does no harm: it replaces the whole file. */
const repeatableByNature: ReadonlySet<string> = new Set(['write_file']);

export const noteOfLeftCall =
  'It is not known whether this was carried out. Check before doing it again.';

/** D-88: decides what becomes of a run whose worker is gone. Never guesses: in any doubt the run ends or asks. */
export function decideRecovery(lost: LostLeg): Recovery {
  const { run, agent, afterLoss, point, calls } = lost;
  const isOff = agent === undefined || afterLoss === 'none' || agent.recovery.onLoss === 'fail';
  // A live runtime that waited for a person has lost its question with its process.
  if (isOff || run.status !== 'running') return ended(outcomeOfLostWorker(run));
  const { attempts, inDoubt: policy } = agent.recovery;
  const losses = run.losses + 1;
  if (losses >= attempts || run.lossesTotal + 1 >= lossesTotalMax) {
    return ended(failed('worker_lost', exhausted(run.lossesTotal + 1)));
  }
  const begun = calls.filter(({ status }) => status === 'begun');
  if (!lost.hasSameFolder && calls.some((call) => isUnsaved(call, run))) {
    return ended(outcomeOfLostWorker(run));
  }
  const doubtful = begun.filter((call) => !isRepeatable(call, lost));
  if (doubtful.length > 0 && policy === 'fail') {
    const names = doubtful.map(({ toolName }) => toolName).join(', ');
    return ended(failed('tool_in_doubt', inDoubtMessage(names)));
  }
  const repeated = begun.filter((call) => !doubtful.includes(call));
  return {
    kind: 'continue',
    keptSeq: point?.seq ?? 0,
    waitMs: waitsMs[Math.min(losses - 1, waitsMs.length - 1)] ?? 0,
    settled: [
      ...repeated.map((call): ToolCall => ({ ...call, status: 'again' })),
      ...(policy === 'tell' ? doubtful.map((call) => leave(call)) : []),
    ],
    inDoubt: policy === 'ask' ? doubtful : [],
  };
}

/** A change of the folder that no snapshot contains, because the leg that made it did not end. */
function isUnsaved(call: ToolCall, run: Run): boolean {
  return call.epoch === run.leaseEpoch && call.touches !== 'outside';
}

function isRepeatable(call: ToolCall, { agent, allowed }: LostLeg): boolean {
  if (allowed.has(call.ref)) return false;
  if (repeatableByNature.has(call.toolName)) return true;
  return agent?.recovery.repeatableTools.some((glob) => matchesGlob(glob, call.toolName)) === true;
}

function leave(call: ToolCall, note = noteOfLeftCall): ToolCall {
  return { ...call, status: 'left', note };
}

const options = {
  done: 'It was done',
  again: 'It was not done: do it now',
  unknown: 'I do not know: leave it',
} as const;

/**
 * D-84: the question about a call in doubt. It is a question and not a permission, so that a client that allows every
 * permission repeats nothing.
 */
export function questionAboutCall(
  call: ToolCall,
  { isRepeated }: { readonly isRepeated: boolean },
) {
  const about: CallInDoubt = {
    kind: 'call_in_doubt',
    toolName: call.toolName,
    toolInput: call.input,
    begunAt: call.begunAt,
  };
  return {
    type: 'user_question',
    ref: isRepeated ? repeatedRequestId(call) : requestIdAbout(call),
    question: `The server stopped while ${call.toolName} was running. Was it carried out?`,
    options: Object.values(options).map((label) => ({ label })),
    about,
  } as const;
}

/** Name of the first question about a call. */
export function requestIdAbout({ ref }: Pick<ToolCall, 'ref'>): string {
  return `in-doubt:${ref}`;
}

/** Name of a later question: the call was repeated, and is in doubt once more. */
function repeatedRequestId(call: ToolCall): string {
  return `${requestIdAbout(call)}@${call.epoch}`;
}

/** Whether the interaction asks about this call. */
export function asksAbout({ requestId }: { readonly requestId: string }, call: ToolCall): boolean {
  return requestId === requestIdAbout(call) || requestId === repeatedRequestId(call);
}

/** Only the exact second option repeats the call; any other answer is for the model, in the person's words. */
export function settleCall(call: ToolCall, { answer }: AnsweredQuestion): ToolCall {
  if ('declined' in answer) return leave(call, answer.message ?? noteOfLeftCall);
  const text = typeof answer.answer === 'string' ? answer.answer : answer.answer.join(', ');
  switch (text) {
    case options.again:
      return { ...call, status: 'again' };
    case options.done:
      return leave(call, 'A person says that it was carried out.');
    case options.unknown:
      return leave(call);
    default:
      return leave(call, text);
  }
}

function ended(outcome: RunOutcome): Recovery {
  return { kind: 'end', outcome };
}

function failed(code: RunError['code'], message: string): RunOutcome {
  return { status: 'failed', code, message };
}

function exhausted(losses: number): string {
  return `The run lost its worker ${losses} times and got no further in between.`;
}

function inDoubtMessage(names: string): string {
  return `The process that executed this run ended during ${names}; it is not known whether it was carried out.`;
}
