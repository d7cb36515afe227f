// The files of a package as it is published: compiled sources, their declarations, the manifest and the license.
import { execFileSync } from 'node:child_process';
import { copyFile, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export function compile(config: string, outDir: string): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', config, '--outDir', outDir];
  execFileSync(process.execPath, args, { cwd: dirname(config), stdio: 'inherit' });
}

/** Where the compiler writes the declarations of a source: `run.d.ts` for `run.ts`, `range.d.mts` for `range.mjs`. */
export function declarationsOf(source: string): string {
  return source.replace(/\.(m?)[jt]s$/, '.d.$1ts');
}

/** The compiler rewrites `./run.ts` to `./run.js` in what it emits, except in declarations. */
export async function rewriteDeclarations(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const path = join(folder, name);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(/(from |import\()(['"])(\.[^'"]*)\.ts\2/g, '$1$2$3.js$2'));
  }
}

/**
 * With the license, which goes into every package, and the repository if the environment names it: npm attests where a
 * package was built only if its manifest says the same.
 */
export async function writeManifest(folder: string, manifest: object): Promise<void> {
  const url = process.env['CONVOKE_REPOSITORY_URL'];
  const whole = { ...manifest, ...(url !== undefined && { repository: { type: 'git', url } }) };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`);
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}
