import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { brokenLinks } from './links.ts';
import { files, root, textOf } from './repository.ts';

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

function kept(path: string): string | undefined {
  const place = join(root, path);
  if (!existsSync(place)) return undefined;
  return statSync(place).isDirectory() ? '' : textOf(path);
}
