import { StreamResponse } from '@a2a-js/sdk';
import { expect, test } from 'vitest';
import { MessageTranslator } from '../../../src/harness/a2a/message-translator.ts';

/** The text that a run says when the agent sends these updates of one artifact. */
function saidOf(...updates: readonly (readonly [text: string, append: boolean])[]): string {
  const translator = new MessageTranslator();
  const events = updates.flatMap(([text, append]) =>
    translator.translate(
      StreamResponse.fromJSON({
        artifactUpdate: {
          taskId: 'task',
          contextId: 'context',
          artifact: { artifactId: 'answer', parts: [{ text }] },
          append,
        },
      }),
    ),
  );
  return events.map((event) => (event.type === 'message_delta' ? event.text : '')).join('');
}

test('an artifact that is sent again as a whole is said once, and what is new of it', () => {
  expect(saidOf(['one ', false], ['one two ', false], ['three', true])).toBe('one two three');
});

test('an artifact that loses text says nothing again', () => {
  expect(saidOf(['kept ', false], ['void ', true], ['kept ', false], ['new', true])).toBe(
    'kept void new',
  );
});
