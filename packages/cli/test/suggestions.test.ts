import { expect, test } from 'vitest';
import { suggestions } from '../src/commands/server/suggestions.ts';

const text = { name: 'notes' };
const form = { name: 'triage', input: { check: () => ['/ticket is missing'] } };

test('a server suggests a call that the agent accepts', () => {
  const invoked = (name: string) => [
    `npx convoke invoke ${name} "Hello"    # a run, as it streams`,
  ];
  expect(suggestions([], false)).toEqual(invoked('<agent>'));
  expect(suggestions([form, text], false)).toEqual(invoked('notes'));
  expect(suggestions([text, form, { name: 'demo' }], false)).toEqual(invoked('demo'));
  expect(suggestions([form], false)[0]).toContain('npx convoke agents show triage ');
  expect(suggestions([{ name: 'demo' }, { name: 'echo' }], true)).toHaveLength(3);
});
