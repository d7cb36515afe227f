import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { removeTree } from '../../src/confined-fs/remove-tree.ts';
import { temporaryFolder } from '../support/agent-folders.ts';

const otherUser = 65_534;
const module = new URL('../../src/confined-fs/remove-tree.ts', import.meta.url).href;

test('a folder that an agent made inaccessible is removed, and the targets of links are not touched', async () => {
  const folder = await temporaryFolder();
  await chmod(folder, 0o755);
  const [tree, elsewhere] = [join(folder, 'tree'), join(folder, 'elsewhere')];
  await mkdir(join(tree, 'a', 'b'), { recursive: true });
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, 'kept.txt'), 'kept');
  await writeFile(join(tree, 'a', 'b', 'c.txt'), 'c');
  await symlink(elsewhere, join(tree, 'a', 'b', 'link'));
  await giveAway([folder, tree, join(tree, 'a'), join(tree, 'a', 'b'), elsewhere]);
  await chmod(join(tree, 'a', 'b'), 0o000);
  await chmod(join(tree, 'a'), 0o000);
  await removeWithoutRoot(tree);
  expect(existsSync(tree)).toBe(false);
  expect(await readFile(join(elsewhere, 'kept.txt'), 'utf8')).toBe('kept');
});

test('a folder is removed however deep, however full and whatever its names are', async () => {
  const folder = await temporaryFolder();
  const tree = join(folder, 'tree');
  await promisify(execFile)('python3', ['-c', monstrous, tree]);
  await removeTree(tree);
  expect(await readdir(folder)).toEqual([]);
});

/** More entries than one batch, a name that is not UTF-8, and a path that is longer than the system allows. */
const monstrous = `
import os, sys
os.mkdir(sys.argv[1])
os.chdir(sys.argv[1])
open(b'\\xff\\xfe', 'w').close()
for i in range(600): open('f%d' % i, 'w').close()
for i in range(40):
    os.mkdir('d' * 200)
    os.chdir('d' * 200)
    open('file', 'w').close()
`;

test('removing a missing folder does nothing', async () => {
  await expect(removeTree(join(await temporaryFolder(), 'none'))).resolves.toBeUndefined();
});

/** Root may enter every folder, so that the test would prove nothing: then another user removes the folder. */
const isRoot = process.getuid?.() === 0;

async function giveAway(paths: readonly string[]): Promise<void> {
  if (isRoot) for (const path of paths) await chown(path, otherUser, otherUser);
}

async function removeWithoutRoot(path: string): Promise<void> {
  const program = `import { removeTree } from ${JSON.stringify(module)}; await removeTree(${JSON.stringify(path)});`;
  const options = isRoot ? { uid: otherUser, gid: otherUser } : {};
  const node = ['--no-warnings', '--input-type=module', '--eval', program];
  await promisify(execFile)(process.execPath, node, { ...options, cwd: '/', env: {} });
}
