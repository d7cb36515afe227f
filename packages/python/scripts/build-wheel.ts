// Writes the wheel (PEP 427): a zip that is the same bytes on every machine, made without any tool of Python (D-225).
import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../sdk/package.json' with { type: 'json' };
import { byText } from './docstrings.ts';
import { zipOf } from './zip.ts';

const home = fileURLToPath(new URL('..', import.meta.url));
const root = join(home, '../..');
const { version } = manifest;
const name = `convoke_sdk-${version}`;

/** Writes the wheel into a folder and returns its path. All packages have the same version. */
export async function buildWheel(folder: string): Promise<string> {
  const readme = await readFile(join(home, 'README.md'), 'utf8');
  const files = new Map<string, Buffer>();
  for (const path of await modules()) {
    files.set(path, await readFile(join(home, 'src', path)));
  }
  const info = `${name}.dist-info`;
  files.set(`${info}/LICENSE`, await readFile(join(root, 'LICENSE')));
  files.set(`${info}/METADATA`, Buffer.from(metadata(readme)));
  files.set(`${info}/WHEEL`, Buffer.from(wheel));
  const rows = Array.from(
    files,
    ([path, content]) => `${path},${digest(content)},${content.length}`,
  );
  files.set(`${info}/RECORD`, Buffer.from(`${[...rows, `${info}/RECORD,,`].join('\n')}\n`));
  const path = join(folder, `${name}-py3-none-any.whl`);
  await writeFile(path, zipOf(files));
  return path;
}

async function modules(): Promise<string[]> {
  const entries = await readdir(join(home, 'src'), { recursive: true });
  const wanted = entries.filter((path) => /(\.py|py\.typed)$/.test(path));
  return wanted.map((path) => path.replaceAll('\\', '/')).toSorted(byText);
}

function metadata(readme: string): string {
  return [
    'Metadata-Version: 2.1',
    'Name: convoke-sdk',
    `Version: ${version}`,
    'Summary: The Convoke client: sessions, runs that survive any connection, interactions, files, management',
    'License: Apache-2.0',
    'License-File: LICENSE',
    'Requires-Python: >=3.10',
    'Classifier: License :: OSI Approved :: Apache Software License',
    'Classifier: Programming Language :: Python :: 3',
    'Classifier: Typing :: Typed',
    'Description-Content-Type: text/markdown',
    '',
    readme,
  ].join('\n');
}

const wheel = [
  'Wheel-Version: 1.0',
  'Generator: convoke',
  'Root-Is-Purelib: true',
  'Tag: py3-none-any',
  '',
].join('\n');

function digest(content: Buffer): string {
  return `sha256=${createHash('sha256').update(content).digest('base64url')}`;
}
