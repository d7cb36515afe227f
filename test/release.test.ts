import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeManifest } from '../packages/sdk/scripts/built-files.ts';
import { releaseNotes, releaseProblems, setVersion } from '../scripts/release-version.mjs';
import { removeFolder } from './remove-folder.ts';
import { files, root } from './repository.ts';

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-release-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** The files of the checkout that have a version, in a folder of their own. */
async function copyVersions(): Promise<string> {
  const folder = await temporary();
  const manifests = files(/^packages\/[^/]+\/package\.json$/);
  const python = 'packages/python/src/convoke_sdk/_version.py';
  for (const path of [...manifests, python, 'package-lock.json', 'CHANGELOG.md']) {
    await cp(join(root, path), join(folder, path));
  }
  return folder;
}

const versionsIn = async (folder: string) => {
  const lock = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  const cli = JSON.parse(await readFile(join(folder, 'packages/cli/package.json'), 'utf8'));
  const { 'packages/cli': locked } = lock.packages;
  return [cli, locked].map((each) => [each.version, each.dependencies['@convoke/sdk']]);
};

test('a release gives every package one version, and the changelog its section', async () => {
  const folder = await copyVersions();
  const packages = files(/^packages\/[^/]+\/package\.json$/);
  // One of each package, one of the Python client, and one of the changelog.
  expect(releaseProblems(folder, '7.8.9')).toHaveLength(packages.length + 2);
  const notes = releaseNotes(folder, 'Unreleased');
  setVersion(folder, '7.8.9', '2030-01-02');
  expect(releaseProblems(folder, '7.8.9')).toEqual([]);
  expect(await versionsIn(folder)).toEqual([
    ['7.8.9', '7.8.9'],
    ['7.8.9', '7.8.9'],
  ]);
  expect(releaseNotes(folder, '7.8.9')).toBe(notes);
  expect(releaseNotes(folder, 'Unreleased')).toBe('');
  expect(await readFile(join(folder, 'CHANGELOG.md'), 'utf8')).toContain('## 7.8.9 (2030-01-02)\n');
});

test('a package that another version of ours is needed by is a problem', async () => {
  const folder = await copyVersions();
  setVersion(folder, '7.8.9', '2030-01-02');
  const path = join(folder, 'packages/cli/package.json');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace('"@convoke/sdk": "7.8.9"', '"@convoke/sdk": "7.8.8"'));
  expect(releaseProblems(folder, '7.8.9')).toEqual([
    'convoke or a package it needs does not have the version 7.8.9',
  ]);
});

test('nothing to tell, or no version, is refused and changes nothing', async () => {
  const folder = await copyVersions();
  expect(() => setVersion(folder, 'next', '2030-01-02')).toThrow('is no version');
  await writeFile(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n');
  expect(() => setVersion(folder, '7.8.9', '2030-01-02')).toThrow('nothing unreleased');
  expect(await versionsIn(folder)).not.toContainEqual(['7.8.9', '7.8.9']);
});

test('the text of the files is that of npm, so that a release changes only versions', async () => {
  const folder = await copyVersions();
  const { version } = JSON.parse(await readFile(join(root, 'packages/cli/package.json'), 'utf8'));
  setVersion(folder, version, '2030-01-02');
  for (const path of ['packages/cli/package.json', 'package-lock.json']) {
    expect(await readFile(join(folder, path), 'utf8')).toBe(
      await readFile(join(root, path), 'utf8'),
    );
  }
});

test('a built package names its repository where the build is told', async () => {
  const folder = await temporary();
  const manifestIn = async (name: string) => {
    await mkdir(join(folder, name));
    await writeManifest(join(folder, name), { name });
    return JSON.parse(await readFile(join(folder, name, 'package.json'), 'utf8'));
  };
  expect(await manifestIn('a')).toEqual({ name: 'a' });
  process.env['CONVOKE_REPOSITORY_URL'] = 'https://host.example/convoke';
  onTestFinished(() => void delete process.env['CONVOKE_REPOSITORY_URL']);
  expect(await manifestIn('b')).toEqual({
    name: 'b',
    repository: { type: 'git', url: 'https://host.example/convoke' },
  });
});
