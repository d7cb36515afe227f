import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settingsPage } from '../../scripts/settings-page.ts';
import { settingTable } from '../../src/config/setting-table.ts';

const page = new URL('../../../../docs/reference/settings.md', import.meta.url);
const source = new URL('../../src/', import.meta.url);

// `npm run reference` renews it.
test('docs/reference/settings.md is current', () => {
  expect(readFileSync(page, 'utf8')).toBe(settingsPage());
});

test('every CONVOKE_ variable that the server names is a setting', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(new URL(path, source), 'utf8'));
  const named = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/\bCONVOKE_[A-Z0-9]+(?:_[A-Z0-9]+)*\b(?!_)/g)].map(String),
    ),
  );
  // The variable of the launcher.
  named.delete('CONVOKE_NODE');
  expect([...named].filter((name) => !(name in settingTable))).toEqual([]);
});
