import { openApiDocument, operationList } from '@convoke/contract';
import { expect, test } from 'vitest';
import { allGuides, createDocs } from '../src/api-page.ts';

const guides = allGuides();
const docs = createDocs(openApiDocument({ version: '1.2.3' }), guides);
const pages = new Map(docs.paths.map((path) => [path, docs.markdown(path) ?? '']));

test.each([...pages])('%s is Markdown whose links lead to Markdown', (path, text) => {
  expect(text).toMatch(/^# /);
  for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)/g)) {
    if (/^https?:/.test(target)) continue;
    const address = new URL(target, `http://server/${path}.md`).pathname.slice(1);
    const isPage = address.endsWith('.md') && pages.has(address.slice(0, -3));
    expect([target, isPage || address === 'openapi.json']).toEqual([target, true]);
  }
});

test('the reference has every operation with its path, fields and errors', () => {
  for (const { id, tag, path } of operationList) {
    const text = pages.get(`docs/reference/${tag.toLowerCase().replaceAll(' ', '-')}`) ?? '';
    expect(text).toContain(`\`${id}\``);
    expect(text).toContain(path);
  }
  const runs = pages.get('docs/reference/runs') ?? '';
  expect(runs).toMatch(/- `idempotency_key` \(string, optional\)/);
  expect(runs).toMatch(/- 409: .*`session_busy`/);
  expect(pages.get('docs/reference/errors')).toContain('- `session_busy` (409): ');
  expect(pages.get('docs/reference/events')).toContain('## run_completed');
});

test('no page of Markdown has markup in it', () => {
  const withoutCode = (text: string) => text.replaceAll(/```[^]*?```|`[^`]*`/g, '');
  for (const [path, text] of pages) {
    if (!path.startsWith('docs/reference/')) continue;
    expect([path, withoutCode(text).match(/<\/?[a-z]+[ >]|&[a-z]+;/)]).toEqual([path, null]);
  }
});

test('llms.txt lists every page once, with what it says, and llms-full.txt has all of them', () => {
  const list = docs.list();
  const links = Array.from(list.matchAll(/\]\((docs[^)]*)\.md\)/g), ([, path]) => path);
  expect(new Set(links)).toEqual(new Set(docs.paths));
  expect(links).toHaveLength(docs.paths.length);
  expect(list).toMatch(/^# Convoke\n\n> /);
  expect(list).not.toMatch(/\): *$/m);
  const whole = docs.whole();
  for (const path of docs.paths) expect(whole).toContain(`<!-- ${path}.md -->`);
  expect(whole).toContain('# Concepts');
});
