import {
  eventTypes,
  formatEventId,
  isEventType,
  parseEventId,
  runEvent,
  runId,
  sessionId,
} from '@convoke/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type RunEventDraft,
  endsRun,
  harnessEventType,
  placeEvents,
  terminalEvent,
} from '../../src/domain/run/run-event.ts';
import type { RunOutcome } from '../../src/domain/run/run.ts';

const run = runId('run_1');
const position = {
  sessionId: sessionId('sess_1'),
  runId: run,
  after: 41,
  createdAt: '2026-01-01T00:00:00.000Z',
};

describe('events get their place (D-02, spec §6)', () => {
  test('one after the other, strictly after what is there, in the envelope of the spec', () => {
    const drafts: RunEventDraft[] = [
      { type: 'message_delta', data: { text: 'a', framework: 'x', model: 'y' } },
      { type: 'run_completed', data: { run_id: run } },
    ];
    const placed = placeEvents(drafts, position);
    expect(placed.map(({ seq, type }) => [seq, type])).toEqual([
      [42, 'message_delta'],
      [43, 'run_completed'],
    ]);
    expect(placed.map(({ body }) => JSON.parse(body))).toEqual(
      drafts.map(({ type, data }, index) => ({
        id: formatEventId(42 + index),
        type,
        session_id: 'sess_1',
        run_id: 'run_1',
        created_at: position.createdAt,
        data,
      })),
    );
  });

  test('ids order as text exactly as they order as numbers', () => {
    const seq = fc.integer({ min: 0, max: 999_999_999_999 });
    fc.assert(
      fc.property(seq, seq, (a, b) => {
        expect(formatEventId(a) < formatEventId(b)).toBe(a < b);
        expect(parseEventId(formatEventId(a))).toBe(a);
      }),
    );
  });

  test('a body is one line, whatever the payload, so that it fits one data line (D-30)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const [event] = placeEvents([{ type: 'message_delta', data: { text } }], position);
        expect(event?.body).not.toMatch(/[\n\r]/);
        expect(runEvent.parse(JSON.parse(event?.body ?? '')).data['text']).toBe(text);
      }),
    );
  });
});

describe('the terminal event (D-21)', () => {
  const outcomes: readonly [RunOutcome, string, object][] = [
    [{ status: 'completed' }, 'run_completed', { run_id: 'run_1' }],
    [{ status: 'cancelled' }, 'run_cancelled', { run_id: 'run_1' }],
    [
      { status: 'failed', code: 'tool_error', message: 'it broke' },
      'error',
      { message: 'it broke', error_code: 'tool_error' },
    ],
  ];

  test.each(outcomes)('of %o is %s', (outcome, type, data) => {
    const event = terminalEvent(run, outcome, { recovered: false });
    expect(event).toEqual({ type, data });
    expect(endsRun(event)).toBe(true);
    if (isEventType(type)) expect(eventTypes[type].data.parse(event.data)).toEqual(data);
  });

  test.each(outcomes)('of %o says so when recovery wrote it', (outcome, type, data) => {
    const event = terminalEvent(run, outcome, { recovered: true });
    expect(event).toEqual({ type, data: { ...data, recovered: true } });
  });

  test('is one of exactly three types (spec §6 rule 4)', () => {
    const terminal = Object.keys(eventTypes).filter((type) => endsRun({ type }));
    expect(terminal.sort()).toEqual(['error', 'run_cancelled', 'run_completed']);
  });
});

test('a harness cannot write an event of the service, whatever it calls its own', () => {
  for (const name of Object.keys(eventTypes)) {
    const type = harnessEventType('scripted', name);
    expect(isEventType(type)).toBe(false);
    expect(endsRun({ type })).toBe(false);
  }
});
