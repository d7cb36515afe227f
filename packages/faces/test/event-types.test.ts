import { type EventType as Declared, eventTypes } from '@convoke/contract';
import { expect, expectTypeOf, test } from 'vitest';
import { type EventType, RunTranscript } from '../src/index.ts';
import { logOf } from './written-events.ts';

test('faces know exactly the event types that the contract declares', () => {
  // A type that only one of the two knows does not compile.
  expectTypeOf<EventType>().toEqualTypeOf<Declared>();
  for (const type of Object.keys(eventTypes)) {
    const [event] = logOf([type, {}]);
    expect(() => event && new RunTranscript().take(event)).not.toThrow();
  }
});

test('a type that no version knows yet is a note, and ends nothing', () => {
  const [event] = logOf(['run_teleported', { to: 'Mars' }]);
  expect(event && new RunTranscript().take(event)).toEqual([
    { kind: 'note', id: '000000000001', type: 'run_teleported', data: { to: 'Mars' } },
  ]);
});
