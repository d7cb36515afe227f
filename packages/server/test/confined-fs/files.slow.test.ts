import { execFileSync } from 'node:child_process';
import { renameSync, symlinkSync } from 'node:fs';
import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import {
  ConfinedError,
  openConfined,
  removeConfined,
  writeConfined,
} from '../../src/confined-fs/files.ts';
import { confinedPath } from '../../src/confined-fs/path.ts';
import { temporaryFolder } from '../support/agent-folders.ts';

const bytes = [Buffer.from('content')];

test.each([
  '..',
  '../a',
  'a/../../b',
  '/a',
  'a//b',
  'a/./b',
  'a/',
  '',
  '.',
  'a\\b',
  'a\0b',
  'a\nb',
])('%j is not a path inside a folder', async (path) => {
  const root = await temporaryFolder();
  expect(confinedPath(path)).toBeUndefined();
  await expect(writeConfined({ root, path }, bytes)).rejects.toThrow(ConfinedError);
  await expect(openConfined(root, path)).rejects.toThrow(ConfinedError);
  await expect(removeConfined(root, path)).rejects.toThrow(ConfinedError);
});

test('a file is replaced as a whole, and a failed write leaves the old one and nothing else', async () => {
  const root = await temporaryFolder();
  await writeConfined({ root, path: 'a/b.txt' }, bytes);
  const failing = (async function* () {
    yield Buffer.from('half');
    throw new Error('source lost');
  })();
  await expect(writeConfined({ root, path: 'a/b.txt' }, failing)).rejects.toThrow('source lost');
  expect(await readFile(join(root, 'a/b.txt'), 'utf8')).toBe('content');
  expect(await readdir(join(root, 'a'))).toEqual(['b.txt']);
});

test('a root folder that is a link is rejected', async () => {
  const [outside, parent] = [await temporaryFolder(), await temporaryFolder()];
  await symlink(outside, join(parent, 'root'));
  const target = { root: join(parent, 'root'), path: 'a.txt' };
  await expect(writeConfined(target, bytes)).rejects.toThrow(ConfinedError);
  expect(await readdir(outside)).toEqual([]);
});

test('a pipe or a folder is not opened as a file, and a pipe does not block the caller', async () => {
  const root = await temporaryFolder();
  execFileSync('mkfifo', [join(root, 'pipe')]);
  await mkdir(join(root, 'folder'));
  await expect(openConfined(root, 'pipe')).rejects.toThrow(ConfinedError);
  await expect(openConfined(root, 'folder')).rejects.toThrow(ConfinedError);
});

test.runIf(process.platform === 'linux')(
  'swapping a folder for a link at any moment does not lead reads or writes outside',
  async () => {
    const [root, outside] = [await temporaryFolder(), await temporaryFolder()];
    await writeFile(join(outside, 'secret.txt'), 'secret');
    const [folder, aside, link] = ['folder', 'aside', 'link'].map((name) => join(root, name));
    if (folder === undefined || aside === undefined || link === undefined) throw new Error('names');
    await mkdir(folder);
    symlinkSync(outside, link);
    let isLinked = false;
    // Between the two renames a write may make the folder again: remove that one.
    const putInPlace = (path: string) => {
      for (;;) {
        try {
          return renameSync(path, folder);
        } catch {
          removeFolderSync(folder);
        }
      }
    };
    const swap = () => {
      renameSync(folder, isLinked ? link : aside);
      putInPlace(isLinked ? aside : link);
      isLinked = !isLinked;
      next = setImmediate(swap);
    };
    let next = setImmediate(swap);
    onTestFinished(() => clearImmediate(next));
    let written = 0;
    for (let round = 0; round < 500; round += 1) {
      const path = `folder/${round}.txt`;
      const isRefused = (error: unknown) => {
        expect(error).toBeInstanceOf(ConfinedError);
      };
      await writeConfined({ root, path }, bytes).then(() => (written += 1), isRefused);
      const handle = await openConfined(root, 'folder/secret.txt').catch(isRefused);
      expect(handle).toBeUndefined();
      await removeConfined(root, 'folder/secret.txt');
    }
    expect(await readdir(outside)).toEqual(['secret.txt']);
    expect(written).toBeGreaterThan(0);
  },
);
