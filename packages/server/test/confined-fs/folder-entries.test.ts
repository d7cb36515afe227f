import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isEmptyFolder, readEntries } from '../../src/confined-fs/folder-entries.ts';
import { temporaryFolder } from '../support/agent-folders.ts';

describe('whether a folder is empty', () => {
  test('a folder without entries is, and one that does not exist', async () => {
    const folder = await temporaryFolder();
    expect([isEmptyFolder(folder), isEmptyFolder(join(folder, 'none'))]).toEqual([true, true]);
  });

  test.each(['a file', 'a folder', 'a link to nothing'])('%s in it is an entry', async (kind) => {
    const folder = await temporaryFolder();
    const entry = join(folder, 'entry');
    if (kind === 'a file') await writeFile(entry, '');
    else if (kind === 'a folder') await mkdir(entry);
    else await symlink(join(folder, 'nothing'), entry);
    expect(isEmptyFolder(folder)).toBe(false);
  });

  test('one of many entries is not, until all are removed', async () => {
    const folder = await temporaryFolder();
    const names = Array.from({ length: 400 }, (_, index) => `${'x'.repeat(40)}${index}`);
    await Promise.all(names.map((name) => writeFile(join(folder, name), '')));
    expect(isEmptyFolder(folder)).toBe(false);
    expect(await readEntries(folder, 3)).toHaveLength(3);
    await Promise.all(names.map((name) => rm(join(folder, name))));
    expect(isEmptyFolder(folder)).toBe(true);
  });

  test('what is not a folder is refused', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file'), 'text');
    expect(() => isEmptyFolder(join(folder, 'file'))).toThrow('ENOTDIR');
  });
});
