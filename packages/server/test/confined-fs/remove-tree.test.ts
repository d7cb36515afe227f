import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
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
