import type { Agent } from '../agent.ts';
import { matchesGlob } from '../rules/glob.ts';
import { type Json, canonicalJson } from '../json.ts';
import { leaveCall } from './call-in-doubt.ts';
import type { InterruptionReason, RunError } from './run-parts.ts';
import type { LeasedRun, OpenRun, Run, RunOutcome } from './run.ts';
import type { ToolCall } from './tool-call.ts';

/**
 * How a framework continues after the loss of its worker (D-88, D-89).
 *
 * - `repeat`: continue from the last recovery point. Every call passes the ledger, so a leg without one starts again.
 * - `point`: continue from the last recovery point only: the work of a leg before its first one is lost.
 * - `continue`: the agent keeps its own record and continues on its own, so nothing that it said is discarded. The
 *   record is on the machine of the lost worker.
 * - `session`: as `repeat`, in the agent's own session, whose record is on the machine of the lost worker.
 */
export type AfterLoss = 'repeat' | 'point' | 'continue' | 'session' | 'none';

/** A checkpoint that a leg can continue from. */
export interface RecoveryPoint {
  /** The last event that it covers. */
  readonly seq: number;
}

export interface LostLeg {
  readonly run: LostRunFacts;
  /** `drained`: its server cut it. `worker_lost`: its server is gone. */
  readonly reason: InterruptionReason;
  /** Undefined when this server does not have the agent. */
  readonly agent: Agent | undefined;
  readonly afterLoss: AfterLoss;
  /** The last recovery point of this run. */
  readonly point: RecoveryPoint | undefined;
  readonly calls: readonly ToolCall[];
  /** Calls that a person allowed: one allow is for one execution (D-39). */
  readonly allowed: readonly AllowedCall[];
  /** Whether another server may have the agent, and is given the time to take the run. */
  readonly isLeftToOthers: boolean;
  /** Whether any worker that continues the run has the session folder that the lost leg had. */
  readonly hasSameFolder: boolean;
  /** Whether the next leg continues after the text that the recovery point does not cover. */
  readonly keepsCutText: boolean;
}

/** A call that a person allowed, with the approved input. */
export interface AllowedCall {
  readonly ref: string;
  readonly toolName: string;
  readonly input: Json;
}

/** What decides about a run whose leg was lost. */
export type LostRunFacts = Pick<
  LeasedRun,
  'status' | 'losses' | 'lossesTotal' | 'lastSeq' | 'lastMachine' | 'savedEpoch'
>;

export type Recovery =
  /** This server does not have the agent: another one decides. */
  | { readonly kind: 'leave' }
  | {
      readonly kind: 'end';
      readonly outcome: RunOutcome;
      /** Whether it ends because its attempts are used up. */
      readonly isExhausted: boolean;
    }
  | {
      readonly kind: 'continue';
      /** Events after this one are discarded from the answer. */
      readonly keptSeq: number;
      readonly waitMs: number;
      /** Whether the run has to wait for the machine of the lost leg: its folder has changes that no archive has. */
      readonly isHeld: boolean;
      readonly settled: readonly ToolCall[];
      /** Calls that a person has to be asked about; the run waits for the answers. */
      readonly inDoubt: readonly ToolCall[];
    };

const lossesTotalMax = 50;
/** Pause before the next attempt, by the number of losses in a row. */
const waitsMs = [0, 5_000, 30_000, 60_000] as const;
/** Repeating it does no harm: it replaces the whole file. */
const repeatableByNature: ReadonlySet<string> = new Set(['write_file']);

/**
 * D-88: decides what happens to a run whose worker is gone, or whose leg was cut. Never guesses: in any doubt the run
 * ends or asks.
 */
