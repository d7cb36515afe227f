import type { RunErrorCode, RunId, SessionId, waitKinds } from '@convoke/contract';
import { isoTime } from '../iso-time.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Ceiling } from '../usage/budget.ts';
import type { RunEventDraft } from './run-event.ts';
import type { EndedRun } from './run.ts';
import type { TenantScope } from '../scope.ts';

/**
 * What a run waits for beside a person: a time, a message from outside, or a run that it has called (D-850, D-920). It
 * is a row, so a run that waits has no process, no lease and no slot. A message that comes before its run asks for it
 * is kept as such a row, too.
 *
 * - `open`: the run has asked, and nothing has come.
 * - `settled`: the time or the message has come, the called run has ended or was not started, or the time for it is
 *   over. A row without a `ref` is a message that is kept: the next request of its name takes it. `appliedAt` is set
 *   when a leg gets it.
 * - `cancelled`: its run ended.
 */
export interface Wait extends TenantScope {
  readonly id: string;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** The name by which the agent finds it again in every leg; null for a message that is kept. */
  readonly ref: string | null;
  readonly kind: WaitKind;
  readonly name: string;
  readonly status: 'open' | 'settled' | 'cancelled';
  /** Null for a message that is kept, and for a called run that may take any time. */
  readonly dueAt: number | null;
  /** The run that it has called; null for others, and for one that was not started. */
  readonly childSessionId: SessionId | null;
  readonly childRunId: RunId | null;
  /** Its place among the waits and answers of the run, from 1, in the order in which they came. */
  readonly number: number | null;
  readonly result: WaitResult | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
  readonly appliedAt: number | null;
}

export type WaitKind = (typeof waitKinds)[number];

export type WaitResult =
  /** Of a called run that completed or was cancelled, its row has the rest. */
  | { readonly outcome: 'fired' | 'timed_out' | 'completed' | 'cancelled' }
  | { readonly outcome: 'received'; readonly data: Json }
  | { readonly outcome: 'failed'; readonly code: RunErrorCode; readonly message: string }
  /** Nothing was started: a rule or a person did not allow it, or it cannot be. */
  | { readonly outcome: 'refused'; readonly code: 'denied' | 'refused'; readonly message: string };

/** When it is over at the latest: after this many milliseconds, or at this time. */
export type Due = { readonly inMs: number } | { readonly at: number };

export interface WaitRequest {
  readonly ref: string;
  readonly kind: Exclude<WaitKind, 'run'>;
  readonly name: string;
  readonly due: Due;
}

/** A run of the agent `name` is to be started, and its end to be waited for. */
export interface CallRequest {
  readonly ref: string;
  readonly kind: 'run';
  readonly name: string;
  readonly input: JsonObject;
  readonly due?: Due;
  /** Lowers the ceiling of the called agent. */
  readonly ceiling?: Ceiling;
}

type WaitPlace = Pick<Wait, 'id' | 'organizationId' | 'tenantId' | 'sessionId' | 'runId'>;

const unsettled = {
  number: null,
  result: null,
  settledAt: null,
  appliedAt: null,
} as const;

const uncalled = { childSessionId: null, childRunId: null } as const;

/** The time is counted from the transaction that stores it, by the database's clock. */
export function openWait(place: WaitPlace, { due, ...request }: WaitRequest, now: number): Wait {
  const dueAt = timeOf(due, now);
  return { ...place, ...request, ...unsettled, ...uncalled, status: 'open', dueAt, createdAt: now };
}

function timeOf(due: Due, now: number): number {
  return 'at' in due ? due.at : now + due.inMs;
}

/** The call of a run that is started in the same transaction; of none where it is refused. */
export function openCall(
  place: WaitPlace,
  { ref, kind, name, due }: CallRequest,
  {
    called,
    now,
  }: { readonly called: { id: RunId; sessionId: SessionId } | undefined; readonly now: number },
): Wait {
  return {
    ...place,
    ...unsettled,
    ref,
    kind,
    name,
    status: 'open',
    dueAt: due === undefined ? null : timeOf(due, now),
    childSessionId: called?.sessionId ?? null,
    childRunId: called?.id ?? null,
    createdAt: now,
  };
}

/** How a called run has ended, for its caller. */
export function resultOfRun(run: EndedRun): WaitResult {
  return run.status === 'failed' ? { outcome: 'failed', ...run.error } : { outcome: run.status };
}

