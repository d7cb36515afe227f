// The files of the repository as git sees them: those it keeps and those it would keep, as paths with forward slashes.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

export function files(pattern: RegExp): string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  const paths = new Set(listed.split('\0').filter((path) => pattern.test(path)));
  return [...paths].filter((path) => existsSync(join(root, path)));
}

export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
