import type { EventDataByType } from '../generated/events.ts';
import type { JsonObject, TerminalEventType } from '../generated/values.ts';

/** Envelope of every event (spec §6). */
export interface EventEnvelope {
  /** Orders the events of one run. Store it after you have processed the event, to continue after it. */
  readonly id: string;
  readonly session_id: string;
  readonly run_id: string;
  readonly created_at: string;
}

export type EventType = keyof EventDataByType;

/** An event whose type the specification names. */
export type KnownRunEvent = {
  [T in EventType]: EventEnvelope & { readonly type: T; readonly data: EventDataByType[T] };
}[EventType];

/**
 * An event of an agent framework, named `<framework>.<name>`, or of a type that is newer than this SDK.
 * Never terminal. Its type is declared so that comparing `event.type` with a known type narrows the payload.
 */
export interface OtherRunEvent extends EventEnvelope {
  readonly type: `${string}.${string}`;
  readonly data: JsonObject;
}

export type RunEvent = KnownRunEvent | OtherRunEvent;

/** Spec §6 rule 4: exactly these three end a run. */
export function isTerminalEvent(
  event: RunEvent,
): event is Extract<KnownRunEvent, { type: TerminalEventType }> {
  return event.type === 'run_completed' || event.type === 'run_cancelled' || event.type === 'error';
}

/** D-02: ids have a fixed width, so they sort as text. A longer id is later. */
export function isAfter(id: string, cursor: string | undefined): boolean {
  if (cursor === undefined || id.length > cursor.length) return true;
  return id.length === cursor.length && id > cursor;
}

/** Parses the event in one message of a stream; undefined if it is not an event of the run. */
export function parseRunEvent(text: string, runId: string): RunEvent | undefined {
  try {
    const value = JSON.parse(text) as Partial<RunEvent> | null;
    const isEvent =
      typeof value?.id === 'string' &&
      typeof value.type === 'string' &&
      typeof value.data === 'object' &&
      value.run_id === runId;
    return isEvent ? (value as RunEvent) : undefined;
  } catch {
    return undefined;
  }
}
