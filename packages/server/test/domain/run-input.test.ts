import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { promptOf, readRunInput, shownInput } from '../../src/domain/run/run-input.ts';

describe('the input of a run (D-22)', () => {
  const plain = { agent: { name: 'a' }, takesFiles: false };
  const withFiles = { agent: { name: 'a' }, takesFiles: true };

  test.each<[string, JsonObject, { fileIds: string[] }]>([
    ['a prompt', { prompt: 'hi' }, { fileIds: [] }],
    ['files', { prompt: 'hi', files: ['f1', 'f2'] }, { fileIds: ['f1', 'f2'] }],
    ['no files', { prompt: 'hi', files: [] }, { fileIds: [] }],
  ])('%s is read', (_, input, value) => {
    expect(readRunInput(input, withFiles)).toEqual({ ok: true, value });
  });

  test.each<[string, JsonObject, string]>([
    ['no prompt', {}, 'invalid_body: input.prompt'],
    ['an empty prompt', { prompt: '' }, 'invalid_body: input.prompt'],
    ['a prompt that is no text', { prompt: 1 }, 'invalid_body: input.prompt'],
    ['a null prompt', { prompt: null }, 'invalid_body: input.prompt'],
    ['an unknown member', { prompt: 'hi', speed: 3 }, 'unknown_field: input.speed'],
    ['files that are no list', { prompt: 'hi', files: 'f1' }, 'invalid_body: input.files'],
    ['files that are no ids', { prompt: 'hi', files: [1] }, 'invalid_body: input.files'],
    [
      'too many files',
      { prompt: 'hi', files: Array.from({ length: 101 }, () => 'f') },
      'invalid_body: input.files',
    ],
  ])('%s is refused by name', (_, input, refusal) => {
    const ruling = readRunInput(input, withFiles);
    expect(ruling.ok ? 'accepted' : `${ruling.code}: ${ruling.message ?? ''}`).toContain(refusal);
  });

  test('files are a member only for a session that takes files', () => {
    expect(readRunInput({ prompt: 'hi', files: [] }, plain)).toMatchObject({
      ok: false,
      code: 'unknown_field',
    });
  });
});

describe('an input that an agent reads as words (D-563)', () => {
  test.each<[string, JsonObject, string]>([
    ['a prompt alone is the prompt', { prompt: 'hi', files: ['f1'] }, 'hi'],
    [
      'other members follow it as a block',
      { prompt: 'hi', n: 7 },
      'hi\n\n```json\n{\n  "n": 7\n}\n```',
    ],
    ['without a prompt there is the block alone', { n: 7 }, '```json\n{\n  "n": 7\n}\n```'],
    ['nothing is nothing', {}, ''],
  ])('%s', (_, input, words) => {
    expect(promptOf(input)).toBe(words);
  });

  test('a list shows the prompt, else the input as compact JSON', () => {
    expect(shownInput({ prompt: 'hi', n: 7 })).toBe('hi');
    expect(shownInput({ n: 7, files: ['f1'] })).toBe('{"n":7}');
    expect(shownInput({})).toBe('');
  });
});
