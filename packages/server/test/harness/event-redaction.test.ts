import { expect, test } from 'vitest';
import { redactAll, redactor } from '../../src/agents/secret-references.ts';
import { redactedEvent, redactedSpeech } from '../../src/harness/event-redaction.ts';
import type { HarnessEvent } from '../../src/ports/harness.ts';

const secret = 'swordfish-1234';
const redact = redactAll([redactor(['another-one']), redactor([secret])]);
const call: HarnessEvent = { type: 'custom', name: 'tool_call', data: {} };
const end: HarnessEvent = { type: 'end', outcome: 'completed' };

test('a secret is redacted wherever deltas split it', async () => {
  const text = `It is ${secret}, says ${secret}${secret}.`;
  for (let length = 1; length <= text.length; length += 1) {
    const pieces = text.match(new RegExp(`.{1,${length}}`, 'g')) ?? [];
    const events = await redactedEvents([...pieces, end]);
    expect(said(events)).toBe('It is [secret], says [secret][secret].');
    expect(events.at(-1)).toEqual(end);
  }
});

test('no text is lost or reordered', async () => {
  const events = await redactedEvents(['pass the sword', call, 'fish, please. sword', end]);
  expect(said(events.slice(0, events.indexOf(call)))).toBe('pass the sword');
  expect(said(events)).toBe('pass the swordfish, please. sword');
});

test('text that cannot be part of a secret is emitted at once', async () => {
  const events = await redactedEvents(['one ', 'two ', 'three']);
  expect(events.map((event) => said([event]))).toEqual(['one ', 'two ', 'three']);
});

test('a secret is removed from every part of a value, also one that consists of digits', () => {
  const digits = redactor(['12345678', 'a"b"c"d']);
  const data = {
    n: 12345678,
    '12345678': ['x12345678', { deep: 'a"b"c"d' }],
    fine: [1, null, true],
  };
  expect(redactedEvent({ type: 'custom', name: 'x', data }, digits)).toEqual({
    type: 'custom',
    name: 'x',
    data: { n: '[secret]', '[secret]': ['x[secret]', { deep: '[secret]' }], fine: [1, null, true] },
  });
});

async function redactedEvents(parts: readonly (string | HarnessEvent)[]): Promise<HarnessEvent[]> {
  async function* source(): AsyncGenerator<HarnessEvent, void> {
    for (const part of parts) {
      yield typeof part === 'string' ? { type: 'message_delta', text: part } : part;
    }
  }
  const events: HarnessEvent[] = [];
  for await (const event of redactedSpeech(source(), () => redact)) events.push(event);
  return events;
}

function said(events: readonly HarnessEvent[]): string {
  return events.map((event) => (event.type === 'message_delta' ? event.text : '')).join('');
}
