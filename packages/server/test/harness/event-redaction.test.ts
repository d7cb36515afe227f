import { expect, test } from 'vitest';
import { redactAll, redactor } from '../../src/agents/secret-references.ts';
import { redactedSpeech } from '../../src/harness/event-redaction.ts';
import type { HarnessEvent } from '../../src/ports/harness.ts';

const secret = 'swordfish-1234';
const redact = redactAll([redactor(['another-one']), redactor([secret])]);
const call: HarnessEvent = { type: 'custom', name: 'tool_call', data: {} };
const end: HarnessEvent = { type: 'end', outcome: 'completed' };

test('a secret is taken out wherever the pieces of what is said divide it', async () => {
  const text = `It is ${secret}, says ${secret}${secret}.`;
  for (let length = 1; length <= text.length; length += 1) {
    const pieces = text.match(new RegExp(`.{1,${length}}`, 'g')) ?? [];
    const told = await tellingOf([...pieces, end]);
    expect(said(told)).toBe('It is [secret], says [secret][secret].');
    expect(told.at(-1)).toEqual(end);
  }
});

test('nothing of what is said is lost or comes after what it stood before', async () => {
  const told = await tellingOf(['pass the sword', call, 'fish, please. sword', end]);
  expect(said(told.slice(0, told.indexOf(call)))).toBe('pass the sword');
  expect(said(told)).toBe('pass the swordfish, please. sword');
});

test('what cannot be a secret is told at once', async () => {
  const told = await tellingOf(['one ', 'two ', 'three']);
  expect(told.map((event) => said([event]))).toEqual(['one ', 'two ', 'three']);
});

async function tellingOf(parts: readonly (string | HarnessEvent)[]): Promise<HarnessEvent[]> {
  async function* events(): AsyncGenerator<HarnessEvent, void> {
    for (const part of parts) {
      yield typeof part === 'string' ? { type: 'message_delta', text: part } : part;
    }
  }
  const told: HarnessEvent[] = [];
  for await (const event of redactedSpeech(events(), () => redact)) told.push(event);
  return told;
}

function said(events: readonly HarnessEvent[]): string {
  return events.map((event) => (event.type === 'message_delta' ? event.text : '')).join('');
}
