import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { isInRange } from '../src/versions/range.mjs';
import { versionWarnings } from '../src/versions/warnings.ts';

test.each([
  ['24.18.1', '^24.18.1 || >=26.5.1', true],
  ['24.100.0', '^24.18.1 || >=26.5.1', true],
  ['26.6.0', '^24.18.1 || >=26.5.1', true],
  ['24.18.0', '^24.18.1 || >=26.5.1', false],
  ['24.9.9', '^24.18.1 || >=26.5.1', false],
  ['25.9.0', '^24.18.1 || >=26.5.1', false],
  ['26.5.0', '^24.18.1 || >=26.5.1', false],
  ['24.21.0', '>=20', true],
  ['24.21.0', '>=20 <23', false],
  ['24.21.0', '20.x', false],
  ['24.21.0', '^20 || ^22 || ^24', true],
  ['24.21.0', '>=24.21.1', false],
  ['24.21.0', '24', true],
  ['24.21.0', '*', true],
  ['24.21.0', 'lts/*', true],
  ['0.20.3', '^0.20.0', true],
  ['0.21.0', '^0.20.0', false],
  ['0.0.4', '^0.0.3', false],
  ['7.4.0', '^7.0.169', true],
  ['7.0.168', '^7.0.169', false],
  ['8.0.0', '^7.0.169', false],
  ['1.4.9', '~1.4.2', true],
  ['1.5.0', '~1.4.2', false],
  ['1.5.0', '1.4.18', false],
])('%s in %s: %s', (version, range, expected) => {
  expect(isInRange(version, range)).toBe(expected);
});

test('an author is warned of a framework that the kit was not tested with, and of another Node', () => {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-versions-'));
  const write = (path: string, manifest: object) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(manifest));
  };
  write('package.json', { engines: { node: '^18' } });
  write('node_modules/ai/package.json', { version: '8.1.0' });
  write('node_modules/@mastra/core/package.json', { version: '1.72.0' });
  const kit = { peerDependencies: { ai: '^7.0.169', '@mastra/core': '^1.71.0', absent: '^1.0.0' } };
  expect(versionWarnings(folder, kit)).toEqual([
    `package.json requires Node ^18, but the server has ${process.versions.node}`,
    'ai 8.1.0 is installed, but @convoke/agent was tested with ^7.0.169',
  ]);
});

test('a manifest that cannot be read is no reason to warn', () => {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-versions-'));
  writeFileSync(join(folder, 'package.json'), 'null');
  expect(versionWarnings(folder, {})).toEqual([]);
});
