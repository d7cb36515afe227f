// The public surface of the packages that others program against, one file each in docs/generated/surface.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { surfaceOf } from '../packages/sdk/scripts/surface.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

/** How the text of each file is made, by its path in the repository. */
export const surfaces: Readonly<Record<string, () => Promise<string>>> = {
  // The client is compiled without the types of Node, except for the entry that needs them.
  'docs/generated/surface/sdk.txt': () =>
    surfaceOfPackage('sdk', { lib: ['es2022', 'dom', 'dom.asynciterable'] }),
  'docs/generated/surface/agent.txt': () => surfaceOfPackage('agent'),
  'docs/generated/surface/python.txt': () =>
    surfaceOfModules(
      'packages/python/src',
      'convoke_sdk',
      'convoke_sdk.errors',
      'convoke_sdk.types',
    ),
  'docs/generated/surface/agent-python.txt': () =>
    surfaceOfModules('packages/agent-python', 'convoke_agent', 'convoke_agent.testing'),
};

async function surfaceOfPackage(folder: string, compilerOptions: object = {}): Promise<string> {
  const text = await readFile(join(root, 'packages', folder, 'package.json'), 'utf8');
  const { name, exports } = JSON.parse(text) as Manifest;
  const entries = Object.fromEntries(
    Object.entries(exports).map(([entry, source]) => [
      entry,
      typeof source === 'string' ? source : source.types,
    ]),
  );
  return surfaceOf({ folder, name, entries, compilerOptions });
}

function surfaceOfModules(folder: string, ...modules: readonly string[]): Promise<string> {
  const program = join(root, 'packages/python/scripts/surface.py');
  const args = [program, join(root, folder), ...modules];
  return Promise.resolve(execFileSync('python3', args, { encoding: 'utf8' }));
}
