import type { RunId, SessionId } from '@convoke/contract';
import { isoTime } from '../iso-time.ts';
import type { Json } from '../json.ts';
import type { RunEventDraft } from './run-event.ts';
import type { TenantScope } from '../scope.ts';

/**
 * What a run waits for beside a person: a time, or a message from outside (D-850). It is a row, so a run that waits has no
 * process, no lease and no slot. A message that comes before its run asks for it is kept as such a row, too.
 *
 * - `open`: the run has asked, and nothing has come.
 * - `settled`: the time or the message has come, or the time for the message is over. A row without a `ref` is a message
 *   that is kept: the next request of its name takes it. `appliedAt` is set when a leg gets it.
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
  /** Null for a message that is kept. */
  readonly dueAt: number | null;
  /** Its place among the waits and answers of the run, from 1, in the order in which they came. */
  readonly number: number | null;
  readonly result: WaitResult | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
  readonly appliedAt: number | null;
}

export type WaitKind = 'timer' | 'signal';

export type WaitResult =
  | { readonly outcome: 'fired' | 'timed_out' }
  | { readonly outcome: 'received'; readonly data: Json };

export interface WaitRequest {
  readonly ref: string;
  readonly kind: WaitKind;
  readonly name: string;
  /** When it is over at the latest: after this many milliseconds, or at this time. */
  readonly due: { readonly inMs: number } | { readonly at: number };
}

type WaitPlace = Pick<Wait, 'id' | 'organizationId' | 'tenantId' | 'sessionId' | 'runId'>;

const unsettled = { number: null, result: null, settledAt: null, appliedAt: null } as const;

/** The time is counted from the transaction that stores it, by the database's clock. */
export function openWait(place: WaitPlace, { due, ...request }: WaitRequest, now: number): Wait {
  const dueAt = 'at' in due ? due.at : now + due.inMs;
  return { ...place, ...request, ...unsettled, status: 'open', dueAt, createdAt: now };
}

/** A message that nothing asks for yet. */
export function keptMessage(
  place: WaitPlace,
  { name, data }: { readonly name: string; readonly data: Json },
  now: number,
): Wait {
  const result = { outcome: 'received', data } as const;
  const none = { ...unsettled, ref: null, dueAt: null };
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

export function startedEvent({ id, kind, name, dueAt }: Wait): RunEventDraft {
  const until = dueAt === null ? {} : { until: isoTime(dueAt) };
  return { type: 'wait_started', data: { wait_id: id, kind, name, ...until } };
}

/** Without the data of a message: it may be a secret of its sender (D-852). */
export function endedEvent({ id, kind, name, result }: Wait): RunEventDraft {
  const outcome = result?.outcome ?? 'fired';
  return { type: 'wait_ended', data: { wait_id: id, kind, name, outcome } };
}

/** What a leg knows of a wait. */
export type KnownWait =
  | { readonly state: 'open'; readonly kind: WaitKind }
  | {
      readonly state: 'settled';
      readonly kind: WaitKind;
      readonly number: number;
      readonly result: WaitResult;
    };

/** The waits that the agent has asked for, by `ref`. */
export function knownWaits(waits: readonly Wait[]): Map<string, KnownWait> {
  return new Map(
    waits.flatMap(({ ref, kind, status, number, result }): [string, KnownWait][] => {
      if (ref === null || status === 'cancelled') return [];
      if (status === 'open') return [[ref, { state: 'open', kind }]];
      if (number === null || result === null) return [];
      return [[ref, { state: 'settled', kind, number, result }]];
    }),
  );
}