export function decideRecovery(lost: LostLeg): Recovery {
  const { run, reason, agent, afterLoss, point, calls } = lost;
  const isOff = agent === undefined || afterLoss === 'none' || agent.recovery.onLoss === 'fail';
  if (agent === undefined && lost.isLeftToOthers && run.status !== 'cancelling') {
    return { kind: 'leave' };
  }
  // A program that asked and did not end has lost its question with its process. Others know it: the answer continues
  // them.
  const isQuestionLost = run.status === 'waiting' && afterLoss === 'point';
  if (isOff || isQuestionLost || run.status === 'cancelling') {
    return ended(outcomeOfLostWorker(run, reason));
  }
  const mayStartAgain = afterLoss === 'repeat' || (afterLoss === 'session' && calls.length === 0);
  const hasNoStart = point === undefined && !mayStartAgain;
  const hasOwnRecord = afterLoss === 'continue' || afterLoss === 'session';
  const isElsewhere = hasOwnRecord && !lost.hasSameFolder;
  if (hasNoStart || isElsewhere) return ended(outcomeOfLostWorker(run, reason));
  const { attempts, inDoubt: policy } = agent.recovery;
  const losses = run.losses + 1;
  if (losses >= attempts || run.lossesTotal + 1 >= lossesTotalMax) {
    const outcome = failed('worker_lost', exhausted(run.lossesTotal + 1));
    return { ...ended(outcome), isExhausted: true };
  }
  const begun = calls.filter(({ status }) => status === 'begun');
  const isHeld = !lost.hasSameFolder && unsavedCalls(calls, run).length > 0;
  if (isHeld && run.lastMachine === null) return ended(outcomeOfLostWorker(run, reason));
  const doubtful = begun.filter((call) => !isRepeatable(call, lost));
  if (doubtful.length > 0 && policy === 'fail') {
    const names = doubtful.map(({ toolName }) => toolName).join(', ');
    return ended(failed('tool_in_doubt', inDoubtMessage(names)));
  }
  const repeated = begun.filter((call) => !doubtful.includes(call));
  return {
    kind: 'continue',
    keptSeq: keptSeqOf(lost),
    isHeld,
    waitMs: waitsMs[Math.min(losses - 1, waitsMs.length - 1)] ?? 0,
    settled: [
      ...repeated.map((call): ToolCall => ({ ...call, status: 'again' })),
      ...(policy === 'tell' ? doubtful.map((call) => leaveCall(call)) : []),
    ],
    inDoubt: policy === 'ask' ? doubtful : [],
  };
}

/** The last event whose text stays in the answer. */
export function keptSeqOf({
  run,
  afterLoss,
  point,
  keepsCutText,
}: Pick<LostLeg, 'afterLoss' | 'point' | 'keepsCutText'> & {
  readonly run: Pick<Run, 'lastSeq'>;
}): number {
  return afterLoss === 'continue' || keepsCutText ? run.lastSeq : (point?.seq ?? 0);
}

/** Calls whose changes of the folder no archive has, because the legs that made them did not end. */
export function unsavedCalls(calls: readonly ToolCall[], run: Pick<Run, 'savedEpoch'>): ToolCall[] {
  return calls.filter(
    ({ epoch, touches, isSaved }) =>
      epoch > run.savedEpoch && touches !== 'outside' && isSaved !== true,
  );
}

type AskedCall = Pick<ToolCall, 'ref' | 'toolName' | 'input' | 'isRepeatable'>;

/** Whether a call whose result was lost is carried out again without a question. */
export function isRepeatable(
  call: AskedCall,
  { agent, allowed }: Pick<LostLeg, 'agent' | 'allowed'>,
): boolean {
  if (allowed.some((each) => isOf(each, call))) return false;
  if (call.isRepeatable === true || repeatableByNature.has(call.toolName)) return true;
  return agent?.recovery.repeatableTools.some((glob) => matchesGlob(glob, call.toolName)) === true;
}

/** A framework that asks first and calls later may use two refs: tool and approved input tell as well (D-176). */
function isOf({ ref, toolName, input }: AllowedCall, call: AskedCall): boolean {
  if (ref === call.ref) return true;
  return toolName === call.toolName && canonicalJson(input) === canonicalJson(call.input);
}

function ended(outcome: RunOutcome): Extract<Recovery, { kind: 'end' }> {
  return { kind: 'end', outcome, isExhausted: false };
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

/** D-26: the outcome of a run whose worker is gone. A recorded cancel is honoured, anything else is an error. */
export function outcomeOfLostWorker(
  run: Pick<OpenRun, 'status'>,
  reason: InterruptionReason,
): RunOutcome {
  if (run.status === 'cancelling') return { status: 'cancelled' };
  const message =
    reason === 'drained'
      ? 'The server was stopped while this run was executing.'
      : 'The process that executed this run ended before the run did.';
  return { status: 'failed', code: 'worker_lost', message };
}
