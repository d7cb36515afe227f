import { StreamResponse } from '@a2a-js/sdk';
import { describe, expect, test } from 'vitest';
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

describe('what a remote agent returns (D-568)', () => {
  const update = (artifact: object, append = false) =>
    StreamResponse.fromJSON({
      artifactUpdate: { taskId: 'task', contextId: 'context', artifact, append },
    });
  const outputOf = (...responses: readonly StreamResponse[]) => {
    const translator = new MessageTranslator();
    for (const response of responses) translator.translate(response);
    return translator.output;
  };

  test('is the data of the artifact named output, whatever other data there is', () => {
    const other = update({ artifactId: 'a', parts: [{ data: { n: 1 } }] });
    const named = update({ artifactId: 'b', name: 'output', parts: [{ data: { team: 'tech' } }] });
    expect(outputOf(other, named, other)).toEqual({ team: 'tech' });
  });

  test('is else the only data, also when its artifact is sent again', () => {
    const only = update({ artifactId: 'a', parts: [{ text: 'Hm. ' }, { data: { n: 1 } }] });
    expect(outputOf(only, only)).toEqual({ n: 1 });
    expect(outputOf(only, update({ artifactId: 'b', parts: [{ data: 2 }] }))).toBeUndefined();
    expect(outputOf(update({ artifactId: 'a', parts: [{ text: 'Hm.' }] }))).toBeUndefined();
  });
});
