import type { StdioOptions } from 'node:child_process';
import { type FileHandle, mkdtemp, open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../../../test/remove-folder.ts';

/** Node makes the descriptors that it inherits close-on-exec, but only those before the first gap above 15. */
const descriptor = 40;

/** An open file that no path leads to. */
export async function openSecret(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-secret-'));
  const path = join(folder, 'inherited-secret');
  await writeFile(path, 'secret of the supervisor', { mode: 0o600 });
  const handle = await open(path);
  await removeFolder(folder);
  return handle;
}

/** Streams of a child process that inherits the file as descriptor 40. */
export function inheriting(
  { fd }: FileHandle,
  stdio: readonly ('ignore' | 'pipe' | 'inherit')[],
): StdioOptions {
  const gap = Array.from({ length: descriptor - stdio.length }, () => 'ignore' as const);
  return [...stdio, ...gap, fd];
}
