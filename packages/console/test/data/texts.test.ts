import { readFileSync } from 'node:fs';
import { NotFoundError, PermissionError } from '@convoke/sdk';
import { describe, expect, test } from 'vitest';
import { withoutTokens } from '../../src/data/audit-sentences.ts';
import {
  comparableText,
  jsonParts,
  jsonSummary,
  jsonText,
  parsedObject,
} from '../../src/data/json-text.ts';
import { lineDifference } from '../../src/data/input/line-difference.ts';
import { problemOf } from '../../src/data/problems.ts';
import { shortcuts } from '../../src/data/shortcut-list.ts';
import { keyStep } from '../../src/data/shortcuts.ts';
import { cliOf, curlOf, quoted, sdkOf } from '../../src/data/snippets.ts';

test('an error says what happened and what to do, with code and request id', () => {
  const facts = { code: 'not_found', status: 404, requestId: 'req_1' };
  expect(problemOf(new NotFoundError('No such run.', facts))).toEqual({
    title: 'Not found.',
    action: 'Check the address, or choose another tenant.',
    code: 'not_found',
    requestId: 'req_1',
  });
  const refused = problemOf(new PermissionError('Needs runs:write.', { code: 'newer_code' }));
  expect(refused.action).toBe('Needs runs:write.');
  expect(problemOf(new Error('oops')).code).toBe('page_error');
});

test('a text of several lines is compared by its lines, and cannot pass for another member', () => {
  const value = { path: 'a.md', text: 'one "1"\n"to": "all"\n', flags: ['x\ny'] };
  expect(comparableText(value).split('\n')).toEqual([
    '{',
    '  "path": "a.md",',
    '  "text": |,',
    '    │ one "1"',
    '    │ "to": "all"',
    '    │ ',
    '  "flags": [',
    '    |',
    '      │ x',
    '      │ y',
    '  ]',
    '}',
  ]);
  // A backslash before an n is no line break.
  expect(comparableText({ path: 'C:\\new' })).toBe(jsonText({ path: 'C:\\new' }));
});

test('a long value is text in parts that lose nothing and split no character', () => {
  const value = { a: `x${'😀'.repeat(70_000)}`, b: [1, 2] };
  const parts = jsonParts(value);
  expect(parts.length).toBe(3);
  expect(parts.join('')).toBe(jsonText(value));
  for (const part of parts) expect(part.isWellFormed()).toBe(true);
  expect(jsonParts({ a: 1 })).toEqual([jsonText({ a: 1 })]);
});

describe('copied commands', () => {
  const run = {
    baseUrl: 'https://convoke.example',
    organizationId: 'org_1',
    tenantId: 'ten_1',
    agentName: 'demo',
    sessionId: 'sess_1',
    input: { prompt: `it's "$HOME"; rm -rf /` },
  };

  test('a prompt cannot end the quotes of a shell', () => {
    expect(quoted(`it's`)).toBe(`'it'\\''s'`);
    expect(curlOf(run)).toContain(`'{"input":{"prompt":"it'\\''s \\"$HOME\\"; rm -rf /"}}'`);
    expect(cliOf(run)).toBe(`convoke invoke demo 'it'\\''s "$HOME"; rm -rf /' --session sess_1`);
  });

  test('no copied text holds a token', () => {
    expect(curlOf(run)).toContain('Bearer $CONVOKE_TOKEN');
    expect(sdkOf(run)).toMatch(/^ {2}clientSecret,$/m);
  });

  test('the SDK calls in the tenant of the run, also where the client can access several', () => {
    expect(sdkOf(run)).toContain('workspace: { tenantId: "ten_1" }');
  });

  test('the command line attaches the same files', () => {
    const attached = { ...run, input: { prompt: 'Look', files: ['file_1', 'file_2'] } };
    expect(cliOf(attached)).toBe(
      'convoke invoke demo Look --session sess_1 --file file_1 --file file_2',
    );
  });

  test('an input with more than a prompt is given whole', () => {
    const whole = { ...run, input: { prompt: 'a', depth: 2 } };
    expect(sdkOf(whole)).toContain('"depth": 2');
    expect(cliOf(whole)).toBeUndefined();
  });
});

test('an edited input shows what was removed and what was added', () => {
  const lines = lineDifference('{\n  "path": "a",\n  "n": 1\n}', '{\n  "path": "b",\n  "n": 1\n}');
  expect(lines.map(({ kind }) => kind)).toEqual(['same', 'removed', 'added', 'same', 'same']);
  expect(lineDifference('x', 'x').every(({ kind }) => kind === 'same')).toBe(true);
});

test('two texts of 4000 lines each are compared without a table of their product', () => {
  const text = (mark: string) => Array.from({ length: 4000 }, (_, n) => `${mark}${n}`).join('\n');
  expect(lineDifference(text('a'), text('b'))).toHaveLength(8000);
});

test('a typed input must be an object', () => {
  expect(parsedObject('{"a":1}')).toEqual({ ok: true, value: { a: 1 } });
  expect(parsedObject('[1]')).toMatchObject({ ok: false, reason: 'Must be a JSON object: { … }.' });
  expect(parsedObject('{')).toMatchObject({ ok: false });
});

test('a summary of a tool input is one short line', () => {
  expect(jsonSummary({ path: 'a.md', text: 'x\n'.repeat(500), deep: { b: [1] } }, 40)).toMatch(
    /^path: a\.md, text: x x x.*…$/,
  );
});

describe('shortcuts', () => {
  const press = { ctrlKey: false, metaKey: false, altKey: false, inText: false };

  test('g begins a sequence that the next key completes', () => {
    const begun = keyStep({ ...press, key: 'g' }, undefined);
    expect(begun).toEqual({ chord: undefined, pending: 'g' });
    expect(keyStep({ ...press, key: 'r' }, begun.pending).chord).toBe('g r');
  });

  test('letters typed into a field are text', () => {
    expect(keyStep({ ...press, key: 'a', inText: true }, undefined).chord).toBeUndefined();
    expect(keyStep({ ...press, key: 'k', ctrlKey: true, inText: true }, undefined).chord).toBe(
      'mod+k',
    );
  });
});

test('the audit reads on past pages that are about tokens only, up to a bound', async () => {
  const tokens = Array.from({ length: 50 }, () => ({ action: 'token.issue' }));
  const asked: (string | undefined)[] = [];
  const read = async (cursor: string | undefined) => {
    asked.push(cursor);
    const page = Number(cursor ?? '0');
    const items = page === 2 ? [...tokens, { action: 'run.cancel' }] : tokens;
    return { items, nextCursor: String(page + 1) };
  };
  const found = await withoutTokens(read, undefined);
  expect(found).toEqual({ items: [{ action: 'run.cancel' }], nextCursor: '10' });
  expect(asked).toEqual([undefined, '1', '2', '3', '4', '5', '6', '7', '8', '9']);
});

test('the guide names every key of the list of shortcuts', () => {
  const guide = readFileSync(
    new URL('../../../../docs/guides/console.md', import.meta.url),
    'utf8',
  );
  const [, table = ''] = /## Keys\n([^]*?)\n## /.exec(guide) ?? [];
  const keys = shortcuts.flatMap(([chord]) =>
    chord.startsWith('Mod') ? [chord.replace('Mod', 'Ctrl')] : chord.split(/ … | /),
  );
  const named = new Set(Array.from(table.matchAll(/`([^`]+)`/g), ([, key]) => key));
  expect(keys.filter((key) => !named.has(key))).toEqual([]);
});
