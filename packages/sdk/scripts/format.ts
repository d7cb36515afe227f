import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The text as the format check wants it, so that a generated file is written once and never touched. */
export function formatted(name: string, text: string): string {
  const biome = `${root}node_modules/@biomejs/biome/bin/biome`;
  const args = [biome, 'format', `--stdin-file-path=${root}packages/sdk/src/generated/${name}`];
  return execFileSync(process.execPath, args, { cwd: root, input: text, encoding: 'utf8' });
}
