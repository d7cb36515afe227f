import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { openApiDocument, operationList } from '@convoke/contract';
import { expect, test } from 'vitest';
import { files, textOf } from '../../../test/repository.ts';
import { allGuides, createDocs, pagePolicy } from '../src/api-page.ts';

const pageMaxBytes = 150_000;

const document = openApiDocument({ version: '1.2.3' });
const guides = allGuides();
const docs = createDocs(document, guides);
const pages = new Map(docs.paths.map((path) => [path, docs.render(path) ?? '']));
const overview = pages.get('docs') ?? '';
const ids = new Map([...pages].map(([place, page]) => [place, idsOf(page)]));

test.each([...pages])('%s loads nothing, and runs only what its policy names', (_, page) => {
  expect(page).not.toMatch(/<link|<img|<iframe|@import|\burl\(/i);
  // In tags only: the code that a guide shows may have such attributes.
  const tags = Array.from(page.matchAll(/<[a-z][^>]*>/gi), ([tag]) => tag);
  expect(tags.join('\n')).not.toMatch(/\son[a-z]+=|\sstyle=|\ssrc=/i);
  for (const kind of ['style', 'script']) {
    const blocks = [...page.matchAll(new RegExp(`<${kind}>([^]*?)</${kind}>`, 'g'))];
    expect(blocks).toHaveLength(1);
    const digest = createHash('sha256')
      .update(blocks[0]?.[1] ?? '')
      .digest('base64');
    expect(pagePolicy).toContain(`${kind}-src 'sha256-${digest}'`);
  }
});

test('the policy lets a page load the index of the search from its own server, and nothing else', () => {
  expect(pagePolicy.split('; ')).toEqual([
    "default-src 'none'",
    expect.stringMatching(/^style-src 'sha256-[^' ]+'$/),
    expect.stringMatching(/^script-src 'sha256-[^' ]+'$/),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});

test('the script is one that a browser can read', () => {
  const [, script = ''] = /<script>([^]*?)<\/script>/.exec(overview) ?? [];
  expect(() => new Script(script)).not.toThrow();
});

test.each([...pages])(
  '%s has no broken links, and is no larger than a page should be',
  (place, page) => {
    expect(Buffer.byteLength(page)).toBeLessThan(pageMaxBytes);
    const own = ids.get(place) ?? [];
    expect(new Set(own).size).toBe(own.length);
    for (const [, href = ''] of page.matchAll(/href="([^"]+)"/g)) {
      if (href.startsWith('https:') || href.startsWith('http:')) continue;
      const { pathname, hash } = new URL(href, `http://server/${place}`);
      const target = pathname.slice(1);
      if (target === 'openapi.json' || target === 'llms.txt') continue;
      if (target.endsWith('.md')) {
        expect([target, pages.has(target.slice(0, -3))]).toEqual([target, true]);
        continue;
      }
      const found = pages.get(target);
      expect(found === undefined ? `${href} leads nowhere` : target).toBe(target);
      if (hash !== '')
        expect([href, ids.get(target)?.includes(hash.slice(1))]).toEqual([href, true]);
    }
  },
);

test('a noun has a page, with every operation, its fields and an example in each language', () => {
  for (const { id, tag, caller } of operationList) {
    const place = `docs/reference/${tag.toLowerCase().replaceAll(' ', '-')}`;
    const own = ids.get(place);
    expect(own).toContain(id);
    expect(own).toContain(`${id}-curl`);
    const languages = ['sdk', 'python'].filter((one) => own?.includes(`${id}-${one}`));
    // What anyone may call is no work of a program, and libraries call the faces.
    if (caller === 'anonymous' || tag === 'Faces') continue;
    expect([id, languages]).toEqual([id, ['sdk', 'python']]);
  }
  const runs = pages.get('docs/reference/runs') ?? '';
  const [, start = ''] =
    /<article class="operation" id="start_run">([^]*?)<\/article>/.exec(runs) ?? [];
  expect(start.match(/<summary>Fields of Run<\/summary>/g)).toHaveLength(1);
  expect(start).toContain('<code>output_text</code>');
});

test('every address of the time when all was on one page leads to where it is now', () => {
  const before = [
    ...operationList.map(({ id }) => id),
    ...document.tags.map(({ name }) => name.toLowerCase().replaceAll(' ', '-')),
    ...document['x-event-types'].map(({ type }) => `event-${type}`),
    'events',
    'schemas',
    'scopes',
    'errors',
    'error-session_busy',
    'schema-Run',
    'schema-RunEvent',
  ];
  for (const id of before) {
    const [, href = ''] =
      new RegExp(`id="${id}"><a class="moved" href="\\./(docs/reference/[^"]+)"`).exec(overview) ??
      [];
    const [path = '', anchor] = href.split('#');
    expect([id, pages.has(path)]).toEqual([id, true]);
    if (anchor !== undefined) expect([id, anchor]).toEqual([id, id]);
  }
  for (const id of ['start', 'conventions', 'selectors']) expect(ids.get('docs')).toContain(id);
});

test('the contents are those of docs/README.md, and have every guide', () => {
  const groups = [...new Set(guides.map(({ group }) => group))];
  const headings = Array.from(textOf('docs/README.md').matchAll(/^## (.+)$/gm), ([, text]) => text);
  expect(groups).toEqual(headings);
  const shown = Array.from(overview.matchAll(/<span class="group">([^<]+)</g), ([, text]) => text);
  expect(shown).toEqual([headings[0], 'API reference', ...headings.slice(1)]);
  const written = files(/^docs\/guides\/.*\.md$/).map((path) => path.slice(12, -3));
  const titles = guides.map(({ title }) => title);
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
  expect(guides.map(({ name }) => name)).toEqual(expect.arrayContaining(written));
});

test('the first page is the way from zero to a run, and says what examples/hello.mjs does', () => {
  const [, heading = ''] = /<h1[^>]*>([^<]+)/.exec(overview) ?? [];
  expect(heading.trim()).toBe('From zero to a run in your own code');
  expect(overview.match(/<h1/g)).toHaveLength(1);
  const [, program = ''] = /```js\n([^]*?)```/.exec(textOf('docs/guides/start.md')) ?? [];
  expect(textOf('examples/hello.mjs')).toContain(program);
});

test('a guide marks its place in the contents, and links its headings', () => {
  const page = pages.get('docs/guides/concepts') ?? '';
  expect(page.match(/aria-current="page"/g)).toHaveLength(1);
  expect(page).toContain('<a href="../../docs/guides/concepts" aria-current="page">Concepts</a>');
  expect(page).toContain('<a class="anchor" href="#retries-that-are-safe"');
});

test('escapes its input', () => {
  const title = '<b onload="x">&';
  const hostile = { ...document, info: { ...document.info, title } };
  expect(createDocs(hostile).render('docs')).not.toContain('<b onload');
});

function idsOf(page: string): string[] {
  return Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id = '']) => id);
}
