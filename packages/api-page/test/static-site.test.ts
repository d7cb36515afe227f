import { openApiDocument } from '@convoke/contract';
import { expect, test } from 'vitest';
import { allGuides, createDocs } from '../src/api-page.ts';
import type { SearchIndex } from '../src/search/rank.ts';
import { staticSite } from '../src/static-site.ts';

const document = openApiDocument({ version: '1.2.3' });
const docs = createDocs(document, allGuides());
const site = staticSite(docs, document);
/** Below a path, since a site need not have a host of its own. */
const place = 'http://server/some/where/';
const pages = [...site].filter(([path]) => path.endsWith('.html'));

/** What a link leads to: the file, and whether the anchor is in it. */
function targetOf(href: string, from: string): string {
  const { href: address, hash } = new URL(href, place + from);
  const file = address.slice(place.length).replace(hash, '');
  const text = address.startsWith(place) ? site.get(file) : undefined;
  if (text === undefined) return `${href} leads nowhere`;
  return hash === '' || text.includes(` id="${hash.slice(1)}"`) ? 'found' : `${href} has no target`;
}

test('every page of a server is a file, beside the OpenAPI document and the index of the search', () => {
  expect(pages).toHaveLength(docs.paths.length);
  expect([...site.keys()]).toEqual(
    expect.arrayContaining([
      'index.html',
      'openapi.json',
      'search.json',
      'reference/errors.html',
      'guides/concepts.html',
      'guides/concepts.md',
      'index.md',
      'llms.txt',
      'llms-full.txt',
    ]),
  );
  expect(JSON.parse(site.get('openapi.json') ?? '')).toEqual(document);
});

test.each(pages)('every link of %s leads to a file of the site', (path, page) => {
  const links = [...page.matchAll(/ (?:href|data-index)="([^"]+)"/g)].map(([, href = '']) => href);
  const own = links.filter((href) => !/^https?:/.test(href));
  expect(own.length).toBeGreaterThan(20);
  expect(own.map((href) => targetOf(href, path)).filter((found) => found !== 'found')).toEqual([]);
  expect(own.filter((href) => href.startsWith('/'))).toEqual([]);
});

const texts = [...site].filter(([path]) => /\.md$|^llms\.txt$/.test(path));

test.each(texts)('every link of %s leads to a file of the site', (path, text) => {
  const links = [...text.matchAll(/\]\(([^)#\s]+)/g)].map(([, href = '']) => href);
  const own = links.filter((href) => !/^https?:/.test(href));
  expect(own.map((href) => targetOf(href, path)).filter((found) => found !== 'found')).toEqual([]);
});

test.each(pages)('what the search finds from %s is a file of the site', (path, page) => {
  const [, root = ''] = / data-root="([^"]+)"/.exec(page) ?? [];
  const { entries } = JSON.parse(site.get('search.json') ?? '') as SearchIndex;
  expect(entries.length).toBeGreaterThan(300);
  const targets = entries.map(([, , , , href]) => targetOf(root + href, path));
  expect(targets.filter((found) => found !== 'found')).toEqual([]);
});

test.each(pages)('%s has the policy in itself, without what only a header can say', (_, page) => {
  const policies = [
    ...page.matchAll(/<meta http-equiv="content-security-policy" content="([^"]+)">/g),
  ];
  expect(policies.map(([, policy]) => policy)).toEqual([
    expect.stringMatching(/^default-src 'none'; .*connect-src 'self'.*form-action 'none'$/),
  ]);
});
