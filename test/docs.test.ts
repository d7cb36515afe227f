import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { permissionCatalog, runErrorCodes } from '../packages/contract/src/index.ts';
import { keyPurposes } from '../packages/server/src/auth/master-key.ts';
import { brokenLinks } from './links.ts';
import { files, root, textOf } from './repository.ts';
import { isExhaustive } from './runner/kinds.ts';

test('every link between our pages leads somewhere', () => {
  const pages = files(/\.md$/);
  expect(pages).toContain('CONTRIBUTING.md');
  expect(pages.flatMap((path) => brokenLinks(path, kept))).toEqual([]);
});

test('a link to a missing page, or to a missing heading, is named', () => {
  const pages: Record<string, string> = {
    'docs/a.md':
      '[b](b.md#the-second-part) [c](../c.md "c") [gone](gone.md) [self](#nowhere) [web](https://x.y)',
    'docs/b.md': '# B\n\n## The second part\n\n```\n[not a link](nowhere.md)\n```\n',
    'c.md': '',
  };
  expect(brokenLinks('docs/a.md', (path) => pages[path])).toEqual([
    'docs/a.md: gone.md',
    'docs/a.md: #nowhere',
  ]);
  expect(brokenLinks('docs/b.md', (path) => pages[path])).toEqual([]);
});

test('SECURITY.md says what each key is for that is derived from the master key', () => {
  const [, section = ''] = textOf('SECURITY.md').split('## How keys are kept');
  const rows = Array.from(section.matchAll(/^\| `([a-z-]+)` \|/gm), ([, purpose]) => purpose);
  expect(rows).toEqual(keyPurposes);
  expect(section).toContain('Eleven keys');
  expect(keyPurposes).toHaveLength(11);
});

test('D-25 lists every code that a failed run may have', () => {
  const [row = ''] = /^\| D-25 \|.*$/m.exec(textOf('docs/decisions/runs.md')) ?? [];
  const codes = Array.from(row.matchAll(/`([a-z_]+)`/g), ([, code]) => code);
  expect(new Set(codes)).toEqual(new Set<string>(runErrorCodes));
});

test('no page says that a profile can do what no operation takes', () => {
  const { scopes, profiles } = permissionCatalog();
  const unused = scopes.filter(({ operations }) => operations.length === 0);
  expect(unused.map(({ name }) => name)).toEqual(['agents:deploy']);
  for (const { description } of unused) expect(description).toContain('not part of this server');
  const holders = profiles.filter(({ scopes: held }) => held.includes('agents:deploy'));
  for (const { description } of holders) expect(description).toContain('not part of this server');
});

function kept(path: string): string | undefined {
  const place = join(root, path);
  if (!existsSync(place)) return undefined;
  return statSync(place).isDirectory() ? '' : textOf(path);
}

test('each promise of the trust page has one command, and each command runs tests that exist', () => {
  const rows = textOf('docs/guides/trust.md').matchAll(/^\| (\*\*.*?\*\*).* \| (.*) \|$/gm);
  const promises = Array.from(rows, ([, promise = '', shown = '']) => ({ promise, shown }));
  expect(promises.length).toBeGreaterThanOrEqual(10);
  const tests = files(/\.test\.ts$/);
  for (const { promise, shown } of promises) {
    const [, command, filter = ''] = /^`npm (test|run test:faults) -- (\S+)`$/.exec(shown) ?? [];
    const run = tests.filter((path) => path.includes(filter));
    const isRun = run.some((path) => isExhaustive(path) === (command === 'run test:faults'));
    expect({ promise, shown, isRun: command !== undefined && isRun }).toEqual({
      promise,
      shown,
      isRun: true,
    });
  }
});
