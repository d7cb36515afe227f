import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { openApiDocument, operationList } from '@convoke/contract';
import { expect, test } from 'vitest';
import { allGuides, pagePolicy, renderApiPage, renderGuidePage } from '../src/api-page.ts';

const document = openApiDocument({ version: '1.2.3' });
const guides = allGuides();
const reference = renderApiPage(document, guides);
const pages = new Map([
  ['docs', reference],
  ...guides.map(
    (guide) => [`docs/guides/${guide.name}`, renderGuidePage(document, guide, guides)] as const,
  ),
]);

/** Reading the ids of a large page takes a while, and every page links to others. */
const ids = new Map([...pages].map(([place, page]) => [place, idsOf(page)]));

test.each([...pages])('%s loads nothing, and runs only what its policy names', (_, page) => {
  expect(page).not.toMatch(/<link|<img|<iframe|@import|url\(|\son[a-z]+=|\sstyle=|\ssrc=/i);
  for (const kind of ['style', 'script']) {
    const blocks = [...page.matchAll(new RegExp(`<${kind}>([^]*?)</${kind}>`, 'g'))];
    expect(blocks).toHaveLength(1);
    const digest = createHash('sha256')
      .update(blocks[0]?.[1] ?? '')
      .digest('base64');
    expect(pagePolicy).toContain(`${kind}-src 'sha256-${digest}'`);
  }
  expect(pagePolicy).toContain("default-src 'none'");
  expect(pagePolicy).not.toContain('unsafe');
});

test('the script is one that a browser can read', () => {
  const [, script = ''] = /<script>([^]*?)<\/script>/.exec(reference) ?? [];
  expect(() => new Script(script)).not.toThrow();
});

test.each([...pages])('%s has no broken links', (place, page) => {
  const own = ids.get(place) ?? [];
  expect(new Set(own).size).toBe(own.length);
  for (const [, href = ''] of page.matchAll(/href="([^"]+)"/g)) {
    if (href.startsWith('https:')) continue;
    const { pathname, hash } = new URL(href, `http://server/${place}`);
    const target = pathname.slice(1);
    if (target === 'openapi.json') continue;
    const found = pages.get(target);
    expect(found === undefined ? `${href} leads nowhere` : target).toBe(target);
    if (hash !== '') expect(ids.get(target)).toContain(hash.slice(1));
  }
});

test('the reference has every operation, with its fields and an example in each language', () => {
  const own = ids.get('docs');
  for (const { id, caller } of operationList) {
    expect(own).toContain(id);
    expect(own).toContain(`${id}-curl`);
    expect(own).toContain(`${id}-python`);
    if (caller !== 'anonymous') expect(own).toContain(`${id}-sdk`);
  }
  const [, start = ''] =
    /<article class="operation" id="start_run">([^]*?)<\/article>/.exec(reference) ?? [];
  expect(start.match(/<summary>Fields of Run<\/summary>/g)).toHaveLength(1);
  expect(start).toContain('<code>output_text</code>');
});

test('search leads to operations, events, errors and the sections of guides', () => {
  const [, dialog = ''] = /<dialog([^]*?)<\/dialog>/.exec(reference) ?? [];
  for (const href of [
    './docs#start_run',
    './docs#event-message_delta',
    './docs#error-session_busy',
    './docs/guides/operate',
    './docs/guides/concepts#retries-that-are-safe',
  ]) {
    expect(dialog).toContain(`href="${href}"`);
  }
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
  expect(renderApiPage(hostile)).not.toContain('<b onload');
});

function idsOf(page: string): string[] {
  return Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id = '']) => id);
}
