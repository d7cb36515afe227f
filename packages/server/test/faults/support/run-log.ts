import { deepEqual, equal, ok } from 'node:assert/strict';
import {
  type RunEvent,
  type RunRecord,
  formatEventId,
  isTerminalEventType,
  runEvent,
} from '@convoke/contract';
import { RunText } from '@convoke/faces';
import type { Frame } from './raw-event-reader.ts';

/**
 * Checks what every log promises, from its bytes alone: ids without gaps, times that never go back, one terminal event,
 * and nothing after it. Returns the events for further checks.
 */
export function checkLog(run: RunRecord, frames: readonly Frame[]): RunEvent[] {
  const events = frames.map((frame, index) => {
    const [id, type, data, ...others] = frame.text.trimEnd().split('\n');
    const event = runEvent.parse(JSON.parse(data?.replace(/^data: /, '') ?? ''));
    deepEqual([id, type, others], [`id: ${event.id}`, `event: ${event.type}`, []]);
    equal(event.id, formatEventId(index + 1), 'no gap');
    deepEqual([event.session_id, event.run_id], [run.session_id, run.id]);
    return event;
  });
  const times = events.map((event) => event.created_at);
  deepEqual(times, times.toSorted(), 'created_at never decreases');
  ok(events.filter((event) => event.type === 'run_started').length <= 1);

  const terminal = events.filter((event) => isTerminalEventType(event.type));
  const expectedEnd = endOf[run.status];
  deepEqual(
    terminal.map((event) => event.type),
    expectedEnd === null ? [] : [expectedEnd],
  );
  if (expectedEnd !== null) equal(events.at(-1), terminal[0], 'the end is last');
  equal(run.last_event_id, events.at(-1)?.id);
  return events;
}

const endOf: Readonly<Record<RunRecord['status'], string | null>> = {
  queued: null,
  running: null,
  waiting: null,
  cancelling: null,
  completed: 'run_completed',
  failed: 'error',
  cancelled: 'run_cancelled',
};

/** The text an agent said, as a reader joins it (D-87). */
export function saidIn(events: readonly RunEvent[]): string {
  const said = new RunText();
  for (const event of events) said.take(event);
  return said.text;
}

/** The text as a reader joins it that knows no interruption: every delta in the order of its id (spec §6). */
export function allDeltas(events: readonly RunEvent[]): string {
  const texts = events.map(({ type, data: { text } }) =>
    type === 'message_delta' && typeof text === 'string' ? text : '',
  );
  return texts.join('');
}

/** I2, I4: what was read before is the beginning of what is read now, byte for byte. */
export function expectPrefix(earlier: readonly Frame[], now: readonly Frame[]): void {
  deepEqual(now.slice(0, earlier.length), earlier);
}