/** A message that nothing asks for yet. */
export function keptMessage(
  place: WaitPlace,
  { name, data }: { readonly name: string; readonly data: Json },
  now: number,
): Wait {
  const result = { outcome: 'received', data } as const;
  const none = { ...unsettled, ...uncalled, ref: null, dueAt: null };
  return { ...place, ...none, kind: 'signal', name, status: 'settled', result, createdAt: now };
}

interface Settling {
  readonly number: number;
  readonly now: number;
}

export function settleWait(wait: Wait, result: WaitResult, { number, now }: Settling): Wait {
  return { ...wait, status: 'settled', result, number, settledAt: now };
}

/** The run asks for a message that came before. */
export function takeKept(kept: Wait, ref: string, { number, now }: Settling): Wait {
  return { ...kept, ref, number, settledAt: now };
}

/** Its time is over. */
export function resultAtEnd({ kind }: Pick<Wait, 'kind'>): WaitResult {
  return { outcome: kind === 'timer' ? 'fired' : 'timed_out' };
}

export function isDue({ status, dueAt }: Pick<Wait, 'status' | 'dueAt'>, now: number): boolean {
  return status === 'open' && dueAt !== null && dueAt <= now;
}

export function startedEvent(wait: Wait): RunEventDraft {
  const { id, kind, name, dueAt, childRunId, childSessionId } = wait;
  const until = dueAt === null ? {} : { until: isoTime(dueAt) };
  const called =
    childRunId === null || childSessionId === null
      ? {}
      : { child_run_id: childRunId, child_session_id: childSessionId };
  return { type: 'wait_started', data: { wait_id: id, kind, name, ...until, ...called } };
}

/** Without the data of a message: it may be a secret of its sender (D-852). */
export function endedEvent({ id, kind, name, result }: Wait): RunEventDraft {
  const outcome = result?.outcome ?? 'fired';
  const why =
    result?.outcome === 'failed' || result?.outcome === 'refused'
      ? { error_code: result.code, message: result.message }
      : {};
  return { type: 'wait_ended', data: { wait_id: id, kind, name, outcome, ...why } };
}

/** A wait as a leg gets it. */
export type KnownWait =
  | { readonly state: 'open'; readonly kind: WaitKind }
  | {
      readonly state: 'settled';
      readonly kind: WaitKind;
      readonly number: number;
      readonly result: WaitResult;
      /** The run that was called. */
      readonly called?: CalledRun;
    };

/** A run that was called, with its answer if it completed. */
export interface CalledRun {
  readonly id: RunId;
  readonly sessionId: SessionId;
  readonly text?: string;
  /** Whether the text is only the beginning of the answer. */
  readonly isCut?: boolean;
  readonly output?: Json;
}

/** Characters of a called run's answer that its caller gets: it gets those of all its calls with every leg. */
const textMaxCharacters = 256 * 1024;

/** The waits that the agent has asked for, by `ref`; `ended` are the called runs among them that have completed. */
export function knownWaits(
  waits: readonly Wait[],
  ended: readonly CompletedRun[] = [],
): Map<string, KnownWait> {
  const completed = new Map(ended.map((run) => [run.id, run]));
  return new Map(
    waits.flatMap((wait): [string, KnownWait][] => {
      const { ref, kind, status, number, result, childRunId: id, childSessionId } = wait;
      if (ref === null || status === 'cancelled') return [];
      if (status === 'open') return [[ref, { state: 'open', kind }]];
      if (number === null || result === null) return [];
      const settled = { state: 'settled', kind, number, result } as const;
      if (id === null || childSessionId === null) return [[ref, settled]];
      const called = { id, sessionId: childSessionId, ...answerOf(completed.get(id)) };
      return [[ref, { ...settled, called }]];
    }),
  );
}

/** As much of a called run as its caller reads. */
export type CompletedRun = Pick<EndedRun, 'id' | 'outputText' | 'output'>;

function answerOf(run: CompletedRun | undefined): Pick<CalledRun, 'text' | 'isCut' | 'output'> {
  if (run === undefined) return {};
  const { outputText, output } = run;
  const text = outputText ?? '';
  const isCut = text.length > textMaxCharacters;
  return {
    text: isCut ? text.slice(0, textMaxCharacters).toWellFormed() : text,
    ...(isCut && { isCut }),
    ...(output !== null && { output: JSON.parse(output) as Json }),
  };
}
