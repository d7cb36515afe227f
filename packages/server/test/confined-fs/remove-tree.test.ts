import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/agent-folders.ts';
import { removeTree } from '../../src/confined-fs/remove-tree.ts';

const nobody = 65_534;
const module = new URL('../../src/confined-fs/remove-tree.ts', import.meta.url).href;

test('a folder that an agent closed is removed all the same, and what links lead to is not touched', async () => {
  const folder = await temporaryFolder();
  await chmod(folder, 0o755);
  const [tree, elsewhere] = [join(folder, 'tree'), join(folder, 'elsewhere')];
  await mkdir(join(tree, 'a', 'b'), { recursive: true });
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, 'kept.txt'), 'kept');
  await writeFile(join(tree, 'a', 'b', 'c.txt'), 'c');
  await symlink(elsewhere, join(tree, 'a', 'b', 'link'));
  await ownedBySomebody([folder, tree, join(tree, 'a'), join(tree, 'a', 'b'), elsewhere]);
  await chmod(join(tree, 'a', 'b'), 0o000);
  await chmod(join(tree, 'a'), 0o000);
  await removedBySomebody(tree);
  expect(existsSync(tree)).toBe(false);
  expect(await readFile(join(elsewhere, 'kept.txt'), 'utf8')).toBe('kept');
});

test('a folder that is not there needs no removal', async () => {
  await expect(removeTree(join(await temporaryFolder(), 'none'))).resolves.toBeUndefined();
});

/** Root may do everything, so that it would prove nothing: another user does it then, as most servers run. */
const isRoot = process.getuid?.() === 0;

async function ownedBySomebody(paths: readonly string[]): Promise<void> {
  if (isRoot) for (const path of paths) await chown(path, nobody, nobody);
}

async function removedBySomebody(path: string): Promise<void> {
  const program = `import { removeTree } from ${JSON.stringify(module)}; await removeTree(${JSON.stringify(path)});`;
  const options = isRoot ? { uid: nobody, gid: nobody } : {};
  const node = ['--no-warnings', '--input-type=module', '--eval', program];
  await promisify(execFile)(process.execPath, node, { ...options, cwd: '/', env: {} });
}
