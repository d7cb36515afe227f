import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { digestSources } from '../../../src/harness/code/source-digest.ts';
import { temporaryFolder, writeFiles } from '../../support/agent-folders.ts';

const names = ['agent.ts', 'package.json'];

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder();
  await writeFiles(folder, files);
  return folder;
}

test('the digest of an agent is that of its sources, by their paths and bytes', async () => {
  const files = { 'agent.ts': 'a', 'src/b.ts': 'b', 'src/deep/c.ts': 'c' };
  const digest = async (more: Record<string, string> = {}) =>
    digestSources(await folderWith({ ...files, ...more }), names);
  const same = await digest({ 'README.md': 'not a source', 'workspace/x.txt': 'nor this' });
  expect(same).toBe(await digest());
  for (const change of [{ 'src/b.ts': 'B' }, { 'src/d.ts': 'd' }, { 'package.json': '{}' }]) {
    expect(await digest(change)).not.toBe(same);
  }
});

test.each(['agent.ts', 'src/secret.ts'])('a link as %s is refused, not followed', async (path) => {
  const folder = await folderWith({ 'src/a.ts': 'a' });
  await symlink('/etc/hostname', join(folder, path));
  await expect(digestSources(folder, names)).rejects.toThrow(`${path} is a link`);
});

test('sources that are too large or too many are refused', async () => {
  const folder = await folderWith({ 'agent.ts': 'a' });
  await mkdir(join(folder, 'src'));
  for (let n = 0; n < 3; n += 1) {
    await writeFile(join(folder, `src/${n}.bin`), Buffer.alloc(24 * 1024 * 1024));
  }
  await expect(digestSources(folder, names)).rejects.toThrow('larger than 64 MiB');
});
