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

test('CONTRIBUTING.md has a place for every package and every folder of the repository', () => {
  const [, section = ''] = textOf('CONTRIBUTING.md').split('## Where things live');
  const places = Array.from(section.matchAll(/^\| (`.*?`) \|/gm), ([, cell = '']) =>
    Array.from(cell.matchAll(/`([^`]+)`/g), ([, place = '']) => expanded(place)),
  ).flat(2);
  const folders = files(/^[^./][^/]*\//).map((path) =>
    path.split('/', path.startsWith('packages/') ? 2 : 1).join('/'),
  );
  const missing = [...new Set(folders)].filter(
    (folder) => !places.some((place) => place === folder || place.startsWith(`${folder}/`)),
  );
  expect(missing).toEqual([]);
  expect(places.filter((place) => !existsSync(join(root, place)))).toEqual([]);
});

test('ARCHITECTURE.md has a row for every folder of the server, and names the frameworks', () => {
  const text = textOf('ARCHITECTURE.md');
  const cells = Array.from(text.matchAll(/^\| (`[a-z`/, -]+) \|/gm), ([, cell = '']) => cell);
  const rows = cells.flatMap((cell) =>
    Array.from(cell.matchAll(/`([a-z-]+)\/`/g), ([, name = '']) => name),
  );
  const inside = (folder: string) => {
    const paths = files(new RegExp(`^${folder}/[^/]+/`));
    return [
      ...new Set(
        paths.map((path) =>
          path
            .slice(folder.length + 1)
            .split('/', 1)
            .join(),
        ),
      ),
    ].toSorted();
  };
  expect(rows.toSorted()).toEqual(inside('packages/server/src'));
  const [, frameworks = ''] = /one folder per framework \(`([a-z0-9 -]+)`/.exec(text) ?? [];
  expect(frameworks.split(' ')).toEqual(inside('packages/server/src/harness'));
});

test('ARCHITECTURE.md names every room of a folder of the server', () => {
  const text = textOf('ARCHITECTURE.md');
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  const rooms = files(/^packages\/server\/src\/[^/]+\/[^/]+\//).map((path) =>
    path.split('/').slice(3, 5).join('/'),
  );
  const unnamed = [...new Set(rooms)].filter((path) => {
    const [folder = '', room = ''] = path.split('/');
    const row = rows.find((line) => line.includes(`\`${folder}/\``)) ?? '';
    return folder !== 'harness' && !row.includes(`\`${room}/\``) && !text.includes(path);
  });
  expect(unnamed).toEqual([]);
});

/** `packages/{sdk,cli}` is two places. */
function expanded(place: string): string[] {
  const [, start = '', names, end = ''] = /^(.*)\{(.*)\}(.*)$/.exec(place) ?? [];
  return names === undefined ? [place] : names.split(',').map((name) => `${start}${name}${end}`);
}

test('SECURITY.md says what each key is for that is derived from the master key', () => {
  const [, section = ''] = textOf('SECURITY.md').split('## How keys are kept');
  const rows = Array.from(section.matchAll(/^\| `([a-z-]+)` \|/gm), ([, purpose]) => purpose);
  expect(rows).toEqual(keyPurposes);
  expect(section).toContain('Twelve keys');
  expect(keyPurposes).toHaveLength(12);
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
