import { openApiDocument, operationList } from '@convoke/contract';
import { expect, test } from 'vitest';
import { renderApiPage } from '../src/api-page.ts';

const document = openApiDocument({ version: '1.2.3' });
const page = renderApiPage(document);

test('loads nothing and runs no script', () => {
  expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son[a-z]+=|\sstyle=/i);
  expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
});

test('has every operation, and no broken links', () => {
  const ids = Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id } of operationList) expect(ids).toContain(id);
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
});

test('escapes its input', () => {
  const title = '<b onload="x">&';
  const hostile = { ...document, info: { ...document.info, title } };
  expect(renderApiPage(hostile)).not.toContain('<b onload');
});
